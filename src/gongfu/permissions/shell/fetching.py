"""`curl` and `wget`: what they fetch, what they send, and where they put it."""

from __future__ import annotations

import re

from gongfu.permissions.shell.command import Command, options
from gongfu.permissions.shell.tables import names
from gongfu.permissions.shell.words import Word

_CURL = (
    "-o -d -F -T -K -H -X -u -A -e -b -c -m -w -x -E -D -C -r -t -y -Y -z -Q -P -U --output --data "
    "--data-binary --data-raw "
    "--form --upload-file --config --header --request --user --user-agent --cookie --cookie-jar --json "
    "--data-urlencode "
    "--resolve --cert --key --cacert --proxy --max-time --retry --dump-header --referer --write-out "
    "--connect-to --output-dir "
    "--netrc-file --unix-socket --url --trace --stderr"
)
_WGET = (
    "-O -P -o -a -i -U -e -T -t -w -Q -l -A -R -D -I -X --output-document --directory-prefix --output-file --post-file "
    "--post-data --body-file --input-file --header --user-agent --use-askpass --load-cookies --save-cookies --config"
)
_CURL_WRITES = names(
    "-o -D -c --output --dump-header --cookie-jar --output-dir --trace --trace-ascii --stderr --libcurl "
    "--etag-save --hsts --alt-svc"
)
_WGET_WRITES = names(
    "-O -P -o -a --output-document --directory-prefix --output-file --append-output --save-cookies "
    "--warc-file --rejected-log"
)
_SENDS = names(
    "-T --upload-file -E --cert --key --post-file --body-file -i --input-file --cacert --netrc-file --load-cookies"
)


def curl(c: Command) -> None:
    """`curl` and `wget`: what they fetch, what they send, and where they put it."""
    c.add("network")
    c.seen()
    found, rest = options(c.args, _CURL if c.name == "curl" else _WGET)
    for name, value in found:
        _option(c, name, value)
    if c.name == "wget" and not any(
        n in ("-O", "--output-document", "--spider", "-P", "--directory-prefix") for n, _ in found
    ):
        c.write(Word(text="./download"))
    for word in rest:
        match = re.match(r"(?:[a-zA-Z]+://)?(?:[^/@]*@)?([\w.-]+)", word.text)
        if (match and "." in match[1]) or (match and match[1] == "localhost"):
            c.found.hosts[match[1].lower()] = None
        if word.text.lower().startswith("file:"):
            c.paths([word])


def _option(c: Command, name: str, value: Word) -> None:
    text = value.text
    long = name.startswith("--")
    writes = _CURL_WRITES if c.name == "curl" else _WGET_WRITES
    if name in writes or (long and any(w.startswith(name) for w in writes if w.startswith("--"))):
        if text and text != "-":
            c.write(value)
    elif name in ("-O", "--remote-name", "-J", "--remote-name-all"):
        c.write(Word(text="./download"))
    elif name in ("-K", "--config", "--use-askpass", "-e") and (c.name == "wget" or name in ("-K", "--config")):
        c.read(value)
        c.unseen(name)
    elif name in _SENDS and text:
        c.read(value)
    elif name in ("-n", "--netrc", "--netrc-optional", "-u", "--user"):
        c.add("credential", why="shell_credential", about=f"{c.name} {name}")
    elif name == "--resolve":
        c.found.hosts[text.split(":")[0].lower()] = None
    else:
        for match in re.finditer(r"(?:^|[=;,])[@<]([^;,]+)", text):
            if match[1] != "-":
                c.read(Word(text=match[1]))

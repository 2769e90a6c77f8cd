"""What programs do, by their names. What is in none of these tables is taken for a program that runs code."""

from __future__ import annotations


def names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


PURE = names(
    "echo yes true false : expr basename dirname seq sleep whoami id groups uname arch nproc tty logname uptime which "
    "locale cal tput times jobs wait return exit break continue shift umask sync getconf hostid "
    "lscpu free lsblk lsusb lspci pwd dirs nproc users who w help logout suspend bg fg disown"
)
"""They print or wait, whatever they are given, and open no file that they are told."""

CHECKED = names("test [ [[ let read printf unset getopts export declare typeset local readonly mapfile readarray")
"""Builtins that evaluate what they are given as a name or a sum, in which a substitution may hide."""

READS: dict[str, str] = {
    **dict.fromkeys(
        names(
            "ls cat head tac nl wc stat du df cut tr cmp comm od strings md5sum sha1sum sha224sum sha256sum sha384sum "
            "sha512sum b2sum cksum sum readlink realpath column fold fmt expand unexpand paste join rev zcat "
            "bzcat xzcat "
            "lz4cat zstdcat egrep fgrep zgrep zegrep zfgrep grep pgrep lsof nm objdump readelf size "
            "tokei scc jq exa eza look pathchk tsort dircolors vmstat iostat pstree md5 shasum "
            "hexdump iconv numfmt sw_vers"
        ),
        "",
    ),
    "tail": "",
    "dir": "",
    "file": "-C --compile -z --uncompress -Z --uncompress-noreport -m --magic-file",
    "iconv": "-o --output",
    "tree": "-o -R --output",
    "diff": "--to-file --from-file",
    "sort": "-o --output --compress-program -T --temporary-directory --files0-from",
    "rg": "--pre --hostname-bin -z --search-zip",
    "ag": "--pager -z --search-zip",
    "fd": "-x --exec -X --exec-batch",
    "fdfind": "-x --exec -X --exec-batch",
    "bat": "--pager --diff --paging --cache",
    "batcat": "--pager --diff --paging --cache",
    "less": "-o --log-file -O --LOG-FILE -k --lesskey-file --lesskey-src --lesskey-content -t --tag -T",
    "more": "",
    "tokei": "-o",
    "objdump": "-P",
    "scc": "-o --output",
    "lsof": "-D",
    "bc": "",
    "base64": "-o --output",
    "base32": "",
    "shasum": "-c --check",
}
"""They read the files that they are given, with the options by which they do more."""

PATTERN_FIRST = names("grep egrep fgrep zgrep zegrep zfgrep rg ag ack pgrep jq fd fdfind tr")
"""Their first argument is no file."""

PRIVILEGED = names(
    "systemctl service mount umount chown chgrp useradd usermod userdel groupadd groupmod groupdel passwd chpasswd "
    "crontab at batch insmod modprobe rmmod iptables ip6tables nft ufw firewall-cmd sysctl setcap setfacl visudo "
    "loginctl hostnamectl timedatectl swapon swapoff losetup launchctl dscl adduser deluser addgroup update-rc.d "
    "rc-service podman nerdctl buildah kubelet systemd-run machinectl "
    "update-alternatives ldconfig depmod setenforce aa-exec capsh newgrp sg login chsh chfn vipw hostname date "
    "apt apt-get aptitude dpkg rpm yum dnf zypper pacman apk snap flatpak emerge nix-env port"
)
"""They change the system or act as somebody else."""

INSTALLERS = names("apt apt-get aptitude yum dnf zypper pacman apk snap flatpak emerge nix-env port")

DESTROYERS = names(
    "shutdown reboot halt poweroff init telinit fdisk sfdisk cfdisk parted gdisk sgdisk wipefs shred srm blkdiscard "
    "killall pkill skill mkswap hdparm badblocks cryptsetup vgremove lvremove pvremove zpool zfs mdadm flashrom"
)
"""What they do is not undone."""

NETWORK = names(
    "nc ncat netcat socat telnet ftp tftp sftp lftp ping ping6 dig nslookup host whois traceroute tracepath mtr nmap "
    "http https httpie xh aria2c axel lynx w3m links elinks tcpdump tshark arp-scan mosh cloudflared ngrok "
    "openssl ab wrk hey k6 siege gsutil rclone s3cmd mc redis-cli mongo mongosh ldapsearch smbclient mail sendmail "
    "mutt msmtp rsh rlogin rexec croc wormhole transmission-cli youtube-dl yt-dlp grpcurl websocat curlie ip"
)
"""They talk to others."""

CREDENTIALS = names(
    "pass op vault bw lpass ssh-add ssh-agent keyctl secret-tool security kwallet-query gnome-keyring history fc "
    "aws-vault keybase ykman gopass chamber sops age kinit klist mimikatz ssh-keygen ssh-copy-id ssh-keyscan htpasswd "
    "certutil"
)
"""They deal in keys and logins."""

UNSEEN = names(
    "gdb lldb parallel tmux screen expect vim vi view nvim ex ed rvim vimdiff emacs emacsclient nano pico joe mc "
    "osascript pwsh powershell cmd fish tclsh wish xonsh nu elvish ld.so ld-linux-x86-64.so.2 rlwrap entr "
    "at atd dbus-send gdbus busctl qdbus m4 xdotool ydotool csh tcsh rc es "
    "bind complete compgen compopt enable shopt hash fakeroot proot bwrap firejail setarch linux64 linux32 "
    "start-stop-daemon daemonize dtach abduco reptyr dosbox wine qemu ltrace valgrind perf "
    "logrotate run-parts cpulimit cpio ar gcore"
)
"""They run what cannot be seen from their arguments."""

SHELLS = names("bash sh zsh dash ksh ash mksh rbash yash")
INTERPRETERS: dict[str, str] = {
    "python": "-c", "perl": "-e -E", "ruby": "-e", "node": "-e --eval -p --print -pe", "nodejs": "-e --eval -p --print",
    "php": "-r -B -R -E", "lua": "-e", "luajit": "-e", "deno": "", "bun": "-e --eval -p", "Rscript": "-e", "R": "-e",
    "julia": "-e -E", "pypy": "-c", "ts-node": "-e", "tsx": "-e", "groovy": "-e", "scala": "-e", "elixir": "-e",
    "erl": "-eval", "ghci": "-e", "runghc": "", "ocaml": "-e", "swift": "-e", "irb": "", "ipython": "-c", "jshell": "",
    "raku": "-e", "guile": "-c", "racket": "-e", "sbcl": "--eval", "java": "", "octave": "--eval", "gjs": "-c",
}  # fmt: skip
"""Interpreters, with the options that code follows."""

PACKAGES = names(
    "pip pip3 pipx uv uvx poetry pdm hatch rye conda mamba micromamba npm npx pnpm pnpx yarn bun bunx cargo go gem "
    "bundle bundler composer brew rustup nvm pyenv rbenv mvn gradle ./gradlew dotnet nuget cabal stack mix rebar3 "
    "opam luarocks cpan cpanm easy_install twine deno corepack volta fnm asdf mise sdk vcpkg conan flutter dart pub "
    "swift pod carthage"
)
FETCHES = names(
    "install i ci add update up upgrade get download fetch create init exec dlx x search view info outdated audit "
    "sync lock tap link publish login logout whoami restore require remove uninstall self tool mod resolve bump"
)
"""Their commands that go to a registry, or may."""
PUBLISHES = names("publish unpublish upload yank push deprecate owner release deploy dist-tag access")
KEYS = names("login logout token adduser add-user whoami config credentials auth set-token")

CLOUDS = names(
    "terraform tofu terragrunt pulumi kubectl oc helm aws gcloud az gh glab heroku vercel netlify fly flyctl doctl "
    "linode-cli eksctl kops ansible ansible-playbook vagrant packer nomad consul serverless sls cdk sam firebase "
    "wrangler railway supabase hcloud ibmcloud gsutil docker-compose argocd flux istioctl minikube kind k3d bq"
)
LOSES = names(
    "delete destroy rm rmi remove terminate purge drop uninstall apply deploy prune rb drain evict archive transfer "
    "terminate-instances delete-stack delete-bucket delete-object undelete down kill reset replace cleanup up "
    "publish unpublish force-unlock taint untaint scale rollback promote merge close disable sync mv"
)
SECRETS = names("secret secrets token print-access-token print-identity-token get-login-password auth")
"""Words in the arguments of cloud programs by which they lose something, or hand out keys."""

DATABASES = names("psql mysql mariadb sqlite3 sqlite duckdb sqlcmd clickhouse-client cqlsh usql pgcli mycli")
DANGEROUS_NAMES = (
    r"PATH|LD_\w+|DYLD_\w+|GIT_\w+|\w*PAGER|LESS\w*|EDITOR|VISUAL|\w+_EDITOR|BASH_ENV|ENV|PROMPT_COMMAND|IFS|PS[0-4]"
    r"|PYTHON\w+|NODE_\w+|PERL\w+|RUBY\w+|GEM_\w+|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS"
    r"|GRADLE_OPTS|SHELL|SHELLOPTS|BASHOPTS|BASH_\w+|BASH|FPATH|CDPATH|GLOBIGNORE|HOME|TAR_OPTIONS|RSYNC_\w+"
    r"|SSH_\w+|SUDO_\w+|MAKEFLAGS|MAKEFILES|GNUMAKEFLAGS|CARGO_\w+|RUSTC\w*|RUSTFLAGS|CC|CXX|LD|AS|AR|GO\w+|CGO_\w+"
    r"|NPM_\w+|npm_\w+|PIP_\w+|UV_\w+|HTTPS?_PROXY|https?_proxy|ALL_PROXY|BROWSER|OPENER|MANOPT|MAN\w*|GROFF\w*"
    r"|XDG_\w+|TMPDIR|TEMP|TMP|PHPRC|PHP_INI\w*|LUA_\w+|R_\w+|JULIA_\w+|AWS_\w+|KUBECONFIG|DOCKER_\w+|BASH_FUNC_.*"
    r"|GREP_OPTIONS|RIPGREP_CONFIG_PATH|WGETRC|CURL_HOME|INPUTRC|TERMINFO\w*|EXINIT|VIMINIT|MYVIMRC|GCONV_PATH|NIS_PATH"
    r"|LOCPATH|NLSPATH|HOSTALIASES|RESOLV_HOST_CONF|GETCONF_DIR|MALLOC_\w+|OPENSSL_\w+|FZF_\w+|ACK\w*|MORE"
)
"""Variables by which another program runs than the one that is named, or what it loads, or where it looks."""
MILD_NAMES = (
    r"PYTHON(UNBUFFERED|DONTWRITEBYTECODE|HASHSEED|IOENCODING|UTF8|WARNINGS)|NODE_ENV|NPM_CONFIG_LOGLEVEL"
    r"|GO(OS|ARCH|FLAGS=-mod=\w+|MAXPROCS|GC)|CGO_ENABLED|CARGO_TERM_COLOR|LESSCHARSET|GIT_(PAGER|TERMINAL_PROMPT)"
    r"|RUST_BACKTRACE|AWS_(DEFAULT_)?REGION|PIP_NO_INPUT|GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)"
)
"""Those of them that are harmless, whatever they hold but for a pager: see where they are used."""

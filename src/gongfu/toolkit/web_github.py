"""The tool github_search: repositories, code, issues and people through the interface of GitHub."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import quote_plus

import msgspec

from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import looks_secret
from gongfu.toolkit.web_client import Answer, Client, failed
from gongfu.toolkit.web_guard import link_of, unbroken
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome

Kind: TypeAlias = Literal["repositories", "code", "issues", "users"]
HOST = "api.github.com"
_MOST = 50
_TOKENS = ("GITHUB_TOKEN", "GH_TOKEN")


class GithubTools:
    """github_search of one session. `base` is the interface's address; a token of the environment `env` is sent to
    api.github.com, and one for servers of companies (GITHUB_ENTERPRISE_TOKEN) to another `base`, only."""

    def __init__(self, base: str, env: Mapping[str, str], client: Callable[[], Client]) -> None:
        self._base = base.rstrip("/")
        self._env = env
        self._client = client

    def _address(self, args: Mapping[str, Any]) -> str:
        query, kind = str(args["query"]).strip(), args.get("kind", "repositories")
        count = int(args.get("count", 10))
        if not query or "\0" in query:
            raise ToolFailure(
                'query is empty; examples: "http client language:python stars:>100", "repo:o/r is:open bug"'
            )
        if len(query) > 256:
            raise ToolFailure(f"query has {len(query):,} characters; GitHub takes at most 256")
        if looks_secret(query):
            raise ToolFailure("query holds what looks like a key or password; nothing was sent. Leave it out.")
        if count < 1:
            raise ToolFailure(f"count must be at least 1; arrived: {count}")
        words = quote_plus(unbroken(query))
        return f"{self._base}/search/{kind}?q={words}&per_page={min(count, _MOST)}"

    def _token(self, host: str) -> str:
        names = _TOKENS if host == HOST else ("GITHUB_ENTERPRISE_TOKEN", "GH_ENTERPRISE_TOKEN")
        if host != link_of(self._base).host:
            return ""
        return next((self._env[name].strip() for name in names if self._env.get(name, "").strip()), "")

    async def _facts(self, args: dict[str, Any]) -> Facts:
        link = link_of(self._address(args))
        title = f"{args.get('kind', 'repositories')}: {args['query']}"
        return Facts(access=("network",), hosts=(link.place,), title=" ".join(unbroken(title).split())[:200])

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:  # noqa: ARG002 - the seam's own
        return ()

    @tool(access="network", facts=_facts, claims=_claims)
    async def github_search(self, query: str, kind: Kind = "repositories", count: int = 10) -> Outcome:
        link = link_of(self._address({"query": query, "kind": kind, "count": count}))
        token = self._token(link.host)
        headers = {"Accept": "application/vnd.github.text-match+json", "X-GitHub-Api-Version": "2022-11-28"}
        if token and (link.scheme == "https" or link.host in ("127.0.0.1", "localhost")):
            headers["Authorization"] = f"Bearer {token}"
        if kind == "code" and "Authorization" not in headers:
            raise ToolFailure("GitHub searches code only for people with a token: set GITHUB_TOKEN; nothing was sent")
        answer = await self._client().fetch(link, headers=headers)
        if answer.status != 200:
            raise _refused(answer, link.place, bool(token))
        return _told(answer, kind, query)


def _refused(answer: Answer, place: str, token: bool) -> ToolFailure:
    left, reset = answer.headers.get("x-ratelimit-remaining", ""), answer.headers.get("x-ratelimit-reset", "")
    if answer.status in (403, 429) and (left == "0" or "retry-after" in answer.headers):
        wait = max(0, int(reset) - int(time.time())) if reset.isdigit() else answer.headers.get("retry-after", "60")
        more = "" if token else " With a token in GITHUB_TOKEN there are more."
        return ToolFailure(f"{place} takes no more searches for now: wait {str(wait)[:20]} s.{more}")
    if answer.status == 401:
        return ToolFailure(f"{place} does not accept the token in GITHUB_TOKEN; nothing was searched")
    if answer.status == 422:
        return ToolFailure(f"GitHub does not understand the query: {_message(answer)}")
    return failed(answer, place)


def _message(answer: Answer) -> str:
    said = _object(answer) or {}
    errors = cast("list[Any]", said.get("errors") or [])
    details = [str(cast("dict[str, Any]", e).get("message", "")) for e in errors if isinstance(e, dict)]
    return "; ".join(filter(None, [str(said.get("message", "")), *details]))[:500] or "it gave no reason"


def _object(answer: Answer) -> dict[str, Any] | None:
    try:
        found: Any = msgspec.json.decode(answer.body)
    except msgspec.DecodeError:
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _told(answer: Answer, kind: Kind, query: str) -> Outcome:
    data = _object(answer)
    if data is None or not isinstance(data.get("items"), list):
        raise ToolFailure(f"{answer.link.place} did not answer as GitHub does; is web.github right?")
    found = [cast("dict[str, Any]", e) for e in cast("list[Any]", data["items"]) if isinstance(e, dict)]
    total = data.get("total_count", len(found))
    lines = [_line(kind, entry) for entry in found]
    head = f"{len(found)} of {total:,} {kind}" if found else f"GitHub found no {kind} for: {unbroken(query)}"
    left = answer.headers.get("x-ratelimit-remaining", "")
    notes = [f"[{left} more searches this minute]"] if left.isdigit() and int(left) <= 3 else []
    if data.get("incomplete_results"):
        notes.append("[GitHub stopped early: there may be more]")
    display = {"kind": "list", "items": [line.split("\n")[0] for line in lines], "total": total, "summary": head[:80]}
    return Outcome(text="\n".join([head, *lines, *notes]), display=display)


def _line(kind: Kind, entry: dict[str, Any]) -> str:
    url = str(entry.get("html_url", ""))
    match kind:
        case "repositories":
            facts = [f"{entry.get('stargazers_count', 0):,} stars", str(entry.get("language") or "")]
            facts.append(f"pushed {str(entry.get('pushed_at') or '')[:10]}")
            about = _short(entry.get("description"), 200)
            facts += ["archived"] if entry.get("archived") else []
            return f"{entry.get('full_name', '')} ({', '.join(filter(None, facts))}) {url}" + (
                f"\n  {about}" if about else ""
            )
        case "code":
            repository = cast("dict[str, Any]", entry.get("repository") or {})
            matches = cast("list[dict[str, Any]]", entry.get("text_matches") or [])
            text = _short(" … ".join(str(m.get("fragment", "")) for m in matches[:2]), 400)
            return f"{repository.get('full_name', '')}: {entry.get('path', '')} {url}" + (f"\n  {text}" if text else "")
        case "issues":
            what = "pull request" if entry.get("pull_request") else "issue"
            facts = [str(entry.get("state", "")), what, str(entry.get("created_at") or "")[:10]]
            facts.append(f"{entry.get('comments', 0)} comments")
            return f"{_short(entry.get('title'), 200)} ({', '.join(facts)}) {url}"
        case "users":
            return f"{entry.get('login', '')} ({str(entry.get('type', '')).lower()}) {url}"


def _short(text: Any, most: int) -> str:
    plain = " ".join(str(text or "").split())
    return plain if len(plain) <= most else f"{plain[:most]}…"

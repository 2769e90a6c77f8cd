"""Logging in to servers: tokens are kept for the person's eyes only, one file for each address."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gongfu.config.files import write_private
from gongfu.core.base import Base
from gongfu.core.version import __version__

if TYPE_CHECKING:
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthToken

CLIENT: Final = "Gongfu"
_EARLY: Final = 30.0  # seconds before its end that a token counts as over


class NeedsLoginError(Exception):
    """The server wants a login, which only the person can give."""


class Kept(Base, frozen=True):
    """What is kept of a login: plain data of the SDK's types."""

    url: str = ""
    tokens: dict[str, Any] = {}
    client: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    at: float = 0.0


class Store:
    """The login at one address, as the SDK keeps it (`TokenStorage`)."""

    def __init__(self, folder: Path, url: str) -> None:
        self.url = url
        self.path = folder / f"{sha256(url.encode()).hexdigest()[:24]}.json"
        self.metadata: Callable[[], dict[str, Any]] = dict

    def read(self) -> Kept:
        """What is kept; empty when nothing is, or nothing that can be read."""
        try:
            kept = msgspec.json.decode(self.path.read_bytes(), type=Kept)
        except (OSError, msgspec.DecodeError):
            return Kept()
        return kept if kept.url == self.url else Kept()

    def forget(self) -> bool:
        """Take the login away; whether there was one."""
        try:
            self.path.unlink()
        except FileNotFoundError:
            return False
        return True

    def taken(self) -> bytes:
        """What is kept, as it is, and no longer kept from now on; b"" for nothing."""
        try:
            data = self.path.read_bytes()
        except OSError:
            return b""
        self.path.unlink()
        return data

    def put_back(self, data: bytes) -> None:
        """Keep again what was `taken`."""
        if data:
            write_private(self.path, data)
        else:
            self.path.unlink(missing_ok=True)

    def _write(self, kept: Kept) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(self.path, msgspec.json.encode(kept))

    async def get_tokens(self) -> OAuthToken | None:
        from mcp.shared.auth import OAuthToken

        kept = self.read()
        return OAuthToken.model_validate(kept.tokens) if kept.tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        kept = self.read()
        found = tokens.model_dump(mode="json", exclude_none=True)
        meta = self.metadata() or kept.metadata
        self._write(Kept(url=self.url, tokens=found, client=kept.client, metadata=meta, at=time.time()))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        from mcp.shared.auth import OAuthClientInformationFull

        kept = self.read()
        return OAuthClientInformationFull.model_validate(kept.client) if kept.client else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        kept = self.read()
        found = client_info.model_dump(mode="json", exclude_none=True)
        self._write(Kept(url=self.url, tokens=kept.tokens, client=found, metadata=kept.metadata, at=kept.at))


def provider(
    store: Store,
    *,
    callback: str = "",
    show: Callable[[str], Awaitable[None]] | None = None,
    answer: Callable[[], Awaitable[AuthorizationCodeResult]] | None = None,
) -> OAuthClientProvider:
    """What adds the token to each request, and renews it. With `show` and `answer` the person is asked to log in at
    the address that is shown, and comes back to `callback`; without them NeedsLoginError says that it is needed.
    """
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import OAuthClientMetadata, OAuthMetadata
    from pydantic import AnyUrl, ValidationError

    async def needs(_url: str) -> None:
        raise NeedsLoginError

    async def never() -> AuthorizationCodeResult:
        raise NeedsLoginError

    kept = store.read()
    found = OAuthClientProvider(
        server_url=store.url,
        client_metadata=OAuthClientMetadata(
            client_name=CLIENT,
            redirect_uris=[AnyUrl(callback or "http://127.0.0.1/callback")],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            software_version=__version__,
        ),
        storage=store,
        redirect_handler=show or needs,
        callback_handler=answer or never,
    )
    context = found.context
    if kept.metadata:
        try:
            context.oauth_metadata = OAuthMetadata.model_validate(kept.metadata)
        except ValidationError:
            context.oauth_metadata = None
    lasts = kept.tokens.get("expires_in")
    if isinstance(lasts, int):
        context.token_expiry_time = kept.at + lasts - _EARLY
    store.metadata = lambda: (
        context.oauth_metadata.model_dump(mode="json", exclude_none=True) if context.oauth_metadata else {}
    )
    return found

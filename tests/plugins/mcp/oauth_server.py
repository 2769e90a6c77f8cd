"""A server behind a login, and the authorization server beside it, both on one loopback port that is printed.

The token endpoint gives tokens that end after `oauth_server.py SECONDS`; each refresh gives a new pair. Whoever opens
the authorization page is sent back with a code at once, or with an error for `scope=deny`."""

from __future__ import annotations

import base64
import hashlib
import secrets
import socket
import sys
import time
from urllib.parse import urlencode

import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

LASTS = int(sys.argv[1]) if len(sys.argv) > 1 else 3600
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
ORIGIN = f"http://127.0.0.1:{listening.getsockname()[1]}"

clients: dict[str, dict] = {}
codes: dict[str, dict] = {}
tokens: dict[str, float] = {}
refreshing: set[str] = set()
counts = {"registered": 0, "refreshed": 0}
server = MCPServer("locked")


@server.tool()
async def secret() -> str:
    """What only those see who are logged in."""
    return f"opened {counts['registered']} {counts['refreshed']}"


async def resource(request):
    return JSONResponse({"resource": f"{ORIGIN}/mcp", "authorization_servers": [f"{ORIGIN}/"]})


async def metadata(request):
    return JSONResponse({
        "issuer": f"{ORIGIN}/", "authorization_endpoint": f"{ORIGIN}/go", "token_endpoint": f"{ORIGIN}/tok",
        "registration_endpoint": f"{ORIGIN}/reg", "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"], "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
    })  # fmt: skip


async def register(request):
    counts["registered"] += 1
    id = secrets.token_hex(8)
    clients[id] = {**(await request.json()), "client_id": id, "token_endpoint_auth_method": "none"}
    return JSONResponse(clients[id], status_code=201)


async def authorize(request):
    given = dict(request.query_params)
    client = clients.get(given.get("client_id", ""))
    if client is None or given.get("redirect_uri") not in client["redirect_uris"]:
        return JSONResponse({"error": "invalid_client"}, status_code=400)
    if DENY:
        back = {"error": "access_denied", "error_description": "you said no", "state": given["state"]}
    else:
        code = secrets.token_hex(8)
        codes[code] = given
        back = {"code": code, "state": given["state"]}
    return RedirectResponse(f"{given['redirect_uri']}?{urlencode(back)}", status_code=302)


DENY = "deny" in sys.argv


async def token(request):
    form = dict(await request.form())
    if form["grant_type"] == "authorization_code":
        asked = codes.pop(form["code"])
        digest = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        assert digest == asked["code_challenge"]
    else:
        if form["refresh_token"] not in refreshing:
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        refreshing.discard(form["refresh_token"])
        counts["refreshed"] += 1
    fresh, renew = secrets.token_hex(16), secrets.token_hex(16)
    tokens[fresh] = time.time() + LASTS
    refreshing.add(renew)
    return JSONResponse({"access_token": fresh, "token_type": "bearer", "expires_in": LASTS, "refresh_token": renew})


class Locked:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            headers = dict(scope["headers"])
            given = headers.get(b"authorization", b"").decode().removeprefix("Bearer ")
            if tokens.get(given, 0) < time.time():
                where = f'Bearer resource_metadata="{ORIGIN}/.well-known/oauth-protected-resource/mcp"'
                answer = JSONResponse({"error": "no"}, status_code=401, headers={"www-authenticate": where})
                await answer(scope, receive, send)
                return
        await self.app(scope, receive, send)


inner = server.streamable_http_app()
app = Starlette(
    routes=[
        Route("/.well-known/oauth-protected-resource/mcp", resource),
        Route("/.well-known/oauth-authorization-server", metadata),
        Route("/reg", register, methods=["POST"]),
        Route("/go", authorize),
        Route("/tok", token, methods=["POST"]),
        Route("/mcp", Locked(inner), methods=["GET", "POST", "DELETE"]),
    ],
    lifespan=lambda _: inner.router.lifespan_context(inner),
)
print(listening.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on")).run(sockets=[listening])

"""The language servers that are known, as data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from gongfu.core.base import Base
from gongfu.workspace.environment import search_path


class Server(Base, frozen=True):
    """One language server. `files` gives the language identifier by suffix (or whole name) of a file, `options` are
    those of its initialisation; `install` is the one command that brings it. `slow` ones first read the whole project,
    those that are `short` know little of files that are not open. `columns` is how it counts them, whatever it says.
    """

    name: str
    argv: tuple[str, ...]
    files: Mapping[str, str]
    install: str
    options: Mapping[str, Any] = {}
    settings: Mapping[str, Any] = {}
    slow: bool = False
    short: bool = False
    columns: Literal["", "utf-32"] = ""


_C = {
    ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp",
    ".m": "objective-c", ".mm": "objective-cpp",
}  # fmt: skip
_JS = {
    ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
}  # fmt: skip
_PYTHON = {".py": "python", ".pyi": "python", ".pyw": "python"}
_WEB = {".css": "css", ".scss": "scss", ".less": "less"}

SERVERS: Final[tuple[Server, ...]] = (
    Server("basedpyright", ("basedpyright-langserver", "--stdio"), _PYTHON, "pip install basedpyright"),
    Server("pyright", ("pyright-langserver", "--stdio"), _PYTHON, "pip install pyright"),
    Server("pylsp", ("pylsp",), _PYTHON, "pip install python-lsp-server", columns="utf-32"),
    Server(
        "typescript-language-server", ("typescript-language-server", "--stdio"), _JS,
        "npm install -g typescript typescript-language-server", slow=True,
    ),
    Server("deno", ("deno", "lsp"), _JS, "npm install -g deno", options={"enable": True}),
    Server(
        "gopls", ("gopls",), {".go": "go", "go.mod": "go.mod", "go.work": "go.work"},
        "go install golang.org/x/tools/gopls@latest", slow=True,
    ),
    Server(
        "rust-analyzer", ("rust-analyzer",), {".rs": "rust"}, "rustup component add rust-analyzer", slow=True,
        options={"cachePriming": {"enable": False}},
    ),
    Server(
        "clangd", ("clangd", "--background-index=false", "--log=error"), _C, "sudo apt-get install clangd", short=True,
    ),
    Server("ccls", ("ccls",), _C, "sudo apt-get install ccls"),
    Server("jdtls", ("jdtls",), {".java": "java"}, "brew install jdtls", slow=True),
    Server("kotlin-lsp", ("kotlin-lsp", "--stdio"), {".kt": "kotlin", ".kts": "kotlin"}, "brew install kotlin-lsp"),
    Server(
        "kotlin-language-server", ("kotlin-language-server",), {".kt": "kotlin", ".kts": "kotlin"},
        "brew install kotlin-language-server",
    ),
    Server("lua-language-server", ("lua-language-server",), {".lua": "lua"}, "brew install lua-language-server"),
    Server("ruby-lsp", ("ruby-lsp",), {".rb": "ruby"}, "gem install ruby-lsp"),
    Server("solargraph", ("solargraph", "stdio"), {".rb": "ruby"}, "gem install solargraph"),
    Server("intelephense", ("intelephense", "--stdio"), {".php": "php"}, "npm install -g intelephense"),
    Server("csharp-ls", ("csharp-ls",), {".cs": "csharp"}, "dotnet tool install --global csharp-ls", slow=True),
    Server("sourcekit-lsp", ("sourcekit-lsp",), {".swift": "swift"}, "swiftly install latest"),
    Server("metals", ("metals",), {".scala": "scala", ".sbt": "scala"}, "cs install metals", slow=True),
    Server("zls", ("zls",), {".zig": "zig"}, "brew install zls"),
    Server("dart", ("dart", "language-server"), {".dart": "dart"}, "brew install dart"),
    Server("elixir-ls", ("elixir-ls",), {".ex": "elixir", ".exs": "elixir"}, "brew install elixir-ls"),
    Server(
        "haskell-language-server", ("haskell-language-server-wrapper", "--lsp"), {".hs": "haskell"},
        "ghcup install hls", slow=True,
    ),
    Server("ocamllsp", ("ocamllsp",), {".ml": "ocaml", ".mli": "ocaml.interface"}, "opam install ocaml-lsp-server"),
    Server(
        "bash-language-server", ("bash-language-server", "start"), {".sh": "shellscript", ".bash": "shellscript"},
        "npm install -g bash-language-server",
    ),
    Server(
        "vscode-css-language-server", ("vscode-css-language-server", "--stdio"), _WEB,
        "npm install -g vscode-langservers-extracted",
    ),
    Server(
        "vscode-html-language-server", ("vscode-html-language-server", "--stdio"), {".html": "html", ".htm": "html"},
        "npm install -g vscode-langservers-extracted",
    ),
    Server(
        "vscode-json-language-server", ("vscode-json-language-server", "--stdio"), {".json": "json", ".jsonc": "jsonc"},
        "npm install -g vscode-langservers-extracted",
    ),
    Server(
        "yaml-language-server", ("yaml-language-server", "--stdio"), {".yaml": "yaml", ".yml": "yaml"},
        "npm install -g yaml-language-server",
    ),
    Server("vue-language-server", ("vue-language-server", "--stdio"), {".vue": "vue"},
           "npm install -g @vue/language-server"),
    Server("svelteserver", ("svelteserver", "--stdio"), {".svelte": "svelte"},
           "npm install -g svelte-language-server"),
    Server("terraform-ls", ("terraform-ls", "serve"), {".tf": "terraform"}, "brew install hashicorp/tap/terraform-ls"),
)  # fmt: skip


class Found(Base, frozen=True):
    """An installed server: `argv` begins with its program, by its whole path where it is not on PATH."""

    server: Server
    argv: tuple[str, ...]


def language_of(server: Server, path: Path) -> str:
    """The language identifier of a file, "" when the server does not know it."""
    return server.files.get(path.name) or server.files.get(path.suffix.lower(), "")


def servers_for(path: Path, known: tuple[Server, ...] = SERVERS) -> tuple[Server, ...]:
    """Those that know a file, the best one first."""
    return tuple(server for server in known if language_of(server, path))


def find_server(path: Path, root: Path, env: Mapping[str, str], known: tuple[Server, ...] = SERVERS) -> Found | None:
    """The first installed server for a file: of the project itself, then of the person. Nothing is run to find out."""
    from shutil import which  # only when a server is asked for

    homes = os.pathsep.join(map(str, _homes(env)))
    for server in servers_for(path, known):
        for folder in _own(root):
            program = folder / server.argv[0]
            if program.is_file() and os.access(program, os.X_OK):
                return Found(server=server, argv=(str(program), *server.argv[1:]))
        for folders, called in ((search_path(env), os.name != "nt"), (homes, False)):
            found = which(server.argv[0], path=folders) if folders else None
            if found is not None and not _is_empty_proxy(Path(found), env):
                return Found(server=server, argv=server.argv if called else (found, *server.argv[1:]))
    return None


def _is_empty_proxy(program: Path, env: Mapping[str, str]) -> bool:
    """Whether a program is only rustup's stand-in for one that none of its toolchains has."""
    try:
        if not program.samefile(program.with_name(f"rustup{program.suffix}")):
            return False
    except OSError:
        return False
    home = env.get("RUSTUP_HOME") or str(Path(env.get("HOME") or env.get("USERPROFILE") or "/") / ".rustup")
    return not any(Path(home).glob(f"toolchains/*/bin/{program.name}"))


def _own(root: Path) -> Iterator[Path]:
    yield root / "node_modules" / ".bin"
    yield root / ".venv" / ("Scripts" if os.name == "nt" else "bin")


def _homes(env: Mapping[str, str]) -> Iterator[Path]:
    """Where the tools of languages install programs, which is not always on PATH."""
    home = env.get("HOME") or env.get("USERPROFILE")
    if env.get("CARGO_HOME"):
        yield Path(env["CARGO_HOME"]) / "bin"
    if env.get("GOBIN"):
        yield Path(env["GOBIN"])
    if home and os.path.isabs(home):  # noqa: PTH117 - a text of the environment
        for name in (
            ".cargo/bin",
            "go/bin",
            ".local/bin",
            ".dotnet/tools",
            ".ghcup/bin",
            ".local/share/nvim/mason/bin",
        ):
            yield Path(home) / name

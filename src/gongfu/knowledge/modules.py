"""Which files an import means, by the rules of each language; only files of the workspace count."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from gongfu.knowledge.code import Code, dotted

_SCRIPT_ENDS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")


def module_files(code: Code, path: str, module: str) -> list[str]:
    """The files that `module`, as it is written in the file at `path`, stands for: none for what lies elsewhere."""
    key = ("module", posixpath.dirname(path), code.family(path), module)
    known = code.memo.get(key)
    if not isinstance(known, list):
        known = _find(code, path, module)
        code.memo[key] = known
    return known  # pyright: ignore[reportUnknownVariableType] - what was put there


def _find(code: Code, path: str, module: str) -> list[str]:
    match code.family(path):
        case "python":
            return _python(code, path, module)
        case "script":
            return _script(code, path, module)
        case "go":
            return _go(code, module)
        case "rust":
            return _rust(code, path, module)
        case "java":
            end = f"{module.replace('.', '/')}.java"
            return sorted(p for p in code.with_stem(module.rpartition(".")[2]) if _ends(p, end))
        case "c":
            return _include(code, path, module)
        case _:
            return []


def _ends(path: str, end: str) -> bool:
    return path == end or path.endswith(f"/{end}")


def _python(code: Code, path: str, module: str) -> list[str]:
    name = module.lstrip(".")
    level = len(module) - len(name)
    if level:
        folder = posixpath.dirname(path)
        for _ in range(level - 1):
            folder = posixpath.dirname(folder)
        base = posixpath.join(folder, *name.split(".")) if name else folder
        places = (f"{base}.py", f"{base}.pyi", f"{base}/__init__.py", f"{base}/__init__.pyi")
        return [p for p in places if p in code.files][:1]
    found = [p for p in code.with_stem(name.rpartition(".")[2]) if code.family(p) == "python"]
    return _nearest(path, (p for p in found if dotted(p) == name or dotted(p).endswith(f".{name}")))


def _nearest(path: str, found: Iterable[str]) -> list[str]:
    """Of several the one that shares most of its path with the file that asks; of equal ones the shortest."""

    def shared(other: str) -> int:
        return len(posixpath.commonprefix([path, other]).split("/"))

    return sorted(found, key=lambda p: (-shared(p), len(p), p))[:1]


def _script(code: Code, path: str, module: str) -> list[str]:
    if module.startswith("."):
        base = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
        return _with_script_end(code, base)
    if not module.startswith(("@/", "~/", "#/", "src/", "/")):
        return []  # a package of others
    tail = module.split("/", 1)[1] if not module.startswith("src/") else module
    plain = tail.rpartition(".")[0] if tail.endswith(_SCRIPT_ENDS) else tail
    last = posixpath.basename(plain)
    names = {f"{plain}{e}" for e in _SCRIPT_ENDS} | {f"{plain}/index{e}" for e in _SCRIPT_ENDS}
    return _nearest(path, (p for p in code.with_stem(last) if any(_ends(p, n) for n in names)))


def _with_script_end(code: Code, base: str) -> list[str]:
    plain = base.rpartition(".")[0] if base.endswith((".js", ".jsx", ".mjs", ".cjs")) else base
    for name in (base, *(f"{b}{e}" for b in dict.fromkeys((plain, base)) for e in _SCRIPT_ENDS)):
        if name in code.files:
            return [name]
    return [name for e in _SCRIPT_ENDS if (name := f"{base}/index{e}") in code.files][:1]


def _go(code: Code, module: str) -> list[str]:
    """The package at an import path: the folder whose path is the longest end of it."""
    parts = module.split("/")
    folders = code.folders_called(parts[-1])
    for start in range(len(parts)):
        folder = "/".join(parts[start:])
        if folder in folders:
            return sorted(p for p in code.folder(folder) if p.endswith(".go"))
    return []


def _rust(code: Code, path: str, module: str) -> list[str]:
    parts = [p for p in module.split("::") if p]
    if not parts:
        return []
    if parts[0] in ("super", "self"):
        folder = posixpath.dirname(path)
        if posixpath.basename(path) in ("mod.rs", "lib.rs", "main.rs"):
            folder = posixpath.dirname(folder) if parts[0] == "super" else folder
        elif parts[0] == "self":
            folder = posixpath.join(folder, posixpath.basename(path).removesuffix(".rs"))
        rest = [p for p in parts if p not in ("super", "self")]
        return _rust_file(code, posixpath.join(folder, *rest)) if rest else _crate(code, folder)
    top = path
    while top and posixpath.basename(top) != "src":
        top = posixpath.dirname(top)
    if parts[0] == "crate":
        return _rust_file(code, posixpath.join(top, *parts[1:])) if parts[1:] else _crate(code, top)
    name = parts[-1]
    ends = ("/".join(parts), "/".join(parts[1:]) or "\0")
    wanted = [f"{e}.rs" for e in ends] + [f"{e}/mod.rs" for e in ends]
    return _nearest(path, (p for p in code.with_stem(name) if any(_ends(p, w) for w in wanted)))


def _rust_file(code: Code, base: str) -> list[str]:
    return [p for p in (f"{base}.rs", f"{base}/mod.rs") if p in code.files][:1]


def _crate(code: Code, folder: str) -> list[str]:
    return [p for n in ("lib.rs", "main.rs", "mod.rs") if (p := posixpath.join(folder, n)) in code.files]


def _include(code: Code, path: str, module: str) -> list[str]:
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
    if beside in code.files:
        return [beside]
    return _nearest(path, (p for p in code.with_stem(posixpath.basename(module).partition(".")[0]) if _ends(p, module)))

"""What a name that is used means: by scopes, imports, types that are written down, and in the end the name alone."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from gongfu.knowledge.code import Code, Ref
from gongfu.knowledge.model import CALLABLE, TYPES, Import, Use
from gongfu.knowledge.modules import module_files

Certainty: TypeAlias = Literal["certain", "likely", "possible"]
ORDER: Final = {"certain": 0, "likely": 1, "possible": 2}
_SELF = frozenset(["self", "this", "cls", "Self"])
_DEEP = 6
_MOST_BY_NAME = 12
_RESULT = re.compile(r"(?:->|\):)\s*\"?&?(?:mut )?([A-Za-z_][\w.:]*)")
_COMMON_WORDS = (
    "get set add append extend insert pop remove clear update items keys values copy close open read write format"
    " join split strip replace find index count sort reverse encode decode push map filter forEach reduce then"
    " catch toString equals hashCode size length len next iter unwrap clone into from as_str to_string run start"
    " stop send recv put log print println error warn info debug match search group sub test call apply bind"
    " concat slice includes has delete execute fetch commit emit on off wait lower upper startswith endswith"
    " exists name"
)
_COMMON = frozenset(_COMMON_WORDS.split())


class Target(NamedTuple):
    """What a use means, and how certain that is."""

    ref: Ref
    certainty: Certainty


class Resolver:
    """Answers for one `Code`; what it finds is kept in its memo, which every change empties."""

    def __init__(self, code: Code) -> None:
        self._code = code

    def resolve(self, path: str, number: int) -> tuple[Target, ...]:
        """What the use `number` of a file means: one or several symbols; none when it lies outside the workspace."""
        key = ("use", path, number)
        known = self._code.memo.get(key)
        if isinstance(known, tuple):
            return known  # pyright: ignore[reportUnknownVariableType] - what was put there
        use = self._code.files[path].uses[number]
        found = self._bare(path, use) if not use.receiver else self._on(path, use)
        if not use.call and found and found[0].certainty == "possible":
            found = ()  # a name that is not even called says too little
        self._code.memo[key] = found
        return found

    # --- names alone ------------------------------------------------------------------------------------------------

    def _bare(self, path: str, use: Use) -> tuple[Target, ...]:
        found = self._scoped(path, use.name, use.inside)
        if found is not None:
            return found
        family = self._code.family(path)
        if family in ("java", "c") and use.inside >= 0:
            owner = self._owner(path, use.inside)
            inherited = self._member(owner, use.name) if owner is not None else ()
            if inherited:
                return _as("likely", inherited)
        if family in ("c", "rust") and (family == "c" or use.call):
            return self._everywhere(use.name, family)
        return ()

    def _scoped(self, path: str, name: str, inside: int) -> tuple[Target, ...] | None:
        """By the scopes around, the imports and the package; () for what was imported from elsewhere, None for none."""
        local = self._local(path, name, inside)
        if local is not None:
            return _as("certain", (local,))
        one = self._imported(path, name)
        if one is not None:
            return _as("certain", self._from_import(path, one))
        beside = self._beside(path, name)
        if beside:
            return _as("certain", beside)
        found = self._starred(path, name)
        return _as("likely", found) if found else None

    def _local(self, path: str, name: str, inside: int) -> Ref | None:
        numbers = self._code.in_file(path, name)
        if not numbers:
            return None
        symbols = self._code.files[path].symbols
        scope = inside
        classes = self._code.family(path) in ("java", "c")
        while scope >= -1:
            if scope < 0 or classes or symbols[scope].kind not in TYPES:
                here = [n for n in numbers if symbols[n].parent == scope and symbols[n].kind != "field"]
                if scope < 0:
                    here = here or [n for n in numbers if self._is_outer(path, n)]
                    here = [n for n in here if not symbols[n].declared and "." not in symbols[n].qualified] or here
                    here = [n for n in here if not symbols[n].declared]
                if here:
                    return Ref(path, here[-1])
            if scope < 0:
                return None
            scope = symbols[scope].parent
        return None

    def _is_outer(self, path: str, number: int) -> bool:
        symbols = self._code.files[path].symbols
        outer = symbols[number].parent
        while outer >= 0 and symbols[outer].kind == "module":
            outer = symbols[outer].parent
        return outer < 0 and symbols[number].kind != "method"

    def _imported(self, path: str, name: str) -> Import | None:
        return next((i for i in reversed(self._code.files[path].imports) if i.alias == name), None)

    def _from_import(self, path: str, one: Import, deep: int = 0) -> tuple[Ref, ...]:
        """The symbols that an imported name stands for, through files that only hand it on."""
        if not one.name or deep > _DEEP:
            return ()
        family = self._code.family(path)
        files = module_files(self._code, path, one.module)
        if family == "java":
            files = files or module_files(self._code, path, f"{one.module}.{one.name}")
        for file in files:
            found = self._exported(file, one.name, deep)
            if found:
                return found
        if family == "rust" and one.module:  # `use crate::shapes::Shape::new` and the like, or re-exported
            return self._qualified(f"{one.module.rpartition('::')[2]}.{one.name}", family)
        return ()

    def _exported(self, file: str, name: str, deep: int) -> tuple[Ref, ...]:
        top = [n for n in self._code.in_file(file, name) if self._is_outer(file, n)]
        if not top and name == "default":
            return ()
        if not top and self._code.family(file) == "java":
            top = self._code.in_file(file, name)
        if top:
            return (Ref(file, top[-1]),)
        for one in self._code.files[file].imports:
            if one.alias == name and one.name:
                return self._from_import(file, one, deep + 1)
        for one in self._code.files[file].imports:
            if one.name == "*" and deep < _DEEP:
                for other in module_files(self._code, file, one.module):
                    found = self._exported(other, name, deep + 1) if other != file else ()
                    if found:
                        return found
        return ()

    def _beside(self, path: str, name: str) -> tuple[Ref, ...]:
        """In Go and Java the other files of the folder are one package."""
        family = self._code.family(path)
        if family not in ("go", "java"):
            return ()
        folder = self._code.folder(posixpath.dirname(path))
        return tuple(r for r in self._code.named(name, family) if r.path in folder and self._is_outer(*r))

    def _starred(self, path: str, name: str) -> tuple[Ref, ...]:
        for one in self._code.files[path].imports:
            if one.name == "*":
                for file in module_files(self._code, path, one.module):
                    found = tuple(Ref(file, n) for n in self._code.in_file(file, name) if self._is_outer(file, n))
                    found = tuple(r for r in found if not self._code.symbol(r).declared)
                    if found:
                        return found
        return ()

    def _everywhere(self, name: str, family: str) -> tuple[Target, ...]:
        found = [r for r in self._code.named(name, family) if self._is_outer(*r)]
        found = [r for r in found if not self._code.symbol(r).declared] or found
        return self._by_number(found, 1)

    def _by_number(self, found: list[Ref], most: int) -> tuple[Target, ...]:
        if not found or len(found) > _MOST_BY_NAME:
            return ()
        return _as("likely" if len(found) <= most else "possible", found)

    # --- names on something -----------------------------------------------------------------------------------------

    def _on(self, path: str, use: Use) -> tuple[Target, ...]:
        head, _, rest = use.receiver.partition(".")
        if use.receiver in _SELF or use.receiver in ("super()", "super"):
            return self._on_self(path, use)
        if head in _SELF and "." not in rest:
            owner = self._owner(path, use.inside)
            kinds = self._field_types(owner, f"self.{rest}") if owner is not None else ()
            return self._of_types(kinds, use)
        if "." not in use.receiver and use.receiver != "?":
            kinds = self._variable_types(path, use.receiver, use.inside)
            if kinds is not None:
                return self._of_types(kinds, use)
        if use.receiver.endswith("()"):
            made = self.types_called(path, use.receiver, use.inside)
            if made:
                return _as("certain", [r for kind in made for r in self._member(kind, use.name)])
        known = self._on_name(path, use, head, rest)
        return self._by_name(path, use) if known is None else known

    def _on_self(self, path: str, use: Use) -> tuple[Target, ...]:
        owner = self._owner(path, use.inside)
        if owner is None:
            return ()
        found = self._member(owner, use.name, above=use.receiver.startswith("super"))
        return _as("certain", found)

    def _of_types(self, kinds: Iterable[Ref], use: Use) -> tuple[Target, ...]:
        found = [r for kind in kinds for r in self._member(kind, use.name)]
        return _as("likely", found)

    def _on_name(self, path: str, use: Use, head: str, rest: str) -> tuple[Target, ...] | None:
        """A receiver that begins with something imported or a class; None when nothing is known of it."""
        one = self._imported(path, use.receiver) or self._imported(path, head)
        if one is not None:
            return self._on_import(path, use, one, rest if one.alias == head != use.receiver else "")
        plain = use.receiver.removesuffix("()")
        if rest == "" or use.receiver.endswith("()"):
            local = self._scoped(path, plain, use.inside) or ()
            kinds = [t.ref for t in local if self._code.symbol(t.ref).kind in TYPES]
            if local and not kinds and use.receiver.endswith("()"):
                kinds = [k for t in local for k in self._result(t.ref)]
            if kinds:
                return _as("certain", [r for k in kinds for r in self._member(k, use.name)])
        if self._code.family(path) in ("rust", "c", "java") and not use.receiver.endswith("()"):
            last = use.receiver.rpartition(".")[2]
            found = self._qualified(f"{last}.{use.name}", self._code.family(path))
            if found:
                return _as("likely", found)
        return None

    def _on_import(self, path: str, use: Use, one: Import, rest: str) -> tuple[Target, ...] | None:
        join = {"rust": "::", "go": "/"}.get(self._code.family(path), ".")
        base = f"{one.module}{'' if one.module.endswith('.') else join}{one.name}" if one.name else one.module
        whole = f"{base}.{rest}" if rest else base
        if self._code.family(path) == "script" and one.name == "":
            whole = one.module
        for file in module_files(self._code, path, whole) if not use.receiver.endswith("()") else ():
            found = self._exported(file, use.name, 0)
            if found:
                return _as("certain", found)
        target = self._from_import(path, one)
        if not target:
            outside = not module_files(self._code, path, one.module) and not module_files(self._code, path, whole)
            return () if outside and self._code.family(path) != "rust" else None
        kinds = [r for r in target if self._code.symbol(r).kind in TYPES]
        if not kinds and use.receiver.endswith("()"):
            kinds = [k for r in target for k in self._result(r)]
        if rest and kinds and not use.receiver.endswith("()"):
            kinds = [k for r in kinds for k in self._field_types(r, f"self.{rest}")]
        return _as("certain", [r for k in kinds for r in self._member(k, use.name)]) if kinds else None

    def _by_name(self, path: str, use: Use) -> tuple[Target, ...]:
        """Nothing is known of what it is called on: every method of that name, unless the name says nothing."""
        if not use.call:
            return ()
        family = self._code.family(path)
        found = [r for r in self._code.named(use.name, family) if self._code.symbol(r).kind == "method"]
        found = [r for r in found if not self._code.symbol(r).declared] or found
        if use.name in _COMMON or use.name.startswith("__"):
            return self._by_number(found, 0) if len(found) <= 3 else ()
        return self._by_number(found, 1)

    # --- types ------------------------------------------------------------------------------------------------------

    def _owner(self, path: str, inside: int) -> Ref | None:
        """The class around a symbol: for languages that write methods outside of it the one that is named."""
        symbols = self._code.files[path].symbols
        at = inside
        while at >= 0:
            if symbols[at].kind in TYPES:
                return Ref(path, at)
            if (symbols[at].kind == "method" and symbols[at].parent < 0) or (
                symbols[at].kind == "method" and symbols[symbols[at].parent].kind not in TYPES
            ):
                name = symbols[at].qualified.rpartition(".")[0]
                found = [
                    r for r in self._qualified(name, self._code.family(path)) if self._code.symbol(r).kind in TYPES
                ]
                near = [r for r in found if posixpath.dirname(r.path) == posixpath.dirname(path)]
                return (near or found or [None])[0]
            at = symbols[at].parent
        return None

    def _qualified(self, name: str, family: str) -> tuple[Ref, ...]:
        found = self._code.named(name.rpartition(".")[2], family)
        kept = [r for r in found if f".{self._code.symbol(r).qualified}".endswith(f".{name}")]
        return tuple([r for r in kept if not self._code.symbol(r).declared] or kept)

    def _member(self, kind: Ref, name: str, *, above: bool = False) -> tuple[Ref, ...]:
        """What a class has under a name, its own first, then what it is derived from."""
        return tuple(self._members(kind, name, {kind}, above=above))[:1]

    def _members(self, kind: Ref, name: str, seen: set[Ref], *, above: bool) -> Iterator[Ref]:
        code, owner = self._code, self._code.symbol(kind)
        if not above:
            symbols = code.files[kind.path].symbols
            inside = [n for n in code.in_file(kind.path, name) if symbols[n].parent == kind.number]
            qualified = f"{owner.qualified}.{name}"
            outside = [r for r in code.named(name, code.family(kind.path)) if code.symbol(r).qualified == qualified]
            whole = [r for r in outside if not code.symbol(r).declared and r.number not in inside]
            bodies = [n for n in inside if not symbols[n].declared]
            if code.family(kind.path) in ("go", "rust", "c") and not bodies:
                near = posixpath.dirname(kind.path)
                yield from sorted(whole, key=lambda r: (posixpath.dirname(r.path) != near, r))
            for number in bodies or inside:
                yield Ref(kind.path, number)
        for base in owner.bases:
            for other in self.types_called(kind.path, base, owner.parent):
                if other not in seen and len(seen) < 40:
                    seen.add(other)
                    yield from self._members(other, name, seen, above=False)

    def types_called(self, path: str, name: str, inside: int) -> list[Ref]:
        """The classes that a name stands for in a file; `a.b` through an import of `a`."""
        plain = name.replace("::", ".")
        head, _, rest = plain.partition(".")
        if plain.endswith("()"):
            made = plain.removesuffix("()")
            use = Use(made.rpartition(".")[2], made.rpartition(".")[0], 0, inside, True)
            targets = self._bare(path, use) if not use.receiver else self._on_name(path, use, head, "") or ()
            return [k for t in targets for k in self._result(t.ref)]
        found: list[Ref] = []
        if rest:
            one = self._imported(path, head)
            last = plain.rpartition(".")[2]
            if one is not None:
                use = Use(last, plain.rpartition(".")[0], 0, inside, False)
                found = [t.ref for t in self._on_import(path, use, one, use.receiver.partition(".")[2]) or ()]
            found = found or list(self._qualified(plain, self._code.family(path)))
        else:
            found = [t.ref for t in self._scoped(path, plain, inside) or ()]
        found = [r for r in found if self._code.symbol(r).kind in TYPES]
        if not found and self._code.family(path) not in ("python", "script"):
            last = plain.rpartition(".")[2]
            found = [r for r in self._code.named(last, self._code.family(path)) if self._code.symbol(r).kind in TYPES]
        return found if len(found) <= 3 else []

    def _variable_types(self, path: str, name: str, inside: int) -> list[Ref] | None:
        """The classes of a variable where a symbol around writes them down; None where none does."""
        symbols = self._code.files[path].symbols
        at = inside
        while at >= 0:
            for key in (name, f"self.{name}"):
                written = symbols[at].types.get(key)
                if written is not None and not (key != name and self._code.family(path) in ("python", "script", "go")):
                    return self.types_called(path, written, at)
            at = symbols[at].parent
        return None

    def _field_types(self, owner: Ref, name: str) -> list[Ref]:
        written = self._code.symbol(owner).types.get(name)
        if written is not None:
            return self.types_called(owner.path, written, owner.number)
        member = self._member(owner, name.removeprefix("self."))
        found = [k for r in member if self._code.symbol(r).kind in CALLABLE for k in self._result(r)]
        if found:
            return found
        for base in self._code.symbol(owner).bases:
            for other in self.types_called(owner.path, base, self._code.symbol(owner).parent):
                if other != owner and (written := self._code.symbol(other).types.get(name)):
                    return self.types_called(other.path, written, other.number)
        return []

    def _result(self, ref: Ref) -> list[Ref]:
        """The classes that a function says it gives; a class gives itself."""
        symbol = self._code.symbol(ref)
        if symbol.kind in TYPES:
            return [ref]
        match = _RESULT.search(symbol.signature)
        if match is None:
            return []
        if match[1] in ("Self", "self"):
            owner = self._owner(ref.path, ref.number)
            return [owner] if owner is not None else []
        return self.types_called(ref.path, match[1], symbol.parent)


def _as(certainty: Certainty, found: Iterable[Ref]) -> tuple[Target, ...]:
    return tuple(Target(ref, certainty) for ref in dict.fromkeys(found))

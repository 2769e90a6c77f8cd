"""Settings looked up and changed by their dotted names."""

from __future__ import annotations

import copy
import os
import time
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import msgspec

from gongfu.config import patch, types
from gongfu.config.document import Document, KeyPath, dotted
from gongfu.config.files import read_bytes, read_text, write_private
from gongfu.config.layer import check_rules, check_text, is_secret, nearest, shown
from gongfu.config.load import PROJECT_FILE, is_name
from gongfu.config.paths import Places
from gongfu.config.settings import Settings
from gongfu.core.base import Base
from gongfu.core.errors import ConfigError, UsageError, UserError

_WAIT: Final = 15.0
_STALE: Final = 10.0
_Change: TypeAlias = Callable[[Document], tuple[str, dict[str, Any]]]


class Version(Base, frozen=True):
    """An earlier version of a settings file: where it is kept, of which file, until when (seconds since 1970)."""

    path: Path
    file: str
    time: float


def resolve(name: str) -> KeyPath:
    """The path that a dotted name means, such as `limits.max_steps` or `model_settings."deepseek/chat".window`.

    The name of a provider or model may stand without quotes although it has dots, where only one reading fits.
    Raises UsageError for what is no setting.
    """
    parts, quoted = _split(name)
    path = _read(parts, quoted)
    if path is None:
        raise _unknown(name, parts)
    return path


def get_value(settings: Settings, name: str) -> Any:
    """The value of a setting as plain data (dict, list, text, number, bool, None). Raises UsageError as `resolve`."""
    value: Any = settings
    for part in resolve(name):
        if isinstance(value, dict):
            items = cast("dict[str, Any]", value)
            if part not in items:
                raise UsageError("config.not_set", name=name)
            value = items[str(part)]
        elif isinstance(part, int):
            listed = cast("tuple[Any, ...]", value)
            if part >= len(listed):
                raise UsageError("config.not_set", name=name)
            value = listed[part]
        else:
            value = getattr(value, str(part))
    return plain(value)


def plain(value: Any) -> Any:
    """Settings or a part of them as plain data, defaults included."""
    if isinstance(value, msgspec.Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, tuple):
        return [plain(item) for item in cast("tuple[Any, ...]", value)]
    return value


def masked(value: Any, path: KeyPath = ()) -> Any:
    """Plain data of settings with every secret at or under `path` shortened to its last four characters."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value)
        return {key: masked(item, (*path, key)) for key, item in items.items()}
    if is_secret(path) and isinstance(value, str) and value and "${" not in value:
        return f"…{value[-4:]}" if len(value) > 12 else "…"
    return value


def set_value(places: Places, name: str, text: str, *, config: str = "", project: Path | None = None) -> Path:
    """Set one setting in the user's file, the named configuration `config` or the file of `project`; return the file.

    `text` is read by the setting's type; lists are written with commas or as YAML. Comments, order and quotes stay,
    the earlier version goes into the history. Raises UsageError for a value that does not fit, ConfigError when the
    file is wrong already or its form keeps it from being changed; then nothing is written.
    """
    path = resolve(name)
    kind = types.type_at(path)
    _not_inside_list(path)
    if kind is None:
        raise _unknown(name, [str(part) for part in path])
    value = parse_value(text, kind, name)
    try:
        types.fit(value, kind, path)
        if path[0] == "permission":
            check_rules(_with({}, path, value)["permission"])
    except types.Misfit as misfit:
        found = "…" if is_secret(path) else shown(text)
        raise UsageError(
            "config.wrong_given", origin=dotted(misfit.path), wanted=misfit.wanted, found=found
        ) from misfit
    file = _file(places, config, project)

    def change(document: Document) -> tuple[str, dict[str, Any]]:
        return patch.put(document, path, value), _with(document.data, path, value)

    _change(places, file, change)
    return file


def unset_value(places: Places, name: str, *, config: str = "", project: Path | None = None) -> bool:
    """Take one setting out of a file, so that its default counts; False when it was not there.

    A key that is no setting can be taken out, too, when it is there. Errors as `set_value`.
    """
    file = _file(places, config, project)
    parts, quoted = _split(name)
    known = _read(parts, quoted)
    path = known or tuple(parts)
    _not_inside_list(path)
    text = read_text(file)
    if text is None or not _has(Document(text, str(file)).data, path):
        if known is None:
            raise _unknown(name, parts)
        return False

    def change(document: Document) -> tuple[str, dict[str, Any]]:
        return patch.remove(document, path), _without(document.data, path)

    _change(places, file, change, may_be_wrong=True)
    return True


def history(places: Places) -> list[Version]:
    """The earlier versions of all settings files, the newest first."""
    found: list[Version] = []
    for path in places.history.glob("*.yaml"):
        label, _, stamp = path.stem.rpartition("@")
        if label and stamp.isdecimal():
            found.append(Version(path=path, file=label, time=int(stamp) / 1e9))
    return sorted(found, key=lambda version: (version.time, version.path.name), reverse=True)


def parse_value(text: str, kind: Any, name: str) -> Any:
    """What `text` means for a setting of type `kind`. Raises UsageError for what is no YAML where YAML is needed."""
    bare = types.bare(kind)
    yaml = text.lstrip()[:1] in ("[", "{") and not types.accepts_text(bare)
    if not yaml:
        return types.from_text(text, bare)
    try:
        data = Document(f"v: {text}", name).data
    except ConfigError as error:
        raise UsageError("config.bad_value", name=name, reason=error.values.get("reason", error)) from error
    if set(data) != {"v"}:
        raise UsageError("config.bad_value", name=name, reason="more than one value")
    return data["v"]


def _change(places: Places, file: Path, change: _Change, *, may_be_wrong: bool = False) -> None:
    """Apply `change` to the file as it is at that moment and keep what it was."""
    with _alone(places, file):
        before = read_bytes(file)
        text = read_text(file) or ""
        document = Document(text, str(file)) if may_be_wrong else check_text(text, str(file))[0]
        try:
            after, expected = change(document)
            done = Document(after, str(file)) if may_be_wrong else check_text(after, str(file))[0]
        except (patch.Unpatchable, ConfigError) as error:
            raise ConfigError("config.not_editable", file=file) from error
        if done.data != expected:
            raise ConfigError("config.not_editable", file=file)
        places.ensure(file.parent)
        _keep(places, file, before)
        bom = b"\xef\xbb\xbf" if (before or b"").startswith(b"\xef\xbb\xbf") else b""
        write_private(file, bom + after.encode())


@contextmanager
def _alone(places: Places, file: Path) -> Generator[None]:
    """Hold the lock on changes of settings. One that is older than any change takes was left by a killed process."""
    lock = places.ensure(places.locks) / "settings"
    deadline = time.monotonic() + _WAIT
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            break
        except FileExistsError:
            if _age(lock) > _STALE:
                lock.unlink(missing_ok=True)
            elif time.monotonic() > deadline:
                raise UserError("config.locked", file=file, lock=lock) from None
        except OSError as error:
            raise UserError("config.not_written", file=file, reason=error.strerror or error) from error
        time.sleep(0.01)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _age(lock: Path) -> float:
    try:
        return time.time() - lock.stat().st_mtime
    except OSError:
        return 0.0


def _keep(places: Places, file: Path, data: bytes | None) -> None:
    if data:
        folder = places.ensure(places.history)
        write_private(folder / f"{_label(places, file)}@{time.time_ns()}.yaml", data)


def _label(places: Places, file: Path) -> str:
    if file == places.config:
        return "config"
    if file.parent == places.configs:
        return f"configs-{file.stem}"
    return f"project-{zlib.crc32(os.fsencode(file)):08x}"


def _file(places: Places, config: str, project: Path | None) -> Path:
    if project is not None:
        return project / PROJECT_FILE
    if not config:
        return places.config
    if not is_name(config):
        raise UsageError("config.no_name", name=config, folder=places.configs)
    return places.configs / f"{config}.yaml"


def _split(name: str) -> tuple[list[str], list[bool]]:
    """The segments of a dotted name, and which of them stood in quotes."""
    parts: list[str] = []
    quoted: list[bool] = []
    at = 0
    while at <= len(name):
        if name[at : at + 1] == '"':
            end = at + 1
            while end < len(name) and name[end] != '"':
                end += 2 if name[end] == "\\" else 1
            if end >= len(name) or name[end + 1 : end + 2] not in ("", "."):
                raise UsageError("config.no_setting_name", name=name)
            parts.append(name[at + 1 : end].replace('\\"', '"').replace("\\\\", "\\"))
            quoted.append(True)
            at = end + 2
        else:
            end = name.find(".", at)
            end = len(name) if end < 0 else end
            parts.append(name[at:end])
            quoted.append(False)
            at = end + 1
    if not all(parts):
        raise UsageError("config.no_setting_name", name=name)
    return parts, quoted


def _read(parts: list[str], quoted: list[bool], done: KeyPath = ()) -> KeyPath | None:
    """The path whose types fit, where unquoted segments may belong together as the name of one entry."""
    if not parts:
        return done
    for count in range(1, len(parts) + 1):
        if count > 1 and any(quoted[:count]):
            continue
        part = ".".join(parts[:count])
        at_index = part.isdecimal() and not quoted[0] and types.type_at((*done, 0)) is not None
        path = (*done, int(part) if at_index else part)
        if types.type_at(path) is not None:
            found = _read(parts[count:], quoted[count:], path)
            if found is not None:
                return found
    return None


def _not_inside_list(path: KeyPath) -> None:
    """UsageError for what stands inside of a list, which is set as a whole."""
    at = next((n for n, part in enumerate(path) if isinstance(part, int)), 0)
    if at:
        raise UsageError("config.whole_list", name=dotted(path), whole=dotted(path[:at]))


def _unknown(name: str, parts: list[str]) -> UsageError:
    known = types.all_names()
    near = nearest(".".join(parts), known)
    if near:
        return UsageError("config.unknown_setting", name=name, near=near)
    return UsageError("config.unknown_setting_none", name=name)


def _has(data: dict[str, Any], path: KeyPath) -> bool:
    value: Any = data
    for part in path:
        if not isinstance(value, dict) or part not in value:
            return False
        value = cast("dict[str, Any]", value)[str(part)]
    return True


def _with(data: dict[str, Any], path: KeyPath, value: Any) -> dict[str, Any]:
    result = copy.deepcopy(data)
    holder: dict[str, Any] = result
    for part in path[:-1]:
        if holder.get(str(part)) is None:
            holder[str(part)] = {}
        holder = holder[str(part)]
    holder[str(path[-1])] = value
    return result


def _without(data: dict[str, Any], path: KeyPath) -> dict[str, Any]:
    result = copy.deepcopy(data)
    holder: dict[str, Any] = result
    for part in path[:-1]:
        holder = holder[str(part)]
    del holder[str(path[-1])]
    if not holder and len(path) == 2:
        del result[str(path[0])]
    return result

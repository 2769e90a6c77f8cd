"""Which folders are trusted: remembered by folder and content, never lost, never by accident."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import gongfu
from gongfu.app.trust import Trust, judge, notices, refuse, remember, revoke, trusted_folders
from gongfu.config.paths import Places
from gongfu.core.errors import UsageError, UserError

CONFIG = ".gongfu/config.yaml"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(home=tmp_path / "home")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def trust(places: Places, root: Path) -> None:
    remember(places, root, judge(places, root).findings)


def test_a_plain_folder_is_neither_trusted_nor_asked_about_and_nothing_is_written(places: Places, root: Path) -> None:
    assert judge(places, root) == Trust(state="nothing")
    assert not places.home.exists()


def test_trust_holds_until_what_takes_effect_changes(places: Places, root: Path) -> None:
    write(root, CONFIG, "language: en\n")
    assert judge(places, root).state == "untrusted"
    trust(places, root)
    assert judge(places, root).trusted
    write(root, "src/code.py", "print()")
    assert judge(places, root).trusted
    write(root, ".gongfu/hooks/new.sh", "evil")
    now = judge(places, root)
    assert (now.state, now.changed, now.trusted) == ("changed", (".gongfu/hooks/new.sh",), False)
    trust(places, root)
    assert judge(places, root).trusted


def test_going_back_to_what_was_seen_is_no_news(places: Places, root: Path) -> None:
    """Two branches with different settings are asked about once each."""
    for text in ("language: en\n", "language: zh\n"):
        write(root, CONFIG, text)
        trust(places, root)
    write(root, CONFIG, "language: en\n")
    assert judge(places, root).trusted
    (root / CONFIG).unlink()
    assert judge(places, root).trusted
    write(root, CONFIG, "language: auto\n")
    assert judge(places, root).state == "changed"


def test_a_no_is_remembered_for_just_this(places: Places, root: Path) -> None:
    write(root, CONFIG, "language: en\n")
    refuse(places, root, judge(places, root).findings)
    assert judge(places, root).state == "refused"
    write(root, CONFIG, "language: zh\n")
    assert judge(places, root).state == "untrusted"
    write(root, CONFIG, "language: en\n")
    trust(places, root)
    assert judge(places, root).trusted


def test_a_no_to_a_change_keeps_what_was_trusted_before(places: Places, root: Path) -> None:
    write(root, CONFIG, "language: en\n")
    trust(places, root)
    write(root, CONFIG, "language: zh\n")
    refuse(places, root, judge(places, root).findings)
    assert judge(places, root).state == "refused"
    write(root, CONFIG, "language: en\n")
    assert judge(places, root).trusted


def test_the_word_for_one_run_is_not_remembered(places: Places, root: Path) -> None:
    write(root, CONFIG, "language: en\n")
    assert judge(places, root, trust=True).state == "run"
    assert not places.home.exists()
    assert not judge(places, root).trusted


def test_a_folder_inside_and_one_around_are_others(places: Places, root: Path) -> None:
    write(root, CONFIG, "language: en\n")
    write(root, f"vendor/lib/{CONFIG}", "language: zh\n")
    trust(places, root)
    assert judge(places, root / "vendor" / "lib").state == "untrusted"
    write(root.parent, CONFIG, "language: zh\n")
    assert not judge(places, root.parent).trusted


def test_revoking_forgets_yes_and_no(places: Places, root: Path) -> None:
    write(root, CONFIG, "language: en\n")
    trust(places, root)
    assert [one.root for one in trusted_folders(places)] == [str(root)]
    assert revoke(places, root)
    assert not revoke(places, root)
    assert judge(places, root).state == "untrusted"
    assert trusted_folders(places) == []


def test_no_folder_of_folders_is_trusted_by_accident(
    places: Places, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(root))
    monkeypatch.setenv("USERPROFILE", str(root))
    write(root, CONFIG, "language: en\n")
    places.home.mkdir()
    for folder in (root, root.parent, Path(root.anchor), places.home):
        assert not judge(places, folder).trusted
        with pytest.raises(UsageError):
            remember(places, folder, judge(places, folder).findings)
        with pytest.raises(UsageError):
            judge(places, folder, trust=True)


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_what_cannot_be_checked_is_never_trusted(places: Places, root: Path) -> None:
    write(root, CONFIG, "language: en\n")
    (root / ".mcp.json").symlink_to("/etc/passwd")
    with pytest.raises(UserError) as said:
        trust(places, root)
    assert said.value.key == "trust.unchecked_outside"
    with pytest.raises(UserError):
        judge(places, root, trust=True)
    (root / ".mcp.json").unlink()
    trust(places, root)
    (root / ".mcp.json").symlink_to("/etc/passwd")
    assert judge(places, root).state == "changed"


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_the_list_is_for_the_persons_eyes_only(places: Places, root: Path) -> None:
    trust(places, root)
    assert stat.S_IMODE(places.trust.stat().st_mode) == 0o600
    assert [p.name for p in places.home.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"version": 2, "folders": {}}', '{"version": 1}', '{"version": 1, "folders": {"/a": 1}}',
     '{"version": 1, "folders": {"/a": {"files": []}}}', '{"version": 1, "folders": {"/a": {"files": {"x": "y"}}}}',
     "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "[" * 100_000],
)  # fmt: skip
def test_a_bad_list_is_an_error_and_stays_as_it_is(places: Places, root: Path, text: str) -> None:
    places.home.mkdir()
    places.trust.write_text(text, encoding="latin-1")
    before = places.trust.read_bytes()
    works: tuple[Callable[[], object], ...] = (
        lambda: judge(places, root), lambda: trusted_folders(places), lambda: revoke(places, root),
        lambda: refuse(places, root, Trust().findings), lambda: remember(places, root, Trust().findings),
    )  # fmt: skip
    for work in works:
        with pytest.raises(UserError) as said:
            work()
        assert said.value.key == "trust.bad_list"
    assert places.trust.read_bytes() == before


def test_what_others_wrote_into_the_list_stays(places: Places, root: Path) -> None:
    places.home.mkdir()
    other = {"files": {"a": ["1"]}, "at": 5, "note": "mine"}
    places.trust.write_text(json.dumps({"version": 1, "folders": {"/other": other}, "more": [1]}))
    trust(places, root)
    whole = json.loads(places.trust.read_text())
    assert whole["more"] == [1]
    assert whole["folders"]["/other"] == other


@pytest.mark.skipif(os.name != "posix", reason="names of bytes")
def test_a_folder_whose_name_is_no_text(places: Places, tmp_path: Path) -> None:
    root = tmp_path / os.fsdecode(b"odd \xff\n name")
    root.mkdir()
    write(root, f".gongfu/{os.fsdecode(bytes([254]))}", "x")
    trust(places, root)
    assert judge(places, root).trusted


def test_many_at_once_lose_nothing(places: Places, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from gongfu.app.trust import *; from gongfu.config.paths import Places\n"
        "home, *roots = map(Path, sys.argv[1:])\n"
        "for root in roots: remember(Places(home=home), root, judge(Places(home=home), root).findings)\n"
    )
    roots = [tmp_path / f"p{n}" for n in range(12)]
    for root in roots:
        root.mkdir()
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(places.home), *map(str, roots[n::4])]) for n in range(4)
    ]
    assert [process.wait(60) for process in started] == [0, 0, 0, 0]
    assert sorted(one.root for one in trusted_folders(places)) == sorted(map(str, roots))


def test_the_settings_of_a_project_hold_where_it_is_trusted(places: Places, root: Path) -> None:
    write(root, CONFIG, "permission: {mode: plan}\nlimits: {max_steps: 3}\n")

    def opened(**options: bool) -> gongfu.App:
        return gongfu.open(root, root=root, home=places.home, env={}, **options)

    before = opened()
    assert (before.settings.permission.mode, before.options.trusted) == ("ask", False)
    assert [notice.key for notice in before.options.notices] == ["trust.left_out"]
    run = opened(trust=True)
    assert (run.settings.permission.mode, run.options.mode, run.options.trusted) == ("plan", "plan", True)
    assert run.options.limits.steps == 3
    trust(places, root)
    assert opened().settings.permission.mode == "plan"
    write(root, CONFIG, "permission: {mode: full}\n")
    changed = opened()
    assert changed.settings.permission.mode == "ask"
    assert [notice.key for notice in changed.options.notices] == ["trust.left_out_changed"]
    refuse(places, root, changed.options.trust.findings)
    assert opened().options.notices == ()


def test_bad_settings_of_an_untrusted_project_disturb_nobody(places: Places, root: Path) -> None:
    write(root, CONFIG, "{{{ no yaml")
    assert gongfu.open(root, root=root, home=places.home, env={}).settings.permission.mode == "ask"


def test_another_repository_in_the_place_of_a_trusted_one_is_not_trusted(places: Places, root: Path) -> None:
    """Settings and hooks below .git are no content that counts, so the repository itself must be the same."""

    def init(*, config: bool = True) -> None:
        subprocess.run(["git", "init", "-q", str(root)], check=True, env=os.environ | {"GIT_TEMPLATE_DIR": ""})
        if config:
            write(root, CONFIG, "language: en\n")

    init()
    trust(places, root)
    (root / ".git/config").write_text("[core]\n\tfsmonitor = mine\n")  # by the person
    for name in ("a", "b"):
        write(root, name, "x")
    assert judge(places, root).trusted
    moved = root.rename(root.with_name("moved"))
    assert judge(places, moved).state == "untrusted"
    root.mkdir()
    init()
    now = judge(places, root)
    assert (now.state, now.changed) == ("changed", (".git",))
    refuse(places, root, now.findings)
    assert judge(places, root).state == "refused"
    trust(places, root)
    assert judge(places, root).trusted
    shutil.rmtree(root)
    moved.rename(root)
    assert judge(places, root).trusted  # it was trusted before, and is the same
    shutil.rmtree(root / ".git")
    assert judge(places, root).trusted
    (root / ".git").write_text("gitdir: /elsewhere\n")
    assert judge(places, root).changed == (".git",)
    shutil.rmtree(root / ".gongfu")
    said = notices(judge(places, root), ())
    assert [notice.values["what"] for notice in said] == [".git"]


def test_a_list_of_before_repositories_were_told_apart_holds(places: Places, root: Path) -> None:
    write(root, CONFIG, "language: en\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    trust(places, root)
    kept = json.loads(places.trust.read_text())
    del kept["folders"][str(root)]["git"]
    places.trust.write_text(json.dumps(kept))
    assert judge(places, root).trusted

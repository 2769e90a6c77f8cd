"""Secrets in the workspace: found at the cost of what changed, closed to confined commands, and to them only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gongfu.workspace.root import Workspace
from gongfu.workspace.sandbox import masks
from gongfu.workspace.sandbox.masks import Masks
from tests.workspace.sandbox.scene import KINDS, USERS, Scene

KEY = "TOP-SECRET-KEY"


def _finder(top: Path) -> Masks:
    return Masks(Workspace(top, top, (), ()))


def _found(finder: Masks, top: Path) -> set[str]:
    return {str(Path(p).relative_to(top)) for p in finder.find((str(top),))}


def test_what_is_a_secret(tmp_path: Path) -> None:
    for name in ("a/b", ".ssh", "node_modules/x", ".git", "credentials", "lib/site-packages", ".env.d"):
        (tmp_path / name).mkdir(parents=True)
    for name in (".env", "a/.ENV.local", "a/b/server.key", "credentials/.env", "id_rsa", "a/secrets.yaml"):
        (tmp_path / name).write_text("x")
    for name in (".env.example", "id_rsa.pub", "node_modules/x/.env", ".git/.env", "client.py", "service.py", "b"):
        (tmp_path / name).write_text("x")
    (tmp_path / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    (tmp_path / "both.pem").write_text("-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n")
    (tmp_path / ".npmrc").write_text("registry=https://example.org\n")
    (tmp_path / "a/.npmrc").write_text("//example.org/:_authToken=x\n")
    (tmp_path / "gone").symlink_to("nowhere.env")
    assert _found(_finder(tmp_path), tmp_path) == {
        ".env", "a/.ENV.local", "a/b/server.key", "credentials/.env", "id_rsa", "a/secrets.yaml", "both.pem",
        "a/.npmrc", ".ssh",
    }  # fmt: skip


def test_changes_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    finder = _finder(tmp_path)
    assert _found(finder, tmp_path) == set()
    (tmp_path / "a" / "x.key").write_text("x")
    assert _found(finder, tmp_path) == {"a/x.key"}
    (tmp_path / "a" / "x.key").rename(tmp_path / "a" / "plain")
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / ".env").write_text("x")
    assert _found(finder, tmp_path) == {"a/plain", "b/c/.env"}
    (tmp_path / "a" / "plain").write_text("something else")
    (tmp_path / "b" / "c" / ".env").unlink()
    (tmp_path / ".npmrc").write_text("x=y")
    assert _found(finder, tmp_path) == set()
    (tmp_path / ".npmrc").write_text("_authToken=y")
    assert _found(finder, tmp_path) == {".npmrc"}
    (tmp_path / "a").rename(tmp_path / "z")
    assert _found(finder, tmp_path) == {".npmrc"}


def test_other_names_of_a_secret_are_known(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / ".env").write_text("x")
    os.link(tmp_path / "z" / ".env", tmp_path / "a" / "plain")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x.env").write_text("x")
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "b").symlink_to("../out/x.env")
    assert _found(_finder(tmp_path), tmp_path) == {"z/.env", "a/plain", "out/x.env"}
    assert _finder(tmp_path / "w").find((str(tmp_path / "w"),)) == (str(tmp_path / "out" / "x.env"),)


def test_a_search_has_an_end_and_goes_on_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(30):
        (tmp_path / f"f{i:02}" / "x").mkdir(parents=True)
    (tmp_path / ".env").write_text("x")
    (tmp_path / "f29" / "x" / ".env").write_text("x")
    finder = _finder(tmp_path)
    monkeypatch.setattr(masks, "_SECONDS", -1.0)
    assert (_found(finder, tmp_path), finder.partial) == (set(), True)
    monkeypatch.setattr(masks, "_SECONDS", 60.0)
    assert (_found(finder, tmp_path), finder.partial) == ({".env", "f29/x/.env"}, False)
    monkeypatch.setattr(masks, "_MOST_FOLDERS", 20)
    narrow = _finder(tmp_path)
    assert (_found(narrow, tmp_path), narrow.partial) == ({".env"}, True)


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_command_does_not_read_them(scene_folder: Path, kind: str, user: str) -> None:
    scene = Scene(scene_folder, user)
    (scene.work / "deep").mkdir()
    for path in (scene.work / ".env", scene.work / "deep" / "a.key"):
        path.write_text(KEY)
    for path in (scene.work / ".env", scene.work / "deep", scene.work / "deep" / "a.key"):
        os.chown(path, scene.work.stat().st_uid, scene.work.stat().st_gid)
    told = scene.run(
        "cat .env; cat deep/*; cp .env x; mv .env y; mv deep/a.key z; ln .env h; cat x y z h",
        "cat x y z h; mv deep deeper; cat deeper/*; tar c . ",
        "cat x y z h deeper/*; chmod 777 .env y; cat .env y",
        "echo mine > new.env; cat file",
        "cat new.env",
        kind=kind,
    )
    assert [KEY in done["text"] for done in told] == [False] * 5
    assert told[3]["text"] == "inside"
    assert "mine" not in told[4]["text"]
    kept = {p.name for p in scene.work.rglob("*") if p.is_file() and p.read_text(errors="ignore") == KEY}
    assert kept >= ({".env", "a.key"} if kind == "bwrap" else {"y", "z"})  # Landlock lets names change
    told = scene.run("echo mine > other.env; cat other.env", "cat .env", kind="bwrap", leave={"free": True})
    assert told[0]["text"] == "mine\n"
    if kind == "bwrap":
        assert told[1]["text"] == KEY
        assert scene.one("echo mine > own.env; cat own.env", kind=kind)["text"] == "mine\n"

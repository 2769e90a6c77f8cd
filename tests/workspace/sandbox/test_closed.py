"""What an ordinary user has no right on needs no hiding; everything else does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gongfu.workspace.root import Workspace
from gongfu.workspace.sandbox.places import hidden

NOBODY = 65534


def hidden_of(user: int, home: Path) -> set[str]:
    """The names of what is hidden in `home` from a process of this user."""
    work = home / "work"
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            found = hidden(Workspace(work, work), {"HOME": str(home)}, [])
            os.write(writer, "\n".join(found).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        found = pipe.read().decode().splitlines()
    os.waitpid(child, 0)
    return {Path(p).name for p in found if p.startswith(f"{home}/")}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="it takes two users")
def test_what_is_closed_to_the_user_is_not_mounted_over(scene_folder: Path) -> None:
    (scene_folder / "work").mkdir()
    own = (".netrc", ".pgpass")
    theirs = {".pypirc": 0o600, ".git-credentials": 0o640, ".my.cnf": 0o604, ".s3cfg": 0o602}
    for name in (*own, *theirs):
        (scene_folder / name).write_text("secret")
    for name, mode in theirs.items():
        (scene_folder / name).chmod(mode)
    for name in own:
        os.chown(scene_folder / name, NOBODY, NOBODY)
        (scene_folder / name).chmod(0o000)  # its owner may open it again
    for name, mode in {".ssh": 0o700, ".gnupg": 0o711, ".aws": 0o744}.items():
        (scene_folder / name).mkdir()
        (scene_folder / name).chmod(mode)
    assert hidden_of(NOBODY, scene_folder) == {".netrc", ".pgpass", ".my.cnf", ".s3cfg", ".gnupg", ".aws"}
    assert hidden_of(0, scene_folder) == {*own, *theirs, ".ssh", ".gnupg", ".aws"}

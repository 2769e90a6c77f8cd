"""package_check, package_install and package_list in an environment of their own, from a folder of wheels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.package_words import unknown
from gongfu.toolkit.programs import Ran
from tests.toolkit.loop import play
from tests.toolkit.projects import call, person, project, put, tools, wheel

pytestmark = pytest.mark.anyio


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = project(tmp_path)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(work / ".venv")], check=True)
    wheel(tmp_path / "wheels", "tiny", "1.0")
    wheel(tmp_path / "wheels", "tiny", "1.1")
    wheel(tmp_path / "wheels", "needy", "2.0", "absent>=3")
    return work


async def test_install_list_check_upgrade_and_uninstall(work: Path, tmp_path: Path) -> None:
    local = ["--no-index", f"--find-links={tmp_path / 'wheels'}"]
    played = await play(
        work, ("package_install", {"packages": ["tiny==1.0"], "options": local}), ("package_list", {}),
        env=person(tmp_path),
    )  # fmt: skip
    assert [r.status for r in played.results] == ["done", "done"]
    assert played.results[0].text == "install in .venv:\n+ tiny 1.0"
    assert played.text == "1 package in .venv\ntiny 1.0"
    assert (await call(work, "package_install", action="upgrade", packages=["tiny"], options=local)).endswith(
        "~ tiny 1.0 -> 1.1"
    )
    assert await call(work, "package_list", contains="zzz") == "0 packages with 'zzz' in .venv"
    await call(work, "package_install", packages=["needy"], options=[*local, "--no-deps"])
    played = await play(work, ("package_check", {"names": ["Tiny", "nope"], "index": False}), env=person(tmp_path))
    assert played.text.startswith("Tiny: 1.1\nnope: not installed\nin .venv\nconflicts:\n")
    assert "absent" in played.text
    assert (await call(work, "package_install", action="uninstall", packages=["tiny"])).endswith("- tiny 1.1")
    with pytest.raises(ToolFailure, match="the index has no such package or version"):
        await call(work, "package_install", packages=["nowhere"], options=local)


def test_what_an_index_did_not_tell_is_said() -> None:
    told = {"ERROR: No matching distribution found for x": "not in the index", "ConnectTimeout": "the index could not"}
    for text, words in told.items():
        assert unknown(cast("Ran", SimpleNamespace(text=text))).startswith(words)


async def test_an_installation_asks_and_names_the_hosts(work: Path, tmp_path: Path) -> None:
    for mode in ("ask", "edits", "auto"):
        played = await play(
            work, ("package_install", {"packages": ["tiny"]}), env=person(tmp_path), permission=mode, answers="no"
        )
        assert played.status == "refused"
    facts = await tools(work)["package_install"].facts({"packages": ["tiny"]})
    assert facts.hosts[0] == "pypi.org:443"
    assert len(facts.hosts) == 2
    own = {**person(tmp_path), "PIP_INDEX_URL": "http://index.example:8080/simple"}
    assert (await tools(work, own)["package_install"].facts({"packages": ["tiny"]})).hosts == ("index.example:8080",)
    assert facts.command.endswith("install tiny")
    none = {"packages": ["tiny"], "options": ["--no-index"]}
    facts = await tools(work)["package_install"].facts(none)
    assert (facts.hosts, facts.access) == ((), ("execute", "network"))
    assert (await tools(work)["package_list"].facts({})).access == ("read",)
    assert "network" in (await tools(work)["package_list"].facts({"outdated": True})).access


async def test_nothing_comes_into_gongfus_own_environment_or_the_systems(tmp_path: Path) -> None:
    work = project(tmp_path)
    with pytest.raises(ToolFailure, match=r"no environment of its own.*python3 -m venv \.venv"):
        await call(work, "package_install", packages=["tiny"])
    (work / ".venv").symlink_to(sys.prefix)
    with pytest.raises(ToolFailure, match="the environment that Gongfu itself runs in"):
        await call(work, "package_install", packages=["tiny"])
    env = {**person(tmp_path), "VIRTUAL_ENV": sys.prefix}
    (work / ".venv").unlink()
    with pytest.raises(ToolFailure, match="no environment of its own"):
        await call(work, "package_install", env=env, packages=["tiny"])


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({}, "name packages"),
        ({"packages": ["--target=/"]}, "is no package"),
        ({"packages": ["https://x/y.whl"]}, "is no package"),
        ({"packages": ["a\0"]}, "is no package"),
        ({"packages": [""]}, "is no package"),
        ({"packages": ["a" * 5000]}, "is no package"),
        ({"packages": ["tiny"], "options": ["--target=/tmp"]}, "is not passed on"),
        ({"packages": ["tiny"], "options": ["--user"]}, "is not passed on"),
        ({"packages": ["tiny"], "options": ["evil"]}, "is not passed on"),
        ({"packages": ["tiny"], "requirements": "r.txt"}, "goes alone"),
        ({"requirements": "nope.txt"}, "does not exist"),
    ],
)
async def test_a_bad_installation_is_told(work: Path, args: dict, says: str) -> None:
    with pytest.raises(ToolFailure, match=says):
        await call(work, "package_install", **args)


async def test_bad_names_are_told(work: Path) -> None:
    for names in ([], ["a b"], ["-x"], [""], ["x"] * 30):
        with pytest.raises(ToolFailure, match="names"):
            await call(work, "package_check", names=names, index=False)


async def test_a_project_of_node_is_npms(tmp_path: Path) -> None:
    work = tmp_path / "work"
    put(work, {"package.json": '{"name": "x", "version": "1.0.0"}'})
    facts = await tools(work)["package_install"].facts({"packages": ["left-pad@1.3.0"], "dev": True})
    assert facts.command.endswith("install --no-audit --no-fund --save-dev left-pad@1.3.0")
    assert facts.hosts == ("registry.npmjs.org:443",)

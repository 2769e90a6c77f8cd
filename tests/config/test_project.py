"""A trusted project's settings tighten and never loosen, whatever the person has set."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.config.hooks import hooks_of
from gongfu.config.load import Flags, Loaded, load
from gongfu.config.paths import Places
from gongfu.config.project import STRICTNESS, tightened
from gongfu.config.settings import ProjectHook, ProjectProvider, Settings


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(home=tmp_path / "home")


def merged(places: Places, tmp_path: Path, user: str, project: str) -> Loaded:
    places.home.mkdir(exist_ok=True)
    places.config.write_text(user)
    own = tmp_path / "project" / ".gongfu" / "config.yaml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(project)
    return load(places, project=tmp_path / "project", project_trusted=True, env={}, flags=Flags())


@pytest.mark.parametrize(
    ("user", "project", "refused"),
    [
        ("", "permission: {allow: [shell]}", "permission.allow"),
        ("permission: {allow: [read_file]}", "permission: {allow: [read_file, shell]}", "permission.allow"),
        ("", "permission: {mode: edits}", "permission.mode"),
        ("permission: {mode: plan}", "permission: {mode: ask}", "permission.mode"),
        ("", "sandbox: {kind: 'off'}", "sandbox.kind"),
        ("sandbox: {kind: bwrap}", "sandbox: {kind: landlock}", "sandbox.kind"),
        ("sandbox: {required: true}", "sandbox: {required: false}", "sandbox.required"),
        ("", "sandbox: {network: list}", "sandbox.network"),
        ("sandbox: {network: list}", "sandbox: {network: 'on'}", "sandbox.network"),
        ("sandbox: {network: list}", "sandbox: {hosts: [evil.example]}", "sandbox.hosts"),
        ("", "sandbox: {writable: [/]}", "sandbox.writable"),
        ("", "retention: {days: 1}", "retention.days"),
        ("limits: {max_steps: 5}", "limits: {max_steps: 6}", "limits.max_steps"),
        ("limits: {max_cost: 1}", "limits: {max_cost: null}", "limits.max_cost"),
        ("", "shell: {keep_env: [TOKEN]}", "shell.keep_env"),
    ],
)
def test_what_loosens_is_refused_and_named(
    places: Places, tmp_path: Path, user: str, project: str, refused: str
) -> None:
    loaded = merged(places, tmp_path, user, project)
    assert [n.values["name"] for n in loaded.notices if n.key == "config.project_loosens"] == [refused]
    alone = merged(places, tmp_path, user, "")
    assert loaded.settings == alone.settings


def test_what_tightens_is_taken(places: Places, tmp_path: Path) -> None:
    user = (
        "permission: {mode: auto, ask: [a], deny: [b], allow: [c, d]}\n"
        "sandbox: {kind: 'off', network: 'on', hidden: [x]}\n"
        "limits: {max_steps: 50}\nhooks: [{event: prompt, command: mine}]\n"
    )
    project = (
        "permission: {mode: ask, ask: [p, a], deny: [q], allow: [c]}\n"
        "sandbox: {kind: auto, required: true, network: list, hosts: [pypi.org], hidden: [y]}\n"
        "limits: {max_steps: 5, max_cost: 2}\nhooks: [{event: prompt, command: theirs}]\n"
    )
    loaded = merged(places, tmp_path, user, project)
    permission, sandbox = loaded.settings.permission, loaded.settings.sandbox
    assert loaded.notices == ()
    assert (permission.mode, permission.ask, permission.deny, permission.allow) == (
        "ask",
        ("a", "p"),
        ("b", "q"),
        ("c",),
    )
    assert (sandbox.kind, sandbox.required, sandbox.network, sandbox.hosts) == ("auto", True, "list", ("pypi.org",))
    assert sandbox.hidden == ("x", "y")
    assert (loaded.settings.limits.max_steps, loaded.settings.limits.max_cost) == (5, 2)
    assert [hook.command for hook in loaded.settings.hooks] == ["mine", "theirs"]


def test_hooks_of_the_person_stay_whatever_the_shapes(places: Places, tmp_path: Path) -> None:
    ours = "hooks: [{event: before_tool, command: COMMAND}]"
    claude = "hooks: {PreToolUse: [{matcher: '', hooks: [{type: command, command: COMMAND}]}]}"
    for first in (ours, claude):
        for second in (ours, claude, "hooks: []", "hooks: {}", ""):
            one, two = first.replace("COMMAND", "mine"), second.replace("COMMAND", "theirs")
            hooks = hooks_of(merged(places, tmp_path, one, two).settings.hooks)
            assert [hook.command for hook in hooks] == (["mine", "theirs"] if "COMMAND" in second else ["mine"])


@pytest.mark.parametrize("first", [True, False])
def test_what_a_project_brings_is_known_as_its_own(places: Places, tmp_path: Path, first: bool) -> None:
    shapes = (
        "hooks: [{event: before_tool, command: COMMAND}, {event: prompt, command: COMMAND}]",
        "hooks: {PreToolUse: [{hooks: [{type: command, command: COMMAND}, {type: command, command: COMMAND}]}]}",
    )
    for theirs in shapes:
        mine = shapes[0] if first else ""
        user = (
            mine.replace("COMMAND", "mine") + "\nproviders: {a: {base_url: 'https://a'}, b: {base_url: 'https://b'}}\n"
        )
        project = (
            theirs.replace("COMMAND", "theirs") + "\nproviders: {b: {proxy: 'http://p'}, c: {base_url: 'https://c'}}"
        )
        settings = merged(places, tmp_path, user, project).settings
        hooks = hooks_of(settings.hooks)
        assert [(hook.command, isinstance(hook, ProjectHook)) for hook in hooks] == [
            *([("mine", False)] * 2 if first else []), *[("theirs", True)] * 2,
        ]  # fmt: skip
        assert {name: isinstance(one, ProjectProvider) for name, one in settings.providers.items()} == {
            "a": False, "b": True, "c": True,
        }  # fmt: skip
        assert settings.providers["b"].base_url == ""


@pytest.mark.parametrize("key", ["api_key: '${MY_KEY}'", "headers: {X: 'a ${MY_KEY}'}", "ca_file: '${MY_KEY}'"])
def test_no_variable_of_the_person_goes_where_a_project_says(places: Places, tmp_path: Path, key: str) -> None:
    places.home.mkdir()
    places.config.write_text("providers: {b: {base_url: 'https://mine', api_key: '${MY_KEY}'}}\n")
    own = tmp_path / "project/.gongfu/config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(f"providers:\n  b: {{base_url: 'https://theirs', {key}}}\n  c: {{base_url: 'https://plain'}}\n")
    loaded = load(places, project=tmp_path / "project", project_trusted=True, env={"MY_KEY": "secret"}, flags=Flags())
    assert [(n.key, n.values["name"]) for n in loaded.notices] == [("config.project_key", "providers.b")]
    providers = loaded.settings.providers
    assert (providers["b"].base_url, providers["b"].api_key) == ("https://mine", "secret")
    assert providers["c"].base_url == "https://plain"


def test_settings_that_are_not_those_that_were_trusted_are_left_out(places: Places, tmp_path: Path) -> None:
    own = tmp_path / "project/.gongfu/config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("limits: {max_steps: 3}\n")
    seen = sha256(own.read_bytes()).hexdigest()

    def steps(digest: str | None) -> tuple[int, list[str]]:
        loaded = load(
            places, project=tmp_path / "project", project_trusted=True, env={}, flags=Flags(), digest=digest
        )  # fmt: skip
        return loaded.settings.limits.max_steps, [notice.key for notice in loaded.notices]

    assert steps(seen) == (3, [])
    own.write_text("limits: {max_steps: 4}\n")
    assert steps(seen) == steps("") == (200, ["config.project_changed"])
    assert steps(None) == (4, [])


MODES = st.sampled_from([*STRICTNESS])
NAMES = st.lists(st.sampled_from("abc"), max_size=3, unique=True)
LAYERS = st.fixed_dictionaries(
    {},
    optional={
        "permission": st.fixed_dictionaries({}, optional={"mode": MODES, "allow": NAMES, "ask": NAMES, "deny": NAMES}),
        "sandbox": st.fixed_dictionaries(
            {},
            optional={
                "kind": st.sampled_from(["auto", "bwrap", "landlock", "off"]),
                "required": st.booleans(),
                "network": st.sampled_from(["off", "list", "on"]),
                "hosts": NAMES,
                "writable": NAMES,
                "hidden": NAMES,
            },
        ),
        "limits": st.fixed_dictionaries({}, optional={"max_steps": st.integers(1, 9), "max_tokens": st.integers(1, 9)}),
        "retention": st.fixed_dictionaries({}, optional={"days": st.integers(1, 9)}),
    },
)


def over(base: dict[str, Any], data: dict[str, Any]) -> Settings:
    whole = {section: {**base.get(section, {}), **data.get(section, {})} for section in (*base, *data)}
    return msgspec.convert(whole, Settings)


@given(LAYERS, LAYERS)
def test_nothing_is_ever_looser_than_without_the_project(user: dict[str, Any], project: dict[str, Any]) -> None:
    before = over(user, {})
    after = over(user, tightened(project, user, lambda _: None))
    assert STRICTNESS[after.permission.mode] <= STRICTNESS[before.permission.mode]
    assert set(after.permission.allow) <= set(before.permission.allow)
    for name in ("ask", "deny"):
        assert set(getattr(before.permission, name)) <= set(getattr(after.permission, name))
    old, new = before.sandbox, after.sandbox
    order = ["off", "list", "on"]
    assert order.index(new.network) <= order.index(old.network)
    assert new.kind == old.kind or new.kind != "off"
    assert new.required or not old.required
    assert set(old.hidden) <= set(new.hidden)
    assert set(new.writable) <= set(old.writable)
    assert set(new.hosts) <= set(old.hosts) or old.network == "on"
    assert after.limits.max_steps <= before.limits.max_steps
    assert after.retention == before.retention

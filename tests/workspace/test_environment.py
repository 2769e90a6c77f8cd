"""Secrets stay out of the environment of commands, and nothing waits for a person."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.workspace.environment import batch_ssh, child_env, is_secret

SECRETS = [
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY", "DASHSCOPE_API_KEY", "MOONSHOT_API_KEY",
    "ZHIPUAI_API_KEY",
    "GITHUB_TOKEN", "GH_TOKEN", "HF_TOKEN", "NPM_TOKEN", "GONGFU_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET", "GOOGLE_APPLICATION_CREDENTIALS", "DB_PASSWORD", "PGPASSWORD",
    "MYSQL_PWD",
    "SMTP_PASS", "GH_PAT", "SENTRY_DSN", "SSH_PASSPHRASE", "apikey", "my_secret", "npm_config__authToken", "BASIC_AUTH",
    "AZURE_STORAGE_CONNECTION_STRING", "SESSION_COOKIE", "RestoreToken",
    "VAULT_TOKEN", "DOCKER_AUTH_CONFIG", "GPG_PASSPHRASE", "CI_JOB_JWT", "CI_JOB_JWT_V2", "SLACK_WEBHOOK",
    "OAUTH_BEARER",
    "STRIPE_SECRET", "TWILIO_AUTH_TOKEN", "DD_API_KEY", "NEW_RELIC_LICENSE_KEY", "RAILS_MASTER_KEY",
    "DJANGO_SECRET_KEY",
    "CARGO_REGISTRY_TOKEN", "TWINE_PASSWORD", "PIP_PASSWORD", "KUBE_TOKEN", "TF_TOKEN_app_terraform_io",
    "ANSIBLE_VAULT_PASSWORD",
]  # fmt: skip
HARMLESS = [
    "PATH", "HOME", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "KEYBOARD_LAYOUT", "XKB_DEFAULT_LAYOUT", "TOKENIZERS_PARALLELISM",
    "MAX_TOKENS", "OPENAI_MAX_TOKENS", "GIT_CONFIG_KEY_0", "GIT_CONFIG_COUNT", "GNOME_KEYRING_CONTROL", "KEYTIMEOUT",
    "PASSED", "COMPASS_HOME", "AUTHOR", "GIT_AUTHOR_NAME", "PATTERN", "XAUTHORITY", "LANG", "VIRTUAL_ENV",
    "COMPOSE_FILE", "TOKENIZER_PATH", "HF_TOKENIZER", "KEYCLOAK_URL", "HOTKEYS", "DONKEY_HOME", "PASSENGER_APP_ENV",
    "SSH_AGENT_PID", "GPG_AGENT_INFO", "WEBHOOKS_DIR", "BYPASS", "DBUS_SESSION_BUS_ADDRESS", "XDG_SESSION_ID",
]  # fmt: skip


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_by_its_name(name: str) -> None:
    assert is_secret(name, "x")


@pytest.mark.parametrize("name", HARMLESS)
def test_a_look_alike_stays(name: str) -> None:
    assert not is_secret(name, "/x")
    assert child_env({name: "/x"})[name]


def test_programs_are_not_looked_for_in_the_current_folder() -> None:
    """A repository may bring programs that are called like the system's."""
    path = os.pathsep.join(["", ".", "bin", "/usr/bin", "node_modules/.bin", "../x", "/bin", ""])
    assert child_env({"PATH": path})["PATH"] == os.pathsep.join(["/usr/bin", "/bin"])
    assert child_env({"PATH": path}, trusted=True)["PATH"] == path


@pytest.mark.parametrize(
    "value",
    [
        "sk-" + "a1B2" * 8, "sk-ant-api03-" + "x" * 40, "sk-proj-" + "y" * 40, "ghp_" + "a" * 36,
        "github_pat_" + "a" * 40,
        "glpat-" + "a" * 20, "xoxb-12345678901-abc", "AKIA" + "A" * 16, "AIza" + "b" * 35, "hf_" + "c" * 34,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_def", "-----BEGIN RSA PRIVATE KEY-----\nxx",
        "postgres://user:hunter2@db/x", "https://:token@host/",
    ],
)  # fmt: skip
def test_a_secret_by_its_looks(value: str) -> None:
    assert "INNOCENT" not in child_env({"INNOCENT": value})


@pytest.mark.parametrize(
    "value", ["/usr/bin", "https://example.com/a:b@c", "task-force-one-two-three", "en_US.UTF-8", ""]
)
def test_an_innocent_value_stays(value: str) -> None:
    assert child_env({"INNOCENT": value})["INNOCENT"] == value


def test_a_proxy_with_a_password_still_works() -> None:
    env = {"HTTPS_PROXY": "http://u:p@proxy:8080", "http_proxy": "http://u:p@proxy:8080"}
    assert child_env(env).items() >= env.items()


def test_what_is_kept_by_name_is_kept() -> None:
    env = {"HF_TOKEN": "hf_" + "x" * 30, "OPENAI_API_KEY": "sk-x", "EDITOR": "vim"}
    child = child_env(env, keep=("HF_TOKEN", "EDITOR"))
    assert child["HF_TOKEN"] == env["HF_TOKEN"]
    assert child["EDITOR"] == "vim"
    assert "OPENAI_API_KEY" not in child


def test_nothing_waits_for_a_person() -> None:
    env = {"PAGER": "less", "EDITOR": "vim", "SSH_ASKPASS": "/x", "SUDO_ASKPASS": "/x", "GIT_EXTERNAL_DIFF": "/x"}
    child = child_env(env)
    assert child["PAGER"] == child["GIT_PAGER"] == child["MANPAGER"] == "cat"
    assert child["EDITOR"] == child["VISUAL"] == child["GIT_EDITOR"] == "true"
    assert child["GIT_TERMINAL_PROMPT"] == "0"
    assert "BatchMode=yes" in child["GIT_SSH_COMMAND"]
    assert not {"SSH_ASKPASS", "SUDO_ASKPASS", "GIT_EXTERNAL_DIFF"} & set(child)
    assert "CI" not in child
    assert "NO_COLOR" not in child


@pytest.mark.parametrize(
    ("given_", "wanted"),
    [
        ("ssh", "ssh -oBatchMode=yes"),
        ("/usr/bin/ssh -i ~/.ssh/work", "/usr/bin/ssh -i ~/.ssh/work -oBatchMode=yes"),
        ("ssh -o BatchMode=no", "ssh -o BatchMode=no"),
        ("plink -batch", "plink -batch"),
        ("", ""),
    ],
)
def test_ssh_without_questions(given_: str, wanted: str) -> None:
    assert batch_ssh(given_) == wanted


def test_settings_of_git_already_there_are_kept() -> None:
    env = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Ann"}
    child = child_env(env)
    assert child["GIT_CONFIG_KEY_0"] == "user.name"
    count = int(child["GIT_CONFIG_COUNT"])
    assert {child[f"GIT_CONFIG_KEY_{n}"] for n in range(1, count)} >= {"core.fsmonitor", "core.hooksPath"}
    trusted = child_env(env, trusted=True)
    assert trusted["GIT_CONFIG_COUNT"] == "1"


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True)


@given(env=st.dictionaries(names, st.text(st.characters(blacklist_characters="\0"), max_size=30), max_size=10))
def test_a_child_never_gets_what_counts_as_a_secret(env: dict[str, str]) -> None:
    child = child_env(env)
    assert not [name for name in env if name in child and child[name] == env[name] and is_secret(name, env[name])]
    assert all(isinstance(value, str) for value in child.values())
    again = child_env(child, trusted=True)
    assert {k: v for k, v in again.items() if k in child} == child

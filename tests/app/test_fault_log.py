"""The log of faults: without secrets, for its owner alone, bounded."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

import gongfu
from gongfu.app.faults import LIMIT, redactor
from gongfu.config.paths import Places
from tests.core.secret_cases import shapes

CONFIG = """
providers:
  mine:
    base_url: http://127.0.0.1:1/v1
    api_key: plainly-not-a-known-shape
    headers: {X-Proxy-Auth: house-of-cards}
"""


@pytest.fixture
def app(tmp_path: Path) -> gongfu.App:
    home = tmp_path / "g"
    home.mkdir()
    (home / "config.yaml").write_text(CONFIG)
    keys = home / "keys.yaml"
    keys.write_text("deepseek: filed-without-a-shape\n")
    keys.chmod(0o600)
    (tmp_path / "work").mkdir()
    env = {"HOME": str(tmp_path), "MOONSHOT_API_KEY": "env-without-a-shape", "DB_PASSWORD": "db-without-a-shape"}
    return gongfu.open(tmp_path / "work", home=home, env=env)


def test_no_secret_reaches_the_log(app: gongfu.App) -> None:
    said = [frame.format(secret) for _, secret, frame in shapes()]
    known = ["plainly-not-a-known-shape", "house-of-cards", "filed-without-a-shape", "env-without-a-shape"]
    known.append("db-without-a-shape")
    log = app.report("Traceback\n" + "\n".join([*said, *(f"<{key}>" for key in known)]) + "\nValueError: the end")
    text = log.read_text(encoding="utf-8")
    frames = "".join(frame for _, _, frame in shapes())
    assert not [secret for _, secret, _ in shapes() if secret in text and secret not in frames]
    assert not [key for key in known if key in text]
    assert text.count("<[secret key]>") == len(known)
    assert "ValueError: the end" in text
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_the_log_is_put_aside_when_it_is_long(app: gongfu.App) -> None:
    log = app.report("first")
    with log.open("ab") as out:
        out.truncate(LIMIT + 1)
    assert app.report("second") == log
    assert "second" in log.read_text()
    assert log.stat().st_size < 1000
    old = log.with_name("faults.old.log")
    assert old.stat().st_size == LIMIT + 1
    with log.open("ab") as out:
        out.truncate(LIMIT + 2)
    app.report("third")
    assert sorted(p.name for p in log.parent.iterdir()) == ["faults.log", "faults.old.log"]


def test_a_key_file_that_cannot_be_read_is_no_further_fault(app: gongfu.App) -> None:
    app.places.keys.write_text("{{{")
    assert "hello" in app.report("hello").read_text()
    app.places.keys.chmod(0o644)
    assert "again" in app.report("again").read_text()


def test_a_folder_that_a_variable_names_is_no_key(tmp_path: Path) -> None:
    take = redactor({"PASSWORD_STORE_DIR": "/home/ann/.password-store", "APP_TOKEN": "short"}, Places(home=tmp_path))
    assert take("in /home/ann/.password-store a short word") == "in /home/ann/.password-store a short word"

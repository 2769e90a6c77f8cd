"""The estimator: what holds of every text, images, calibration, and how close it comes to a real table."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.core.tokens import bytes_tokens, calibrated, image_tokens, text_tokens

SCRIPTS = "ab Zq09\n\t  _.,:;-=/(){}[]<>\"'`\\#é功夫，。のカ한글Приαβשع🙂\ud800"
TEXTS = st.one_of(st.text(max_size=300), st.text(alphabet=SCRIPTS, max_size=300))


@given(TEXTS, TEXTS)
def test_more_text_never_lowers_the_estimate_and_parts_add_up(one: str, two: str) -> None:
    whole = text_tokens(one + two)
    assert whole >= max(text_tokens(one), text_tokens(two))
    assert whole <= text_tokens(one) + text_tokens(two) <= whole + 2


@given(TEXTS)
def test_an_estimate_is_never_absurd(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    assert -(-size // 8) <= text_tokens(text) <= size * 9 // 8 + 1


@given(TEXTS, st.integers(0, 300))
def test_a_line_more_in_the_middle_is_not_free(text: str, at: int) -> None:
    assert text_tokens(text[:at] + "\none more line of words\n" + text[at:]) > text_tokens(text)


def test_nothing_costs_nothing_and_anything_costs_something() -> None:
    assert text_tokens("") == 0
    assert all(text_tokens(c) >= 1 for c in SCRIPTS)
    assert 500 <= text_tokens("a" * 4000) <= 550  # o200k: 500
    assert 140 <= text_tokens("功夫" * 100) <= 230


def test_the_estimate_is_the_same_in_another_process() -> None:
    text = "def f(x):\n    return x  # 功夫 42\n" * 50
    code = f"from gongfu.core.tokens import text_tokens; print(text_tokens({text!r}))"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert int(out) == text_tokens(text)


def test_images_by_the_providers_formulas() -> None:
    assert image_tokens(0, 0) == 1600
    assert image_tokens(512, 512) == max(255, -(-512 * 512 // 750))
    assert image_tokens(100, 4000) == image_tokens(4000, 100)
    assert image_tokens(4000, 4000) == 1600
    assert image_tokens(1, 1) == 255


@given(st.integers(0, 10**7), st.lists(st.floats(0, 100), max_size=9))
def test_calibration_is_the_worst_of_the_last_five_between_one_and_two(estimate: int, ratios: list[float]) -> None:
    got = calibrated(estimate, ratios)
    q = min(2.0, max(1.0, *ratios[-5:])) if ratios else 1.0
    assert estimate <= got <= 2 * estimate
    assert abs(got - estimate * q) <= 1 + estimate / 1000
    assert calibrated(estimate + 1, ratios) >= got


def test_calibration_and_bytes_by_example() -> None:
    assert calibrated(100, []) == 100
    assert calibrated(100, [0.5, 0.7]) == 100
    assert calibrated(100, [9.0]) == calibrated(100, [float("inf")]) == 200
    assert calibrated(100, [2.0, 1.1, 1.2, 1.1, 1.3, 1.1]) == 130
    assert [bytes_tokens(n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]


SAMPLES = {
    "English": """The fold keeps the newest words of the person as they were written, and moves what is older into a
note. Nothing is deleted: the whole text can be read again, and a summary says what was decided and why. If there is no
room left for the rules that must be delivered, the request is refused before anything is sent.
""",
    "Chinese": """看一下登录页的报错：用户点了提交按钮以后页面一片空白，控制台里没有任何输出。先不要改数据库的结构，
只修前端的逻辑，改完跑一遍测试。另外把 config.yaml 里的超时时间从 30 秒调到 60 秒，日志保留七天，别动其它配置文件。
""",
    "code": '''class Ledger:
    def __init__(self) -> None:
        self._known: dict[int, tuple[Message, int]] = {}

    def tokens(self, message: Message) -> int:
        """Estimated tokens of `message`."""
        known = self._known.get(id(message))
        if known is not None and known[0] is message:
            return known[1]
        return self._price(message, start=0, limit=4096)
''',
    "JSON": '{"id":"req_18","level":"info","items":[{"name":"main.py","size":1830,"tags":["a"]},{"name":"util.py"}]}\n',
    "log": "2026-11-30T14:27:21.093Z INFO [http.server] GET /api/v1/items/4711 200 took=12.7ms id=a93f00c1d2e4b587\n",
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_estimate_is_close_to_the_o200k_table(kind: str) -> None:
    """English and code within 10%, a single passage of the others within 20%."""
    openai = pytest.importorskip("rs_bpe.bpe", reason="there is no rs-bpe for this Python").openai
    text = SAMPLES[kind] * 5
    real = openai.o200k_base().count(text)
    assert abs(text_tokens(text) / real - 1) <= (0.10 if kind in ("English", "code") else 0.20)

"""Which encoding the bytes of a file are in, or that they are no text.

UTF-8 comes first, then marks and patterns of UTF-16 and UTF-32. What is left is judged by how plausible the
characters are in each of the old encodings of Chinese, Japanese, Korean, Cyrillic and Western text (a general
detector mistakes short Chinese files for Korean ones), then by charset-normalizer.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gongfu.core.base import Base

_SAMPLE = 65_536
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_CONTROLS = bytes(c for c in range(32) if c not in b"\t\n\r\f\b\x1b")
_HIGH = rb"[\x80-\xff]+"
_SEQUENCES = rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"

_CHINESE = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家"
    "种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十"
    "民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯"
    "月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女"
    "变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基"
    "读写配置测试错误函数返回类型参数值说明注释输输码编项件夹录数据库请求响应用户登录密码获取设置删除添加修改查询列表界"
)
_TRADITIONAL = frozenset(
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家"
    "種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日者意無力它與長把機十民"
    "第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西月話"
    "合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四"
    "神總何電數安少報才結反受目太量再感建務做接必場件計管期市直資命山金指許統區保至隊形社便空決治展馬科司五基讀寫設定"
    "測試錯誤函數返回類型參數值說明註釋檔案資料庫請求響應使用者登入密碼取得刪除新增修改查詢列表輸碼編項目錄料介面訊息"
)
_KOREAN = frozenset(
    "이다는의을에가고하를은로한사지도기리자어대정시인과서나그아해으있부장제수보전일적상스구주들라조원동만게안조면비고공"
    "성우여무유마오관경생중소신진와된습니까것내때문위파추용국민계화세실모개회분방치러미통음학데간출물발금식입선연양요당했"
    "명년반심점현글설테트파름읽쓰기함값류오호녕"
)
_USUAL = _CHINESE | _TRADITIONAL | _KOREAN | frozenset("，。、；：？！“”（）「」")


class Encoding(Base, frozen=True):
    """How bytes become text. `bom` is the mark at the beginning; `errors` "surrogateescape" keeps stray bytes."""

    codec: str
    bom: bytes = b""
    errors: str = "strict"

    def decode(self, raw: bytes) -> str:
        """All of `raw` but the mark."""
        return raw[len(self.bom) :].decode(self.codec, self.errors)


def detect(raw: bytes) -> Encoding | None:
    """The encoding of a file's bytes; None when they are no text. Decoding with it never fails."""
    marked = next((Encoding(codec=codec, bom=mark) for mark, codec in _MARKS if raw.startswith(mark)), None)
    if marked is not None and _decodes(raw, marked):
        return marked
    if b"\0" in raw:
        return _wide(raw)
    if _decodes(raw, Encoding(codec="utf-8")):
        return _unless_binary(raw, Encoding(codec="utf-8"))
    sample = _whole_lines(raw)
    if _is_broken_utf8(sample):
        return _unless_binary(raw, Encoding(codec="utf-8", errors="surrogateescape"))
    return _unless_binary(raw, _old(raw, sample))


def _decodes(raw: bytes, encoding: Encoding) -> bool:
    try:
        encoding.decode(raw)
    except UnicodeDecodeError:
        return False
    return True


def _unless_binary(raw: bytes, encoding: Encoding) -> Encoding | None:
    sample = raw[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if b"\0" in raw or controls * 20 > len(sample):
        return None
    return encoding


def _wide(raw: bytes) -> Encoding | None:
    """UTF-16 or UTF-32 without a mark: zeros stand where Western characters leave them."""
    for codec in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"):
        encoding, sample = Encoding(codec=codec), raw[:_SAMPLE]
        if len(raw) % (int(codec[4:6]) // 8) or not _decodes(sample, encoding):
            continue
        text = encoding.decode(sample)
        usual = sum(" " <= c <= "~" or c in "\r\n\t" or c in _USUAL for c in text)
        if "\0" not in text and usual * 2 > len(text) and _decodes(raw, encoding):
            return encoding
    return None


def _whole_lines(raw: bytes) -> bytes:
    """A sample that does not end in the middle of a character, if lines allow."""
    if len(raw) <= _SAMPLE:
        return raw
    end = max(raw.rfind(c, 0, _SAMPLE) for c in (b"\n", b" ", b","))  # never the second byte of a character
    return raw[: end + 1] if end > 0 else raw


def _is_broken_utf8(sample: bytes) -> bool:
    """Mostly UTF-8, with a few stray bytes: a file that was cut or pasted together."""
    good = len(re.findall(_SEQUENCES, sample))
    stray = len(re.findall(_HIGH, re.sub(_SEQUENCES, b" ", sample)))
    return good >= 3 and (stray <= 1 or stray * 5 <= good)


def _old(raw: bytes, sample: bytes) -> Encoding:
    """The most plausible of the old encodings; Latin-1 when none is, which holds any bytes."""
    runs = b" ".join(re.findall(_HIGH, sample)[:5000])
    best, best_score = "", 0.25
    for codecs, judge in _CANDIDATES:
        codec = next((c for c in codecs if _decodes(sample, Encoding(codec=c))), None)
        if codec is None:
            continue
        score = judge(sample.decode(codec), runs)
        if score > best_score:
            best, best_score = codec, score
    best = best or _by_library(sample) or "cp1252"
    for codec in (best, *(c for codecs, _ in _CANDIDATES if best in codecs for c in codecs)):
        if _decodes(raw, Encoding(codec=codec)):
            return Encoding(codec=codec)
    stray = Encoding(codec=best, errors="surrogateescape")
    if best not in ("cp1252", "latin-1") and _decodes(raw, stray):
        return stray
    return Encoding(codec="latin-1")


def _mean(text: str, value: Callable[[str], float]) -> float:
    scores = [value(c) for c in text[:20_000] if c > "\x7f"]
    return sum(scores) / len(scores) if scores else 0.0


def _hanzi(common: frozenset[str], codec: str, first: int, last: int, plain: float) -> Callable[[str, bytes], float]:
    def value(c: str) -> float:
        if c in common:
            return 1.5
        if c in "，。、；：？！“”‘’（）《》【】—…·「」『』\u3000":
            return 1.2
        code = int.from_bytes(c.encode(codec, "replace"), "big")
        if first <= code <= last and code & 0xFF >= 0x40:
            return plain
        return -0.3 if "\u4e00" <= c <= "\u9fff" else -1.0

    return lambda text, _: _mean(text, value)


def _kana(text: str, _: bytes) -> float:
    def value(c: str) -> float:
        if "\u3041" <= c <= "\u30fc":
            return 1.5
        if "\uff61" <= c <= "\uff9f":
            return -0.5
        if c in "、。「」（）　：！？・":
            return 1.2
        return 0.4 if "\u4e00" <= c <= "\u9fff" else -0.5

    score = _mean(text, value)
    return score if any("\u3041" <= c <= "\u30fc" for c in text) else score - 0.6


def _hangul(text: str, _: bytes) -> float:
    return _mean(text, lambda c: 1.5 if c in _KOREAN else 0.45 if "\uac00" <= c <= "\ud7a3" else -0.7)


def _cyrillic(text: str, _: bytes) -> float:
    def value(c: str) -> float:
        return 1.3 if c in "оеаинтсрвлкмдпу" else 0.9 if "а" <= c <= "ё" else 0.0 if "А" <= c <= "Я" else -1.0

    words = re.findall("[А-Яа-яё]+", text)
    odd = sum(len(w) == 1 for w in words) + sum(len(re.findall("[а-яё][А-Я]", w)) * 2 for w in words)
    few = 0.3 if sum(map(len, words)) < 5 else 0.0  # two letters are as well one Chinese character
    return _mean(text, value) - few - (odd / len(words) if words else 1.0)


def _western(text: str, runs: bytes) -> float:
    """Accented letters stand among plain ones; long runs of high bytes are no Western text."""
    pieces = runs.split(b" ")
    long = sum(len(p) > 2 for p in pieces) / len(pieces) if pieces else 1.0
    common = frozenset("äöüßÄÖÜéèêëàâáãåæçñíìîïóòôõøúùûýÉÀÇÑÅØ“”‘’«»–—…€£°·©®±µ§¿¡ºª²³½¼¾\u00a0")
    return _mean(text, lambda c: 1.0 if c in common else -0.2) - 2 * long


_CANDIDATES: tuple[tuple[tuple[str, ...], Callable[[str, bytes], float]], ...] = (
    (("gbk", "gb18030"), _hanzi(_CHINESE, "gbk", 0xB0A1, 0xD7F9, 0.7)),
    (("big5", "cp950", "big5hkscs"), _hanzi(_TRADITIONAL, "big5", 0xA440, 0xC67E, 0.5)),
    (("cp932",), _kana),
    (("euc_jp",), _kana),
    (("euc_kr", "cp949"), _hangul),
    (("cp1251",), _cyrillic),
    (("koi8_r",), _cyrillic),
    (("latin-1",), lambda text, runs: _western(text, runs) - (5 if re.search("[\x80-\x9f]", text) else 0)),
    (("cp1252",), lambda text, runs: _western(text, runs) - 0.01),
)


def _by_library(sample: bytes) -> str:
    from charset_normalizer import from_bytes  # slow to load, and only for what none of the above fits

    isolation = [
        "cp1250", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874", "iso8859_2",
        "iso8859_5", "iso8859_7", "iso8859_9", "cp866", "koi8_u", "mac_roman",
    ]  # fmt: skip
    best = from_bytes(sample, cp_isolation=isolation).best()
    return best.encoding if best is not None and _decodes(sample, Encoding(codec=best.encoding)) else ""

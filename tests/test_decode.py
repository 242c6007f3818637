"""Text and byte offsets of files in every encoding that occurs, and the refusal of what is no text."""

import codecs
import os
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragx.files import Document, NotText, content_hash, decode

NO_SURROGATES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)


@pytest.mark.parametrize(
    ("data", "text", "encoding", "start"),
    [
        (b"", "", "utf-8", 0),
        (b"\xef\xbb\xbf", "", "utf-8-bom", 3),
        (b"\xff\xfe", "", "utf-16-le", 2),
        (b"\xfe\xff", "", "utf-16-be", 2),
        (b"plain\n", "plain\n", "utf-8", 0),
        (b"\xef\xbb\xbf---\ntitle: x\n---\n", "---\ntitle: x\n---\n", "utf-8-bom", 3),
        (b"\xff\xfeh\x00i\x00", "hi", "utf-16-le", 2),
        (b"\xfe\xff\x00h\x00i", "hi", "utf-16-be", 2),
        (b"\xff\xfe\x3d\xd8\x00\xde!\x00", "\U0001f600!", "utf-16-le", 2),
        (b"one\rtwo\r\nthree\nfour", "one\rtwo\r\nthree\nfour", "utf-8", 0),
        (b"GIF89a is a format, %PDF-1.7 another", "GIF89a is a format, %PDF-1.7 another", "utf-8", 0),
        (b"\x1b[1mbold\x1b[0m N\x08NA\x08A\x0c", "\x1b[1mbold\x1b[0m N\x08NA\x08A\x0c", "utf-8", 0),
        ("e\u0301 \U0001f469\u200d\U0001f4bb".encode(), "e\u0301 \U0001f469\u200d\U0001f4bb", "utf-8", 0),
    ],
)
def test_text_of_whole_files(data: bytes, text: str, encoding: str, start: int) -> None:
    document = decode(data)
    assert (document.text, document.encoding, document.warning) == (text, encoding, "")
    assert document.byte_offsets([0, len(text)]) == [start, len(data)]


def test_latin1_file_keeps_its_letters() -> None:
    document = decode("Größe\nnaïve café\n".encode("latin-1"))
    assert document.text == "Größe\nnaïve café\n"
    assert document.encoding == "latin-1"
    assert document.warning == "read as Latin-1: 4 bytes are not UTF-8, the first in line 1"


def test_one_bad_byte_spoils_no_other_character() -> None:
    data = "première\nsecond 漢字 ".encode() + b"\xe9" + " fin 😀".encode()
    document = decode(data)
    assert document.text == "première\nsecond 漢字 é fin 😀"
    assert document.encoding == "utf-8+latin-1"
    assert document.warning == "read as Latin-1: 1 byte is not UTF-8, the first in line 2"
    at = document.text.index("é fin")
    assert document.byte_offsets([at, at + 1]) == [data.index(b"\xe9 fin"), data.index(b"\xe9 fin") + 1]


def test_utf8_that_encodes_a_surrogate_leaves_none_in_the_text() -> None:
    document = decode(b"a\xed\xa0\x80b")
    assert document.text == "a\u00ed\u00a0\u0080b"
    document.text.encode()


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("lone", ["\ud800", "\udfff", "\udfff\ud800", "\ud800\ud800"])
def test_lone_surrogates_of_utf16_become_replacement_characters(codec: str, lone: str) -> None:
    mark = codecs.BOM_UTF16_LE if codec == "utf-16-le" else codecs.BOM_UTF16_BE
    document = decode(mark + f"a{lone}😀{lone}".encode(codec, "surrogatepass"))
    bad = "\ufffd" * len(lone)
    assert document.text == f"a{bad}😀{bad}"
    assert document.warning.startswith(f"read as U+FFFD: {2 * len(lone)} lone surrogates are")
    ends = [2, 4, 4 + 2 * len(lone), 8 + 2 * len(lone), 8 + 4 * len(lone)]
    assert document.byte_offsets([0, 1, 1 + len(lone), 2 + len(lone), len(document.text)]) == ends


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\0", "binary"),
        (b"text\n" * 5000 + b"\0", "binary"),
        (b"\xef\xbb\xbfa\0b", "binary"),
        ("without a mark".encode("utf-16-le"), "binary"),
        (b"\xff\xfea\x00\x00\x00", "binary"),
        (b"\xff\xfea", "UTF-16 with an odd number of bytes"),
        ("text".encode("utf-32"), "UTF-32"),
        (codecs.BOM_UTF32_BE + "text".encode("utf-32-be"), "UTF-32"),
        (bytes(range(1, 32)), "binary: too many control characters"),
        (codecs.BOM_UTF16_LE + "\x01".encode("utf-16-le") * 20, "binary: too many control characters"),
        (b"\xfe\xff" + b"\xd8\x00\x00a" * 20, "binary: too much that is no UTF-16"),
    ],
)
def test_what_is_no_text_is_refused_with_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(NotText) as refused:
        decode(data)
    assert refused.value.reason == reason


@pytest.mark.parametrize("alphabet", [range(1, 256), range(0x80, 256)])
def test_noise_without_nul_bytes_is_refused(alphabet: range) -> None:
    data = bytes(random.Random(7).choices(alphabet, k=4096))
    with pytest.raises(NotText):
        decode(data)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "iso-8859-15", "cp1251"])
def test_text_in_a_single_byte_encoding_is_never_taken_for_noise(encoding: str) -> None:
    sample = "“Größe” – naïve, it’s Ærøskøbing… ‘ça’ €5. Съешь ещё этих мягких булок. ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏ"
    decode(sample.encode(encoding, "ignore") * 100)
    decode(b"it\x92s")


@given(st.binary(max_size=80))
def test_the_bytes_between_two_offsets_hold_the_characters_between_them(data: bytes) -> None:
    try:
        document = decode(data)
    except NotText:
        return
    document.text.encode()
    _check_offsets(data, document)


@given(NO_SURROGATES, st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"]))
def test_text_comes_back_from_every_encoding(text: str, codec: str) -> None:
    mark = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}.get(codec, b"")
    # In front of other text U+FEFF is a mark itself.
    text = "x" + text
    data = mark + text.encode(codec)
    try:
        document = decode(data)
    except NotText as refused:
        assert "control" in refused.reason
        return
    assert document.text == text
    assert document.warning == ""
    _check_offsets(data, document)


@given(st.text(st.characters(min_codepoint=0xA0, max_codepoint=0xFF) | st.sampled_from("etaoin \n"), max_size=60))
def test_offsets_of_latin1_text_count_single_bytes_unless_they_form_utf8(text: str) -> None:
    data = text.encode("latin-1")
    document = decode(data)
    if document.encoding == "latin-1":
        assert document.text == text
        assert document.byte_offsets(range(len(text) + 1)) == list(range(len(data) + 1))
    _check_offsets(data, document)


def _check_offsets(data: bytes, document: Document) -> None:
    offsets = document.byte_offsets(range(len(document.text) + 1))
    assert offsets[0] == {"utf-8-bom": 3, "utf-16-le": 2, "utf-16-be": 2}.get(
        document.encoding, 3 * data.startswith(codecs.BOM_UTF8)
    )
    assert offsets[-1] == len(data)
    for char, start, end in zip(document.text, offsets, offsets[1:], strict=False):
        piece = data[start:end]
        if document.encoding.startswith("utf-16"):
            assert piece.decode(document.encoding, "replace") == char
        else:
            assert char in (piece.decode("utf-8", "ignore"), piece.decode("latin-1"))
    some = list(range(0, len(offsets), 3))
    assert document.byte_offsets(some) == [offsets[char] for char in some]


def test_offsets_out_of_order_or_range_are_refused_not_guessed() -> None:
    document = decode("naïve".encode())
    assert document.byte_offsets([]) == []
    assert document.byte_offsets([1, 3, 3, 5]) == [1, 4, 4, 6]
    for wrong in ([3, 1], [0, 6], [-1]):
        with pytest.raises(ValueError, match="character offset"):
            document.byte_offsets(wrong)


def test_offsets_of_a_large_file_take_linear_time() -> None:
    document = decode("naïve 漢字 😀\n".encode() * 60_000)
    started = time.process_time()
    offsets = document.byte_offsets(range(0, len(document.text) + 1, 2))
    # Quadratic time would be minutes; the bound leaves room for a busy machine.
    assert time.process_time() - started < 5
    assert offsets[-1] == 60_000 * len("naïve 漢字 😀\n".encode())


def test_hash_depends_on_every_byte() -> None:
    assert content_hash(b"") == "99aa06d3014798d86001c324468d497f"
    data = os.urandom(1000)
    assert len(content_hash(data)) == 32
    assert content_hash(data) == content_hash(bytes(data))
    assert content_hash(data) != content_hash(data[:-1] + bytes([data[-1] ^ 1]))

"""From bytes to chunks and back: every chunk is an exact slice of the file, and together they cover all but blanks."""

from hypothesis import given
from hypothesis import strategies as st

from ragx.chunking import chunk
from ragx.files import NotText, decode
from tests.counters import Words

LINE_ENDS = ("\n", "\r\n", "\r")
LINES = (
    "# Title",
    "Some words of prose, ä 猫 🎉.",
    "```",
    "- item",
    "",
    "    indented",
    "Setext",
    "===",
    "---",
    "a: b",
)
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "latin-1")
BOMS = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}

documents = st.builds(
    lambda lines, ends, encoding: (
        BOMS.get(encoding, b"")
        + "".join(line + end for line, end in zip(lines, ends, strict=False)).encode(encoding, "replace")
    ),
    st.lists(st.sampled_from(LINES), max_size=30),
    st.lists(st.sampled_from(LINE_ENDS), min_size=30, max_size=30),
    st.sampled_from(ENCODINGS),
)
broken = st.builds(
    lambda data, junk, at: data[:at] + junk + data[at:], documents, st.binary(max_size=3), st.integers(0, 200)
)


def read_as(data: bytes, encoding: str) -> str:
    """The slice of a file as `decode` reads it, independent of it: a bad byte of UTF-8 is Latin-1."""
    if encoding.startswith("utf-16"):
        return data.decode(encoding, "replace")
    text = data.decode("utf-8", "surrogateescape")
    return "".join(chr(ord(sign) - 0xDC00) if 0xDC80 <= ord(sign) <= 0xDCFF else sign for sign in text)


@given(data=documents | broken | st.binary(max_size=200), kind=st.sampled_from(["markdown", "text", "python"]))
def test_chunks_are_exact_slices_of_the_bytes_and_cover_them(data: bytes, kind: str) -> None:
    try:
        document = decode(data)
    except NotText:
        return
    spans = chunk(document.text, kind, Words(), 12, 0.2)
    covered = [False] * len(document.text)
    for span in spans:
        start, end = document.byte_offsets([span.start, span.end])
        assert read_as(data[start:end], document.encoding) == document.text[span.start : span.end]
        covered[span.start : span.end] = [True] * (span.end - span.start)
    assert all(here or sign.isspace() or sign == "\ufeff" for here, sign in zip(covered, document.text, strict=True))
    assert [span.start for span in spans] == sorted(span.start for span in spans)

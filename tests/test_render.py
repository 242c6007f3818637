"""The text output: golden files, and that nothing that stands in a corpus reaches the terminal as an order."""

import io
import os
import pty
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from ragx.diagnosis import Drift
from ragx.render.progress import rate, watch
from ragx.render.snippet import Match, Piece, matches, snippet, wanted_terms
from ragx.render.summary import index_text, status_text
from ragx.render.terminal import View, view, visible
from ragx.render.text import counted, files_text, global_text, query_text
from ragx.text import query_terms, terms
from tests.rendered import ANSWER, COMMUNITIES, REPORT, RESTORE, STATUS, WITH_CONTEXT, WRITTEN, golden

PIPE = View()
TERMINAL = View(terminal=True, color=True, width=60)


def wanted(query: str, *languages: str) -> frozenset[str]:
    found = query_terms(query, languages or ("en",))
    return wanted_terms(frozenset(term.term for token in found for term in token), languages or ("en",))


def shown(rows: list[tuple[Piece, ...]]) -> list[str]:
    return ["".join(f"[{piece.text}]" if piece.marked else piece.text for piece in row) for row in rows]


def marked(text: str, query: str, language: str = "en") -> list[str]:
    return [text[match.start : match.end] for match in matches(text, language, wanted(query, language))]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("query.txt", query_text(ANSWER, PIPE, explain=False)),
        ("query_terminal.txt", query_text(ANSWER, TERMINAL, explain=False)),
        ("query_explain.txt", query_text(ANSWER, PIPE, explain=True)),
        ("query_context.txt", query_text(WITH_CONTEXT, PIPE, explain=False)),
        ("query_context_terminal.txt", query_text(WITH_CONTEXT, TERMINAL, explain=False)),
        ("global.txt", global_text(ANSWER, COMMUNITIES, PIPE)),
        ("global_terminal.txt", global_text(ANSWER, COMMUNITIES, TERMINAL)),
        ("global_answer.txt", global_text(WRITTEN, COMMUNITIES, PIPE)),
        ("files.txt", files_text(ANSWER, 3, PIPE)),
        ("files_terminal.txt", files_text(ANSWER, 2, TERMINAL)),
        ("index.txt", index_text(REPORT, PIPE, name_files=False)),
        ("index_verbose.txt", index_text(REPORT, PIPE, name_files=True)),
        ("index_dry_run.txt", index_text(replace(REPORT, changed=False, dry_run=True), PIPE, name_files=False)),
        ("index_up_to_date.txt", index_text(replace(REPORT, changed=False), PIPE, name_files=False)),
        ("status.txt", status_text(STATUS, PIPE, pending=False)),
        ("status_pending.txt", status_text(STATUS, PIPE, pending=True)),
    ],
)
def test_each_output_is_what_its_golden_file_says(name: str, text: str) -> None:
    assert f"{text}\n" == golden(name)


def test_a_pipe_gets_no_escape_and_a_terminal_only_ours() -> None:
    ours = re.compile(r"\x1b\[(?:1|2|22|35|39)m")
    for answer, explain in ((ANSWER, False), (ANSWER, True), (WITH_CONTEXT, False)):
        assert "\x1b" not in query_text(answer, PIPE, explain=explain)
        on_terminal = query_text(answer, TERMINAL, explain=explain)
        assert "\x1b" in on_terminal
        assert "\x1b" not in ours.sub("", on_terminal)


def test_paths_are_as_the_reader_can_open_them_from_a_subfolder() -> None:
    inside = View(folder="docs/deep")
    assert inside.place("docs/deep/a.md") == "a.md"
    assert inside.place("docs/b.md") == "../b.md"
    assert inside.place("c.md") == "../../c.md"
    assert inside.place(".git/") == "../../.git/"
    assert PIPE.place("docs/b.md") == "docs/b.md"


def test_a_view_is_plain_without_a_terminal_with_no_color_and_on_a_dumb_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    assert view(io.StringIO(), tmp_path, tmp_path) == View(width=80)
    controller, terminal = pty.openpty()
    with open(terminal, "w", encoding="utf-8") as stream:
        assert view(stream, tmp_path, tmp_path / "docs") == View(True, True, 100, "docs")
        monkeypatch.setenv("NO_COLOR", "1")
        assert view(stream, tmp_path, tmp_path) == View(True, False, 100)
        monkeypatch.setenv("NO_COLOR", "")
        assert view(stream, tmp_path, tmp_path).color
        monkeypatch.setenv("TERM", "dumb")
        assert view(stream, tmp_path, tmp_path) == View(True, False, 100)
        monkeypatch.setenv("COLUMNS", "1")
        assert view(stream, tmp_path, tmp_path.parent).width == 20
    os.close(controller)


def test_the_snippet_is_where_most_words_of_the_query_are() -> None:
    rows = snippet(RESTORE, "en", wanted("restore backups"), 76, headings=("Operations", "Restore"))
    assert shown(rows) == [
        "Every night a dump is written to the second disk and kept for thirty days.",
        "To [restore] a [backup], stop the server first and hand the newest dump to",
        "`[pg_restore] --clean`; [restoring] takes ten minutes. The log says when it is…",
    ]


def test_the_snippet_is_not_the_first_line_of_the_chunk() -> None:
    text = "".join(f"Line {number}.\n" for number in range(9)) + "A backup.\nLast.\nEnd.\n"
    assert shown(snippet(text, "en", wanted("backups"), 40)) == ["Line 8.", "A [backup].", "Last."]


def test_without_a_word_of_the_query_the_snippet_is_the_beginning_without_the_heading() -> None:
    rows = snippet(
        "# Restore\n\nOne.\n\n---\nTwo.\nThree.\nFour.\nFive.\n", "en", frozenset(), 40, headings=("Restore",)
    )
    assert shown(rows) == ["One.", "Two.", "Three."]


def test_a_chunk_that_is_only_its_heading_shows_it() -> None:
    assert shown(snippet("# Restore\n\n---\n", "en", frozenset(), 40, headings=("Restore",))) == ["# Restore", "---"]
    assert snippet("\n \t\n", "en", frozenset(), 40) == []


def test_function_words_are_marked_only_if_the_query_has_nothing_else() -> None:
    text = "the server and the backup"
    assert marked(text, "what is the backup") == ["backup"]
    assert marked(text, "the") == ["the", "the"]


@pytest.mark.parametrize(
    ("text", "query", "language", "found"),
    [
        ("Backups were restored", "restore a backup", "en", ["Backups", "restored"]),
        ("Die Häuser sind alt", "haus", "de", ["Häuser"]),
        ("call parse_config(path)", "parse_config", "en", ["parse_config"]),
        ("settings.parse_config(x)", "parse", "en", ["parse_config"]),
        ("src/ragx/cli.py", "cli", "en", ["cli"]),
        ("since v2.10.3 it", "v2.10.3", "en", ["v2.10.3"]),
        ("C and C++ code", "C++", "en", ["C++"]),
        ("read .env first", ".env", "en", [".env"]),
        ("café, cafe\u0301, CAFE", "cafe", "en", ["café", "cafe\u0301", "CAFE"]),
        ("re\u00adstore", "restore", "en", ["re\u00adstore"]),
        ("全文検索器です", "検索", "ja", ["検索"]),
        ("Kubernetes集群的管理", "集群", "zh", ["集群"]),
        ("猫が好き", "猫は", "ja", ["猫"]),
        ("قال مرحبا بالعالم", "مرحبا", "ar", ["مرحبا"]),
        ("party 🎉 now", "🎉", "en", ["🎉"]),
    ],
)
def test_words_are_marked_as_the_keyword_index_matches_them(
    text: str, query: str, language: str, found: list[str]
) -> None:
    assert marked(text, query, language) == found


def test_code_keeps_its_lines_and_prose_is_broken_anew() -> None:
    text = "a line of text that is too long for it\nand goes on\n- an item\n1. another"
    assert shown(snippet(text, "en", frozenset(), 24)) == [
        "a line of text that is",
        "too long for it and",
        "goes on",
    ]
    assert shown(snippet(text, "", frozenset(), 24, prose=False)) == [
        "a line of text that is",
        "too long for it",
        "and goes on",
    ]


def test_a_line_without_spaces_is_cut_around_the_word() -> None:
    (row, *_) = shown(snippet("x" * 500 + "(backup)" + "y" * 500, "en", wanted("backup"), 40))
    assert cell_len(row.replace("[", "").replace("]", "")) <= 40
    assert "[backup]" in "".join(shown(snippet("x" * 500 + "(backup)" + "y" * 500, "en", wanted("backup"), 40)))


awkward = st.text(
    st.sampled_from(
        "ab \t\n\r\x0b\x00\x1b[31m\x9b\u2028\u202e\u200d\ufe0fe\u0301\u0430日本検索한글กษאבגم🇩🇪👍🏽👨❤#-=|.:"
    )
)
words = st.lists(st.sampled_from(["backup", "Backups", "parse_config", "検索", "日本", "e\u0301a", "\u05d0\u05d1"]))


@st.composite
def passages(draw: st.DrawFn) -> str:
    parts = draw(st.lists(awkward | st.text(max_size=30) | words.map(" ".join), max_size=12))
    return "".join(parts)


@given(passages(), st.sampled_from(["", "en", "de", "ja", "xx"]), st.integers(20, 120), st.booleans())
@example("\U0001f1e9" * 50 + " backup", "en", 20, True)
@example("a" + "\u0301" * 500, "en", 20, True)
def test_a_snippet_never_fails_fits_its_width_holds_no_control_and_marks_only_the_text(
    text: str, language: str, width: int, prose: bool
) -> None:
    query = wanted("backup parse_config 検索 日本 אב éa", "en", "ja")
    rows = snippet(text, language, query, width, headings=("backup",), prose=prose)
    assert len(rows) <= 4
    for row in rows:
        line = "".join(piece.text for piece in row)
        assert cell_len(line) <= width
        assert not any(unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") for sign in line)
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", line)
        for piece in row:
            if piece.marked:
                assert piece.text in visible(text)


@given(passages(), st.sampled_from(["", "en", "ja"]))
def test_matches_stand_in_order_do_not_overlap_and_are_words_of_the_query(text: str, language: str) -> None:
    query = wanted("backup parse_config 検索 日本 אב éa", "en", "ja")
    end = 0
    for match in matches(text, language, query):
        assert end <= match.start < match.end <= len(text)
        end = match.end
        assert query & {term.term for term in terms(text[match.start : match.end], language)}


def test_no_terms_no_matches() -> None:
    assert matches("backup", "en", frozenset()) == []
    assert matches("a backup", "en", frozenset({"backup"})) == [Match(2, 8, "backup")]


def test_drift_of_nothing_is_said_so() -> None:
    settled = replace(STATUS, drift=Drift((), (), ()), languages={}, skipped=())
    lines = status_text(settled, PIPE, pending=True).splitlines()
    assert lines[-1] == "drift       none"
    assert "languages   none" in lines


def test_numbers_agree_with_their_nouns() -> None:
    assert [counted(number, "community") for number in (0, 1, 1186)] == [
        "0 communities",
        "1 community",
        "1,186 communities",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run_stages(stream: io.StringIO, *, quiet: bool) -> str:
    with watch(quiet=quiet, stream=stream) as progress:
        progress.stage("looking for files", None, "files")
        progress.stage("embedding", 1186, "texts")
        progress.advance(12)
        progress.warn("odd \x1b[2J [bold]name")
        progress.stage("measuring", 0, "texts")
        progress.advance(1)
        progress.stage("reading", 1, "files")
    return stream.getvalue()


def test_an_agent_s_transcript_gets_a_line_a_stage_and_no_bar() -> None:
    assert run_stages(io.StringIO(), quiet=False) == (
        "looking for files\nembedding: 1,186 texts\nwarning: odd \\x1b[2J [bold]name\nreading: 1 file\n"
    )


def test_a_dumb_terminal_gets_lines_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in run_stages(Terminal(), quiet=False)


def test_quiet_is_quiet() -> None:
    assert run_stages(Terminal(), quiet=True) == ""


def test_a_terminal_gets_a_bar_with_the_stage_and_harmless_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    written = run_stages(Terminal(), quiet=False)
    assert "warning: odd \\x1b[2J [bold]name" in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written)
    assert "\x1b[2J" not in written


def test_the_rate_leaves_out_what_is_not_known() -> None:
    assert rate(0, None, None, "files") == ""
    assert rate(0, 1186, None, "texts") == "0/1,186 texts"
    assert rate(120, 1186, 24.06, "texts") == "120/1,186 texts, 24.1/s"


class Gone(io.StringIO):
    def write(self, text: str, /) -> int:
        raise BrokenPipeError


def test_a_reader_of_stderr_that_went_away_ends_no_run() -> None:
    assert run_stages(Gone(), quiet=False) == ""


@pytest.fixture(autouse=True)
def no_color_of_the_shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    yield

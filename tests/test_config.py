"""Settings: what files may say, which file wins, and that changing one value changes nothing else."""

import math
import os
import stat
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragx.config import SETTINGS, Config, find_root, index_dir, initial_toml, load, parse_value, set_value
from ragx.config.load import accept, allowed, takes_auto, value_type, values_in
from ragx.config.settings import MACHINE_ONLY_SECTIONS, Index, Setting
from ragx.config.toml import to_json, to_toml
from ragx.errors import ConfigError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("RAGX_DIR", raising=False)
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    return folder


def refusal(corpus: Path, text: str) -> str:
    (corpus / "ragx.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load(corpus)
    message = f"{caught.value.message}; {caught.value.hint}".removesuffix("; ").replace(f"{corpus}/", "")
    assert "\n" not in message
    return message


def test_without_any_file_all_values_are_defaults(corpus: Path) -> None:
    loaded = load(corpus)
    assert loaded.config == Config()
    assert set(loaded.sources) == set(SETTINGS)
    assert set(loaded.sources.values()) == {"default"}
    assert load(None).root is None


def test_every_default_obeys_its_own_rule_and_every_number_has_a_range() -> None:
    for row in SETTINGS.values():
        assert accept(row, to_json(row.default)) == row.default, row.name
        if value_type(row) in (int, float):
            assert row.rule.low is not None and row.rule.high is not None, row.name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[grpah]\nk = 8", "ragx.toml: unknown section [grpah]; did you mean [graph]?"),
        ("[graph]\nkk = 8", "ragx.toml: unknown setting graph.kk; did you mean graph.k?"),
        ("[graph]\ndecay = 0.5", "ragx.toml: unknown setting graph.decay; did you mean traversal.decay?"),
        ("[rerank]\nmodle = 'x'", "ragx.toml: unknown setting rerank.modle; did you mean rerank.model?"),
        ("[query]\nzzzzzz = 1", "ragx.toml: unknown setting query.zzzzzz; ragx config list"),
        ("max_frontier = 3", "ragx.toml: unknown setting max_frontier; did you mean traversal.max_frontier?"),
        ("graph = 3", "ragx.toml: graph = 3: expected a section [graph]"),
        ("[[graph]]\nk = 8", "ragx.toml: graph = [{k = 8}]: expected a section [graph]"),
        ("[graph]\nk = 'eight'", 'ragx.toml: graph.k = "eight": expected a whole number from 1 to 100'),
        ("[graph]\nk = 8.0", "ragx.toml: graph.k = 8.0: expected a whole number from 1 to 100"),
        ("[graph]\nk = true", "ragx.toml: graph.k = true: expected a whole number from 1 to 100"),
        ("[graph]\nk = 0", "ragx.toml: graph.k = 0: expected a whole number from 1 to 100"),
        (
            "[graph]\nmin_edge_sim = nan",
            'ragx.toml: graph.min_edge_sim = nan: expected a number from -1 to 1, or "auto"',
        ),
        (
            "[graph]\nmin_edge_sim = true",
            'ragx.toml: graph.min_edge_sim = true: expected a number from -1 to 1, or "auto"',
        ),
        ("[graph]\nk = 'auto'", 'ragx.toml: graph.k = "auto": expected a whole number from 1 to 100'),
        ("[rerank]\nenabled = 1", "ragx.toml: rerank.enabled = 1: expected true or false"),
        ("[rerank]\nenabled = 'maybe'", 'ragx.toml: rerank.enabled = "maybe": expected true or false'),
        ("[rerank]\ndepth = -3", 'ragx.toml: rerank.depth = -3: expected a whole number from 1 to 1000, or "auto"'),
        ("[fusion]\nmethod = 'banana'", 'ragx.toml: fusion.method = "banana": expected one of convex, rrf'),
        ("[corpus]\ninclude = '*.md'", 'ragx.toml: corpus.include = "*.md": expected a list of strings'),
        ("[corpus]\ninclude = ['a', 1]", 'ragx.toml: corpus.include = ["a", 1]: expected a list of strings'),
        ("[embeddings]\nmodel = 2026-03-31", "ragx.toml: embeddings.model = 2026-03-31: expected text"),
        (
            "[index]\npath = '/tmp'",
            "ragx.toml: index.path belongs to the machine, not to a corpus; ragx config set --global index.path VALUE",
        ),
    ],
)
def test_a_wrong_value_is_one_line_with_file_key_value_and_what_is_allowed(
    corpus: Path, text: str, message: str
) -> None:
    assert refusal(corpus, text) == message


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[graph]\nk 8\n", "line 2, column 3"),
        ("[graph]\r\nk = 8\r\nb = \r\n", "line 3, column 5"),
        ("[graph", "line 1, column 7"),
        ("[graph]\nk = 1\nk = 2\n", "line 3, column 6"),
    ],
)
def test_malformed_toml_is_one_line_with_line_and_column(corpus: Path, text: str, place: str) -> None:
    message = refusal(corpus, text)
    assert message.startswith(f"ragx.toml, {place}: malformed TOML: "), message
    assert "(at " not in message


def test_toml_that_breaks_the_parser_itself_is_still_one_line(corpus: Path) -> None:
    assert "malformed TOML" in refusal(corpus, f"a = {'[' * 5000}")
    assert "malformed TOML" in refusal(corpus, f"a = {'1' * 5000}")


def test_a_ragx_toml_that_is_no_readable_text_is_one_line(corpus: Path) -> None:
    path = corpus / "ragx.toml"
    path.write_bytes(b"[graph]\n# caf\xe9\n")
    with pytest.raises(ConfigError, match="is not UTF-8: byte 13 "):
        load(corpus)
    path.unlink()
    path.mkdir()
    with pytest.raises(ConfigError, match="is not a file"):
        load(corpus)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(ConfigError, match="is not a file"):
        load(corpus)
    path.unlink()
    path.symlink_to("nowhere")
    with pytest.raises(ConfigError, match=r"cannot read .*: No such file or directory"):
        load(corpus)


def test_a_byte_order_mark_before_the_first_section_is_no_error(corpus: Path) -> None:
    (corpus / "ragx.toml").write_bytes(b"\xef\xbb\xbf[graph]\r\nk = 9\r\n")
    assert load(corpus).config.graph.k == 9
    set_value(corpus / "ragx.toml", "graph.k", 10)
    assert load(corpus).config.graph.k == 10


def test_integers_serve_as_numbers_and_auto_as_unset(corpus: Path) -> None:
    (corpus / "ragx.toml").write_text(
        '[chunking]\noverlap = 0\n[traversal]\nhops = "auto"\n[embeddings]\ndoc_prefix = ""\nquery_prefix = "auto"\n'
    )
    config = load(corpus).config
    assert config.chunking.overlap == 0.0 and isinstance(config.chunking.overlap, float)
    assert config.traversal.hops is None
    assert config.embeddings.doc_prefix == ""
    assert config.embeddings.query_prefix is None


def test_the_machine_file_wins_and_says_so_where_it_overrides(corpus: Path, home: Path) -> None:
    (corpus / "ragx.toml").write_text('[embeddings]\nmodel = "a"\n[rerank]\nenabled = false\n[graph]\nk = 9\n')
    (home / ".ragxrc").write_text('[embeddings]\nmodel = "b"\nquery_prefix = "q: "\n[rerank]\nenabled = false\n')
    loaded = load(corpus)
    assert loaded.config.embeddings.model == "b"
    assert loaded.config.graph.k == 9
    assert loaded.warnings == ('~/.ragxrc sets embeddings.model = "b", which overrides "a" in ragx.toml',)
    assert loaded.sources["embeddings.model"] == "~/.ragxrc"
    assert loaded.sources["embeddings.query_prefix"] == "~/.ragxrc"
    assert loaded.sources["graph.k"] == "ragx.toml"
    assert loaded.sources["query.top"] == "default"


def test_the_machine_file_holds_no_setting_of_a_corpus(corpus: Path, home: Path) -> None:
    (home / ".ragxrc").write_text("[graph]\nk = 9\n")
    with pytest.raises(ConfigError) as caught:
        load(corpus)
    assert caught.value.message == (
        f"{home}/.ragxrc: graph.k belongs to a corpus: "
        "~/.ragxrc holds only [embeddings], [expansion], [rerank], [index]"
    )


def test_without_home_there_is_no_machine_file(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    assert load(corpus).config == Config()


def test_the_root_is_the_nearest_folder_with_a_ragx_toml_else_with_an_index(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    assert find_root(deep) is None
    (tmp_path / "a" / ".ragx").mkdir()
    assert find_root(deep) is None, "an empty .ragx is no corpus"
    (tmp_path / "a" / ".ragx" / "index.duckdb").touch()
    assert find_root(deep) == tmp_path / "a"
    (tmp_path / "ragx.toml").touch()
    assert find_root(deep) == tmp_path
    (tmp_path / "a" / "b" / "ragx.toml").touch()
    assert find_root(deep) == tmp_path / "a" / "b"
    assert find_root(tmp_path / "a" / "b" / "nowhere" / "..") == tmp_path / "a" / "b"


def test_two_corpora_never_share_an_index_folder(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = tmp_path / "x" / "notes", tmp_path / "y" / "notes"
    assert index_dir(one, Config()) == one / ".ragx"
    moved = Config(index=Index(path="~/indexes"))
    assert index_dir(one, moved).parent == home / "indexes"
    assert index_dir(one, moved).name.startswith("notes-")
    assert index_dir(one, moved) != index_dir(two, moved)
    assert index_dir(one, Config(index=Index(path="indexes"))) == index_dir(one, moved)
    monkeypatch.setenv("RAGX_DIR", str(tmp_path / "z"))
    assert index_dir(one, moved) == tmp_path / "z"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("graph.k", "12", 12),
        ("graph.min_edge_sim", "-0.5", -0.5),
        ("graph.min_edge_sim", "1", 1.0),
        ("rerank.enabled", "False", False),
        ("rerank.depth", "auto", None),
        ("embeddings.doc_prefix", "", ""),
        ("embeddings.doc_prefix", "search: ", "search: "),
        ("embeddings.doc_prefix", "auto", None),
        ("corpus.include", "*.md, *.txt,", ("*.md", "*.txt")),
        ("corpus.include", '["a,b.md", "*.txt"]', ("a,b.md", "*.txt")),
        ("corpus.exclude", "", ()),
    ],
)
def test_values_of_the_command_line_get_their_type(name: str, text: str, value: object) -> None:
    parsed = parse_value(name, text)
    assert parsed == value and type(parsed) is type(value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("graph.k", "abc"),
        ("graph.k", "-4"),
        ("graph.k", "8.5"),
        ("graph.k", "1" * 5000),
        ("graph.k", ""),
        ("graph.min_edge_sim", "nan"),
        ("graph.min_edge_sim", "inf"),
        ("rerank.enabled", "maybe"),
        ("fusion.method", "banana"),
        ("corpus.include", "[1, 2]"),
        ("corpus.include", '["a'),
        ("corpus.include", "[" * 100_000),
        ("graph.nope", "1"),
        ("graph", "1"),
    ],
)
def test_values_of_the_command_line_are_checked(name: str, text: str) -> None:
    with pytest.raises(ConfigError):
        parse_value(name, text)


def test_a_new_ragx_toml_sets_nothing_and_shows_every_default() -> None:
    text = initial_toml()
    assert not any(tomllib.loads(text).values())
    live = "\n".join(line.removeprefix("# ") for line in text.splitlines() if " = " in line or line.startswith("#  "))
    for row in SETTINGS.values():
        if row.section not in MACHINE_ONLY_SECTIONS:
            assert f"{row.key} = " in live and allowed(row) in text, row.name


def test_setting_a_default_of_a_new_ragx_toml_uncomments_it_in_place(corpus: Path) -> None:
    path = corpus / "ragx.toml"
    path.write_text(initial_toml())
    set_value(path, "graph.k", 12)
    set_value(path, "communities.seed", 7)
    set_value(path, "corpus.exclude", ("a/", "b c.md"))
    set_value(path, "traversal.hops", None)
    changed = [line for line in path.read_text().splitlines() if line not in initial_toml().splitlines()]
    assert changed == ['exclude = ["a/", "b c.md"]', "k = 12", "seed = 7", 'hops = "auto"']
    assert "(or sub-chunk) is linked to [a whole number from 1 to 100]\nk = 12\n# what" in path.read_text()


HAND_WRITTEN = """\
# ours
[graph]  # the graph
k = 9    # nine
# the end of graph

# about leiden
[communities]
# resolution = 2.0
note = '''
# seed = 3
'''

# models
[embeddings]
model = "a" """


def test_comments_and_order_of_a_hand_written_file_survive(corpus: Path) -> None:
    path = corpus / "ragx.toml"
    path.write_text(HAND_WRITTEN)
    set_value(path, "graph.k", 10)
    set_value(path, "graph.min_edge_sim", 0.25)
    set_value(path, "communities.seed", 5)
    set_value(path, "embeddings.query_prefix", "q: ")
    set_value(path, "query.top", 3)
    assert path.read_text().splitlines() == [
        "# ours",
        "[graph]  # the graph",
        "k = 10    # nine",
        "# the end of graph",
        "min_edge_sim = 0.25",
        "",
        "# about leiden",
        "[communities]",
        "# resolution = 2.0",
        "note = '''",
        "# seed = 3",
        "'''",
        "seed = 5",
        "",
        "# models",
        "[embeddings]",
        'model = "a" ',
        'query_prefix = "q: "',
        "",
        "[query]",
        "top = 3",
    ]


@pytest.mark.parametrize("text", ["graph.k = 9\nquery.top = 4\n", "graph = {k = 9}\n[query]\ntop = 4\n"])
def test_dotted_and_inline_sections_can_be_changed(corpus: Path, text: str) -> None:
    path = corpus / "ragx.toml"
    path.write_text(text)
    set_value(path, "graph.min_edge_sim", 0.5)
    set_value(path, "graph.k", 10)
    set_value(path, "query.max_chunk_chars", 50)
    assert values_in(path, machine=False) == {
        "graph.k": 10, "graph.min_edge_sim": 0.5, "query.top": 4, "query.max_chunk_chars": 50
    }  # fmt: skip


def test_line_ends_mode_and_symlink_of_a_changed_file_survive(corpus: Path, home: Path) -> None:
    real = home / "dotfile"
    real.write_bytes(b"# one\r\n[rerank]\r\nenabled = true\r\n")
    real.chmod(0o640)
    link = home / ".ragxrc"
    link.symlink_to(real)
    set_value(link, "rerank.depth", 30, private=True)
    assert link.is_symlink()
    assert real.read_bytes() == b"# one\r\n[rerank]\r\nenabled = true\r\ndepth = 30\r\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert sorted(path.name for path in home.iterdir()) == [".ragxrc", "dotfile"]


def test_a_new_machine_file_is_for_its_owner_only(home: Path) -> None:
    set_value(home / ".ragxrc", "embeddings.model", "m", private=True)
    assert stat.S_IMODE((home / ".ragxrc").stat().st_mode) == 0o600
    assert (home / ".ragxrc").read_text() == '[embeddings]\nmodel = "m"\n'


def test_a_wrong_value_can_be_mended_by_setting_it(corpus: Path) -> None:
    path = corpus / "ragx.toml"
    path.write_text("[graph]\nk = 'eight'\n")
    set_value(path, "graph.k", 8)
    assert load(corpus).config.graph.k == 8


def _values(row: Setting) -> st.SearchStrategy[Any]:
    text = st.text(st.characters(exclude_categories=["Cs"]))
    rule, kind = row.rule, value_type(row)
    if rule.choices:
        values: st.SearchStrategy[Any] = st.sampled_from(rule.choices)
    elif kind is bool:
        values = st.booleans()
    elif kind is int:
        values = st.integers(math.ceil(rule.low or 0), math.floor(rule.high or 0))
    elif kind is float:
        values = st.floats(rule.low, rule.high)
    elif row.key == "api_key_env":
        values = st.from_regex(r"\A[A-Za-z_][A-Za-z_0-9]*\Z").filter(lambda value: value != "auto")
    elif kind is str:
        values = text.filter(lambda value: value != "auto")
    else:
        values = st.lists(text).map(tuple)
    return st.none() | values if takes_auto(row) else values


changes = st.lists(
    st.sampled_from([row for row in SETTINGS.values() if row.section not in MACHINE_ONLY_SECTIONS]).flatmap(
        lambda row: st.tuples(st.just(row.name), _values(row))
    ),
    max_size=6,
)


@given(changes, st.sampled_from(["", initial_toml(), initial_toml().replace("\n", "\r\n"), "graph.k = 3\n"]))
def test_any_changes_give_exactly_those_values_and_lose_no_comment(changes: list[tuple[str, Any]], text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ragx.toml"
        path.write_bytes(text.encode())
        expected = values_in(path, machine=False)
        for name, value in changes:
            set_value(path, name, value)
            expected[name] = value
        assert values_in(path, machine=False) == expected
        left = path.read_text().splitlines()
        lost = [line for line in text.splitlines() if line.startswith("# ") and line not in left]
        keys = {name.partition(".")[2] for name, _ in changes}
        assert all(line.startswith(("#  ", "# ]")) or line[2:].partition(" = ")[0] in keys for line in lost)


@given(st.sampled_from(list(SETTINGS.values())).flatmap(lambda row: st.tuples(st.just(row), _values(row))))
def test_a_printed_value_reads_back_as_itself(case: tuple[Setting, Any]) -> None:
    row, value = case
    assert accept(row, tomllib.loads(f"value = {to_toml(value)}")["value"]) == value

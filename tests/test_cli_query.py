"""`index`, `query` and `status` as processes on a small corpus with the real models: stdout, stderr and exit code."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragx
from tests.rendered import valid
from tests.terminals import terminal

PACKAGE = str(Path(ragx.__file__).parent.parent)
TOPICS = {
    "apples": "Apples keep for months in a cool cellar if none of them touches its neighbour.",
    "bees": "A hive of bees swarms in May when the old queen leaves with half of the workers.",
    "bicycle": "Oil the bicycle chain after rain and wipe it dry before the next ride.",
    "bread": "Bread rises twice: the dough rests in the bowl first and in the tin afterwards.",
    "candles": "Candles burn longer when the wick is trimmed to a quarter of an inch.",
    "chimney": "The chimney sweep comes in autumn and writes down what he found in the flue.",
    "clocks": "Clocks with a pendulum run slow in summer because the metal grows in the heat.",
    "compost": "Compost needs air, so turn the heap every other week with a garden fork.",
    "cradle": "The cradle was carved by my grandfather out of a single piece of walnut.",
    "ferry": "The ferry to the island leaves at six and does not wait for anybody.",
    "fire": "Never pour water on burning fat: put a lid on the pan and let the fire die.",
    "garlic": "Plant garlic before the first frost, three inches deep and a hand apart.",
    "hedge": "Cut the hedge after the young birds have left their nests in July.",
    "ladder": "A ladder stands safely when its foot is a quarter of its height from the wall.",
    "letters": "Letters from abroad took eleven days and arrived with two stamps missing.",
    "mill": "The water mill ground barley for the whole valley until the river was dammed.",
    "piano": "The piano is tuned twice a year, once when the heating is turned on.",
    "roof": "Moss on the roof holds water and lifts the tiles, so brush it off every spring.",
    "salt": "Salt was worth more than silver in the mountains, where no mule could carry enough.",
    "sheep": "Sheep are shorn in June, on a dry day, by two men with good backs.",
    "snow": "Snow on the pass closes the road from November until the middle of April.",
    "violin": "A violin bow is rubbed with rosin so that the hair grips the string.",
    "well": "The well behind the barn is forty feet deep and has never run dry.",
}
BACKUP = """\
---
title: House rules
---

# Computers

## Backups

A copy of every photograph goes to the second disk each night. To restore a backup, plug in the disk \
and run `restore_photos`.
"""
CODE = '''\
def restore_photos(disk: str) -> int:
    """Copies the photographs of the newest backup back from the disk."""
    return sum(copy(photo) for photo in newest_backup(disk))
'''


class Corpus:
    """A folder to start ragx in, with a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "corpus"
        self.root.mkdir(parents=True)
        home = folder / "home"
        home.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAGX_", "PYTHON"))}
        self.env = kept | {"HOME": str(home), "PYTHONPATH": PACKAGE, "TERM": "xterm-256color"}
        self.env.pop("NO_COLOR", None)

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
        defaults = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command = [sys.executable, "-m", "ragx", *arguments]
        return subprocess.Popen(command, **({"cwd": self.root, "env": self.env} | defaults | options))

    def ragx(self, *arguments: str, given: bytes | None = None, **options: Any) -> tuple[int, str, str]:
        if given is not None:
            options["stdin"] = subprocess.PIPE
        process = self.start(*arguments, **options)
        out, err = process.communicate(given, timeout=120)
        return process.returncode, out.decode(), err.decode()

    def json(self, *arguments: str, **options: Any) -> tuple[int, Any]:
        words = 2 if arguments[0] == "config" else 1
        code, out, _ = self.ragx(*arguments[:words], "--json", *arguments[words:], **options)
        return code, valid(json.loads(out))

    def on_a_terminal(self, *arguments: str, **env: str) -> str:
        with terminal() as (there, printed):
            process = self.start(*arguments, stdout=there, env=self.env | env)
            shown = printed()
        process.communicate(timeout=120)
        return shown.decode()

    def fill(self) -> None:
        (self.root / "ragx.toml").write_text("")
        (self.root / "src").mkdir()
        (self.root / "src" / "photos.py").write_text(CODE)
        (self.root / "house rules.md").write_text(BACKUP)
        for name, text in TOPICS.items():
            title = f"{name.title()} – café"
            text = f"# {title}\r\n\r\n{text}\r\n\r\n## Again\r\n\r\nAs I said: {text.lower()}\r\n"
            (self.root / f"{name}.md").write_bytes(text.encode())


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Indexed once; no test changes it."""
    corpus = Corpus(tmp_path_factory.mktemp("indexed"))
    corpus.fill()
    code, out, err = corpus.ragx("index")
    assert (code, out.splitlines()[0]) == (0, "files   25 added, 0 changed, 0 removed, 0 unchanged"), err
    assert "embedding: 49 texts" in err.splitlines()
    assert "\x1b" not in err
    return corpus


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Corpus]:
    yield Corpus(tmp_path)


def test_a_hit_is_its_place_its_headings_and_the_passage_with_the_words(corpus: Corpus) -> None:
    code, out, err = corpus.ragx("query", "restoring backups", "--top", "1")
    assert (code, err) == (0, "")
    place, headings, *passage = out.splitlines()
    assert re.fullmatch(r"house rules\.md:\d+-\d+  \d\.\d\d", place)
    assert headings == "  Computers > Backups"
    assert passage == [
        "    A copy of every photograph goes to the second disk each night. To restore",
        "    a backup, plug in the disk and run `restore_photos`.",
    ]


def test_json_results_are_the_bytes_of_the_files(corpus: Corpus) -> None:
    code, document = corpus.json("query", "how is a backup restored?", "--top", "99")
    assert code == 0
    assert document["results"][0]["file"] in ("house rules.md", "src/photos.py")
    assert len(document["results"]) == 49
    for result in document["results"]:
        data = (corpus.root / result["file"]).read_bytes()
        piece = data[result["byte_start"] : result["byte_end"]]
        assert piece.decode() == result["text"] and not result["truncated"]
        assert data[: result["byte_start"]].count(b"\n") + 1 == result["line_start"]


def test_files_only_in_a_pipe_is_paths_that_exist_and_nothing_else(corpus: Corpus) -> None:
    code, out, _ = corpus.ragx("query", "restore a backup", "--files-only", "--top", "3")
    paths = out.splitlines()
    assert code == 0 and len(paths) == 3
    assert all((corpus.root / path).is_file() for path in paths)


def test_file_scores_do_not_depend_on_top(corpus: Corpus) -> None:
    files = [corpus.json("query", "restore", "--files-only", "--top", top)[1]["files"] for top in ("1", "5")]
    assert files[0] == files[1][:1]


def test_paths_are_relative_to_the_folder_that_the_reader_is_in(corpus: Corpus) -> None:
    inside = corpus.root / "src"
    _, out, _ = corpus.ragx("query", "restore_photos", "--files-only", "--top", "2", cwd=inside)
    assert set(out.splitlines()) == {"photos.py", "../house rules.md"}
    _, document = corpus.json("query", "restore_photos", "--top", "1", cwd=inside)
    assert document["results"][0]["file"] in ("src/photos.py", "house rules.md")
    _, out, _ = corpus.ragx("query", "-C", str(corpus.root), "bees", "--files-only", "--top", "1", cwd="/")
    assert out == "bees.md\n"


def test_explain_shows_parts_ways_and_stages(corpus: Corpus) -> None:
    _, out, _ = corpus.ragx("query", "restore a backup", "--explain")
    assert re.search(r"^  fused   \d\.\d\d x 0\.\d\d = ", out, re.MULTILINE)
    assert re.search(r"^  heat \d+% from .+:\d+-\d+ -> similar 0\.\d\d -> .+:\d+-\d+$", out, re.MULTILINE)
    assert "\nstages\n  expansion  did not run: off\n" in out
    _, document = corpus.json("query", "restore a backup", "--explain")
    explained = [result for result in document["results"] if "explain" in result]
    assert explained
    for result in explained:
        for way in result["explain"]:
            assert way["path"][-1]["chunk_id"] == result["chunk_id"]
            assert way["path"][0]["chunk_id"] == way["seed"]
            assert len(way["path"]) == way["hop"] + 1
    _, document = corpus.json("query", "restore a backup")
    assert not any("explain" in result for result in document["results"])


def test_stages_left_out_are_named(corpus: Corpus) -> None:
    _, document = corpus.json("query", "bees", "--no-graph", "--no-rerank", "--no-lexical", "--top", "1")
    assert {stage["name"] for stage in document["stages"] if stage["ran"]} == {"vector", "fusion"}
    assert document["results"][0]["file"] == "bees.md"


def test_switches_of_a_query_reach_their_stage(corpus: Corpus) -> None:
    def stages(*switches: str) -> dict[str, dict[str, Any]]:
        return {stage["name"]: stage for stage in corpus.json("query", "bees", "--no-rerank", *switches)[1]["stages"]}

    assert stages("--exact")["vector"]["detail"] == "exact scan"
    assert [stages(*switches)["second"]["ran"] for switches in ([], ["--deep"])] == [False, True]


def test_a_filter_that_matches_no_file_is_told_from_a_search_without_result(corpus: Corpus) -> None:
    code, out, err = corpus.ragx("query", "bees", "--path", "./nope.md", "--path", "no/*.md")
    assert (code, out, err.splitlines()[0]) == (1, "", "no indexed file matches nope.md or no/*.md")


def test_a_stage_that_cannot_run_is_one_warning_and_named_in_the_json(corpus: Corpus) -> None:
    code, out, err = corpus.ragx("query", "bees", "--expand", "--json", "--top", "1")
    stages = {stage["name"]: stage for stage in valid(json.loads(out))["stages"]}
    assert code == 0
    assert not stages["expansion"]["ran"] and stages["expansion"]["detail"] in err
    assert err.count("\n") == 1


def test_nothing_relevant_is_exit_1_with_an_empty_stdout_and_the_way_to_see_the_nearest(corpus: Corpus) -> None:
    asked = "kubernetes ingress controller"
    code, out, err = corpus.ragx("query", asked)
    assert (code, out) == (1, "")
    assert err == f"nothing relevant in 49 chunks; see the nearest with: ragx query --all '{asked}'\n"
    code, document = corpus.json("query", asked)
    assert (code, document["relevant"], document["results"]) == (1, False, [])
    code, document = corpus.json("query", asked, "--files-only")
    assert (code, document["relevant"], document["files"]) == (1, False, [])
    code, document = corpus.json("query", asked, "--all")
    assert (code, document["relevant"], len(document["results"])) == (0, False, 8)
    assert corpus.ragx("query", asked, "--quiet") == (1, "", "")


def test_a_query_comes_from_stdin_whatever_its_bytes(corpus: Corpus) -> None:
    code, document = corpus.json("query", "-", "--top", "1", given=b"the queen of the bees \xff\x00\n")
    assert (code, document["query"]) == (0, "the queen of the bees \ufffd\0\n")
    assert document["results"][0]["file"] == "bees.md"
    code, document = corpus.json("query", os.fsdecode(b"bees \xff"), "--top", "1")
    assert (code, document["query"]) == (0, "bees \ufffd")


@pytest.mark.parametrize("given", [b"", b" \n\t"])
def test_an_empty_query_is_an_error_of_one_line(corpus: Corpus, given: bytes) -> None:
    code, out, err = corpus.ragx("query", "-", given=given)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"ragx: the query is empty; .*ragx query.*\n", err)
    code, document = corpus.json("query", given.decode())
    assert (code, document["code"]) == (2, "usage")


@pytest.mark.parametrize("query", ['"quotes that do not', "foo:bar AND %_", "'; DROP TABLE files; --", "bees" * 2500])
def test_awkward_queries_are_only_queries(corpus: Corpus, query: str) -> None:
    code, document = corpus.json("query", query, "--no-rerank", "--all")
    assert (code, document["query"]) == (0, query)


def test_a_query_may_begin_with_a_dash_after_two(corpus: Corpus) -> None:
    code, document = corpus.json("query", "--top", "1", "--", "-bees")
    assert (code, document["query"], document["results"][0]["file"]) == (0, "-bees", "bees.md")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("query", "bees", "--top", "0"), "--top"),
        (("query", "bees", "--top", "1001"), "--top"),
        (("query", "bees", "--hops", "6"), "--hops"),
        (("query",), "TEXT|-"),
        (("index", "--keep-vectors"), "--full"),
        (("index", "nowhere"), "nowhere"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(corpus: Corpus, arguments: tuple[str, ...], named: str) -> None:
    code, out, err = corpus.ragx(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert named in err
    code, document = corpus.json(*arguments)
    assert (code, document["schema"]) == (2, "ragx.error.v1")


def test_a_reader_that_has_seen_enough_is_success(corpus: Corpus) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = corpus.start("query", "bees", stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, b"")


def test_a_terminal_gets_marked_words_and_no_color_none(corpus: Corpus) -> None:
    shown = corpus.on_a_terminal("query", "bees", "--top", "1")
    assert "\x1b[1mbees\x1b[22m" in shown and shown.startswith("\x1b[35mbees.md\x1b[39m:")
    assert "\x1b" not in corpus.on_a_terminal("query", "bees", "--top", "1", NO_COLOR="1")
    assert "\x1b" not in corpus.on_a_terminal("query", "bees", "--top", "1", TERM="dumb")
    assert "\x1b" not in corpus.ragx("query", "bees", "--top", "1", "--explain")[1]


def loaded(corpus: Corpus, arguments: list[str], heavy: tuple[str, ...]) -> str:
    """Which of the modules a command has imported when it ends, as a list in Python's spelling."""
    script = (
        f"import sys; sys.argv = {['ragx', *arguments]}\n"
        "from ragx.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print([name for name in {heavy} if sys.modules.get(name)])"
    )
    command = [sys.executable, "-c", script]
    out = subprocess.run(command, cwd=corpus.root, env=corpus.env, capture_output=True, check=True).stdout
    return out.decode().splitlines()[-1]


def test_a_query_loads_only_what_it_uses(corpus: Corpus) -> None:
    heavy = ("httpx", "pyarrow", "huggingface_hub", "graspologic_native", "pathspec", "rich.console")
    assert loaded(corpus, ["query", "bees", "--no-rerank", "--json"], heavy) == "[]"


def test_status_loads_nothing_that_only_a_run_needs(corpus: Corpus) -> None:
    heavy = ("numpy", "pyarrow", "graspologic_native", "onnxruntime", "tokenizers", "httpx")
    assert loaded(corpus, ["status", "--json"], heavy) == "[]"


def test_an_index_that_is_up_to_date_says_so_in_one_line(corpus: Corpus) -> None:
    before = (corpus.root / ".ragx" / "index.duckdb").stat().st_mtime_ns
    code, out, _ = corpus.ragx("index")
    assert (code, out) == (0, "up to date: 25 files, 49 chunks\n")
    assert corpus.ragx("index", "--quiet") == (0, "", "")
    code, document = corpus.json("index", "-v")
    assert (code, document["changed"], document["files_unchanged"]) == (0, False, 25)
    assert document["skipped_files"] == [
        {"path": ".ragx/", "reason": "belongs to ragx"},
        {"path": "ragx.toml", "reason": "belongs to ragx"},
    ]
    assert (corpus.root / ".ragx" / "index.duckdb").stat().st_mtime_ns == before


def test_changed_is_accepted_with_a_note(corpus: Corpus) -> None:
    code, out, err = corpus.ragx("index", "--changed")
    assert (code, out) == (0, "up to date: 25 files, 49 chunks\n")
    assert err.startswith("note: --changed is deprecated")


def test_status_counts_and_tells_no_drift(corpus: Corpus) -> None:
    code, document = corpus.json("status")
    assert code == 0
    assert (document["files"], document["chunks"], document["root"]) == (25, 49, str(corpus.root))
    assert document["drift"] == {"new": 0, "changed": 0, "deleted": 0}
    assert document["size_bytes"] == (corpus.root / ".ragx" / "index.duckdb").stat().st_size
    code, out, err = corpus.ragx("status", "--pending")
    assert (code, err, out.splitlines()[-1]) == (0, "", "drift       none")


def test_the_settings_in_force_are_a_valid_document(corpus: Corpus) -> None:
    code, document = corpus.json("config", "list")
    assert (code, document["settings"]["graph.k"]) == (0, {"value": 8, "source": "default"})
    assert corpus.json("config", "get", "graph")[0] == 0


def test_before_any_index_query_and_status_say_which_command_to_run(fresh: Corpus) -> None:
    (fresh.root / "ragx.toml").write_text("")
    for command in (("query", "bees"), ("status",)):
        code, out, err = fresh.ragx(*command)
        assert (code, out) == (2, "")
        assert re.fullmatch(r"ragx: no index in .*; run: ragx index\n", err)
        code, document = fresh.json(*command)
        assert (code, document["code"], document["hint"]) == (2, "no_index", "run: ragx index")


def test_outside_of_any_corpus_every_command_names_init(fresh: Corpus) -> None:
    for command in (("index",), ("query", "bees"), ("status",)):
        code, out, err = fresh.ragx(*command)
        assert (code, out) == (2, "")
        assert err.endswith("run: ragx init\n") and err.count("\n") == 1


def test_a_folder_without_files_to_index_is_exit_1_and_names_the_globs(fresh: Corpus) -> None:
    (fresh.root / "ragx.toml").write_text("")
    (fresh.root / "picture.png").write_bytes(b"\x89PNG")
    code, out, err = fresh.ragx("index")
    assert (code, out) == (1, "")
    assert "ragx config get corpus.include" in err
    code, document = fresh.json("index")
    assert (code, document["changed"], document["skipped"]["not in corpus.include"]) == (1, False, 1)


def test_dry_run_and_pending_tell_what_an_edit_changes_and_write_nothing(fresh: Corpus) -> None:
    (fresh.root / "ragx.toml").write_text("")
    for name in ("a.md", "b.md"):
        (fresh.root / name).write_text(f"The note {name}.")
    assert fresh.json("index", "--dry-run", "-v")[1]["added_files"] == ["a.md", "b.md"]
    assert not (fresh.root / ".ragx").exists()
    assert fresh.ragx("index", "--quiet") == (0, "", "")
    (fresh.root / "a.md").write_text("The note, edited.")
    (fresh.root / "b.md").unlink()
    (fresh.root / "c\n\x1b.md").write_text("A new note with a wicked name.")
    pending = {"new": ["c\n\x1b.md"], "changed": ["a.md"], "deleted": ["b.md"]}
    assert fresh.json("status", "--pending")[1]["pending"] == pending
    code, out, _ = fresh.ragx("status", "--pending")
    assert code == 0 and "  new       c\\n\\x1b.md\n" in out
    code, out, _ = fresh.ragx("index", "--dry-run", "-v")
    assert (code, out.splitlines()[:3]) == (0, ["added    c\\n\\x1b.md", "changed  a.md", "removed  b.md"])
    code, document = fresh.json("index", "-v")
    assert (code, document["added_files"], document["files_removed"]) == (0, ["c\n\x1b.md"], 1)


def test_an_index_of_nothing_answers_that_nothing_is_there(fresh: Corpus) -> None:
    (fresh.root / "ragx.toml").write_text("")
    (fresh.root / "a.md").write_text("The only note.")
    assert fresh.ragx("index", "--quiet")[0] == 0
    (fresh.root / "a.md").unlink()
    code, out, _ = fresh.ragx("index")
    assert (code, out.splitlines()[0]) == (1, "files   0 added, 0 changed, 1 removed, 0 unchanged")
    assert fresh.ragx("query", "note", "--all") == (1, "", "nothing found in 0 chunks\n")
    assert fresh.json("status")[1]["chunks"] == 0

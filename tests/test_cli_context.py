"""`query` with context, on files that have changed, and with `--refresh`: what a user at the command line sees."""

import fcntl
import re
from pathlib import Path

import pytest

from tests.test_cli_query import Corpus

GUIDE = """\
# Beekeeping

Notes of forty years, for whoever takes over the hives behind the barn.

## Swarms

A hive swarms in May.
Catch the swarm with a box.

## Honey

Honey is taken in August, when the lime trees are over.
"""
SHEEP = "# Sheep\n\nSheep are shorn in June, on a dry day, by two men with good backs.\n"
SWARMS = "when do bees swarm?"


@pytest.fixture
def fresh(tmp_path: Path) -> Corpus:
    corpus = Corpus(tmp_path)
    (corpus.root / "ragx.toml").write_text("")
    (corpus.root / "bees.md").write_text(GUIDE)
    (corpus.root / "sheep.md").write_text(SHEEP)
    return corpus


def test_context_comes_from_the_disk_and_what_changed_since_is_stale(fresh: Corpus) -> None:
    assert fresh.ragx("index", "--quiet")[0] == 0
    ask = ("query", SWARMS, "--top", "1", "--no-rerank", "--all")
    code, out, err = fresh.ragx(*ask, "-C", "2")
    assert (code, err) == (0, "")
    assert out.splitlines()[1:] == [
        "  Beekeeping > Swarms",
        "     3- Notes of forty years, for whoever takes over the hives behind the barn.",
        "     4-",
        "     5: ## Swarms",
        "     6:",
        "     7: A hive swarms in May.",
        "     8: Catch the swarm with a box.",
        "     9-",
        "    10- ## Honey",
    ]
    assert fresh.ragx(*ask, "-A", "2")[1] == fresh.ragx(*ask, "--context", "200", "-B", "0", "-A", "2")[1]

    guide = fresh.root / "bees.md"
    guide.touch()
    guide.chmod(0o640)
    assert fresh.ragx(*ask)[2] == ""
    guide.write_text(GUIDE.replace("## Honey", "## The honey"))
    code, out, err = fresh.ragx(*ask, "-A", "2")
    assert re.match(r"bees\.md:5-8  \d\.\d\d  stale\n", out)
    assert out.splitlines()[-1] == "    10- ## The honey"
    assert err == "note: 1 of the results' files changed since they were indexed; run: ragx index\n"
    assert fresh.ragx(*ask, "--quiet")[2] == ""

    guide.write_text("One more line.\n" + GUIDE)
    code, document = fresh.json(*ask, "-C", "1")
    (result,) = document["results"]
    assert (code, result["stale"], result["context"]) == (0, True, {"before": None, "after": None})
    guide.unlink()
    code, document = fresh.json(*ask, "-C", "1")
    (result,) = document["results"]
    assert (code, result["stale"], result["context"]) == (0, True, {"before": None, "after": None})
    code, document = fresh.json(*ask, "--files-only")
    assert (code, [file["stale"] for file in document["files"]]) == (0, [True])
    assert fresh.ragx(*ask, "--files-only")[1:] == ("bees.md\n", err)


def test_minus_c_is_lines_if_it_is_a_number_and_else_the_folder(fresh: Corpus) -> None:
    assert fresh.ragx("index", "--quiet")[0] == 0
    ask = ("query", SWARMS, "--top", "1", "--no-rerank", "--all")
    here = fresh.json(*ask, "--context", "2")
    assert here[1]["results"][0]["context"]["after"]["text"] == "\n## Honey\n"
    assert fresh.json(*ask, "-C2", "-C", str(fresh.root), cwd="/") == here
    assert fresh.json(*ask, "-C", str(fresh.root.parent), "-C", "corpus", "-C", "9", "-C", "2") == here
    (fresh.root / "2").mkdir()
    assert "context" not in fresh.json(*ask, "-C", "./2")[1]["results"][0]
    for wrong in ("201", "-1", "9" * 5000):
        code, out, err = fresh.ragx(*ask, "-C", wrong)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "0 to 200 lines" in err
    assert fresh.ragx(*ask, "-A", "201")[0] == 2
    assert fresh.ragx(*ask, "-C", "nowhere")[2] == "ragx: cannot enter nowhere: No such file or directory\n"


def test_the_setting_is_the_default_that_a_flag_overrides(fresh: Corpus) -> None:
    assert fresh.ragx("index", "--quiet")[0] == 0
    assert fresh.ragx("config", "set", "query.context_lines", "1", "--quiet")[0] == 0
    ask = ("query", SWARMS, "--top", "1", "--no-rerank", "--all")
    (result,) = fresh.json(*ask)[1]["results"]
    assert result["context"]["before"] == {"line_start": 4, "line_end": 4, "text": "\n", "truncated": False}
    (result,) = fresh.json(*ask, "-B", "0")[1]["results"]
    assert result["context"]["before"] is None and result["context"]["after"]["line_start"] == 9
    assert "context" not in fresh.json(*ask, "-C", "0")[1]["results"][0]


def test_refresh_builds_the_first_index_and_takes_in_what_changed(fresh: Corpus) -> None:
    ask = ("query", SWARMS, "--top", "1", "--no-rerank", "--all", "--refresh")
    code, out, err = fresh.ragx(*ask)
    assert code == 0 and out.startswith("bees.md:5-8")
    assert "embedding: 4 texts" in err.splitlines() and "stale" not in out + err

    def refreshed() -> dict[str, object]:
        code, document = fresh.json(*ask)
        assert code == 0 and not document["results"][0]["stale"]
        stage: dict[str, object] = document["stages"][0]
        return stage

    assert refreshed() == {"name": "refresh", "ran": True, "detail": "up to date"}
    (fresh.root / "bees.md").write_text("One more line.\n" + GUIDE)
    (fresh.root / "sheep.md").unlink()
    assert refreshed() == {"name": "refresh", "ran": True, "detail": "0 added, 1 changed, 1 removed"}
    (fresh.root / "bees.md").touch()
    assert refreshed() == {"name": "refresh", "ran": True, "detail": "up to date"}
    assert fresh.json(*ask[:-1])[1]["stages"][0]["name"] == "expansion"


def test_refresh_that_cannot_run_is_one_warning_and_the_answer_of_the_index_that_is_there(fresh: Corpus) -> None:
    assert fresh.ragx("index", "--quiet")[0] == 0
    ask = ("query", SWARMS, "--top", "1", "--no-rerank", "--all", "--refresh")
    lock = fresh.root / ".ragx" / "lock"
    with lock.open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        code, out, err = fresh.ragx(*ask)
        assert code == 0 and out.startswith("bees.md:5-8")
        assert re.fullmatch(r"refresh skipped: .*/\.ragx is being indexed by another process; .*\n", err)
        stage = fresh.json(*ask)[1]["stages"][0]
        assert (stage["name"], stage["ran"]) == ("refresh", False) and stage["detail"] in err
    assert fresh.ragx("config", "set", "chunking.size_tokens", "100", "--quiet")[0] == 0
    code, out, err = fresh.ragx(*ask)
    assert code == 0 and out.startswith("bees.md:5-8")
    assert re.search("^refresh skipped: chunking.size_tokens is 100, .*; build it anew: .*", err, re.MULTILINE)


def test_refresh_without_an_index_fails_as_index_does(fresh: Corpus) -> None:
    (fresh.root / ".ragx").mkdir()
    with (fresh.root / ".ragx" / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        code, document = fresh.json("query", SWARMS, "--refresh")
        assert (code, document["code"]) == (2, "locked")
    for note in fresh.root.glob("*.md"):
        note.unlink()
    code, out, err = fresh.ragx("query", SWARMS, "--refresh")
    assert (code, out) == (2, "")
    assert err.endswith(f"ragx: nothing to index in {fresh.root}; run: ragx config get corpus.include\n")

"""`inspect`, `similar`, `query --budget`, `agents` and `schema` as processes on a small corpus with the real models."""

import json
import math
import re
import subprocess
import sys
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

import pytest

from ragx.cli import run
from ragx.store import open_index
from tests.rendered import valid
from tests.test_cli_query import Corpus

HEAVY = ("onnxruntime", "tokenizers", "httpx", "huggingface_hub", "graspologic_native", "pathspec")
COPY = "# Bees\n\nA hive of bees swarms in May when the old queen leaves with half of the workers.\n"
PLAN = "See [the mill](../mill.md#again) first.\n\nThen the [[Cellar]] and [the bees](../bees.md).\n"
NEARLY = COPY.replace("half", "most")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Indexed once; no test changes it."""
    corpus = Corpus(tmp_path_factory.mktemp("inspected"))
    corpus.fill()
    written = {"first.md": COPY, "old/second.md": COPY, "old/third.md": NEARLY, "old/plan.md": PLAN, "empty.md": ""}
    for name, text in written.items():
        (corpus.root / name).parent.mkdir(exist_ok=True)
        (corpus.root / name).write_text(text)
    (corpus.root / "noise.md").write_bytes(bytes(range(256)) * 8)
    code, _, err = corpus.ragx("index")
    assert code == 0, err
    return corpus


def read(corpus: Corpus, *arguments: str, **options: Any) -> Any:
    """The valid document of a command that succeeds."""
    code, out, err = corpus.ragx(*arguments, "--json", **options)
    assert code == 0, err
    return valid(json.loads(out))


def rows(corpus: Corpus, sql: str) -> list[tuple[Any, ...]]:
    with open_index(corpus.root / ".ragx") as store:
        return store.connection.execute(sql).fetchall()


def test_a_chunk_is_found_by_its_id_by_a_line_and_by_what_results_print(corpus: Corpus) -> None:
    place, *_ = corpus.ragx("query", "restoring backups", "--top", "1")[1].split("  ")
    file, line = place.rsplit(":", 1)[0], place.rsplit(":", 1)[1].split("-")[0]
    chunk = read(corpus, "inspect", "chunk", place)
    assert place == f"{chunk['file']}:{chunk['line_start']}-{chunk['line_end']}"
    data = (corpus.root / chunk["file"]).read_bytes()
    assert data[chunk["byte_start"] : chunk["byte_end"]].decode() == chunk["text"]
    for same in (str(chunk["id"]), f"./{file}:{line}", str(corpus.root / f"{file}:{line}")):
        assert read(corpus, "inspect", "chunk", same) == chunk
    _, out, _ = corpus.ragx("inspect", "chunk", place)
    assert out.startswith(f"{place}\n") and str(chunk["id"]) in out


def test_edges_are_those_of_the_index_strongest_first(corpus: Corpus) -> None:
    chunk = read(corpus, "inspect", "chunk", "mill.md:3")
    stored = rows(corpus, f"SELECT dst, weight FROM edges WHERE src = {chunk['id']} ORDER BY weight DESC, dst")
    assert [(edge["id"], edge["weight"]) for edge in chunk["edges"]] == stored and stored
    near = read(corpus, "inspect", "neighbors", str(chunk["id"]))["neighbors"]
    assert [edge["id"] for edge in near] == [edge["id"] for edge in chunk["edges"]]
    assert len(corpus.ragx("inspect", "neighbors", "mill.md:3")[1].splitlines()) == len(near)


def test_paths_are_understood_from_a_subfolder(corpus: Corpus) -> None:
    inside = corpus.root / "src"
    for given in ("photos.py", "./photos.py", "src/photos.py", str(inside / "photos.py")):
        assert read(corpus, "inspect", "file", given, cwd=inside)["path"] == "src/photos.py"
    assert read(corpus, "inspect", "file", "../mill.md", cwd=inside)["path"] == "mill.md"
    assert read(corpus, "inspect", "chunk", "photos.py:2", cwd=inside)["file"] == "src/photos.py"
    assert corpus.ragx("inspect", "file", "photos.py", cwd=inside)[1].startswith("photos.py\n")
    assert read(corpus, "inspect", "file", "-C", str(inside), "photos.py", cwd="/")["path"] == "src/photos.py"


def test_a_file_lists_its_chunks_in_order_and_why_it_has_none(corpus: Corpus) -> None:
    found = read(corpus, "inspect", "file", "bees.md")
    stored = rows(corpus, "SELECT chunks.id FROM v_chunks AS chunks WHERE path = 'bees.md' ORDER BY ordinal")
    assert [(chunk["id"],) for chunk in found["chunks"]] == stored
    assert found["chunk_count"] == len(stored) == 2
    noise = read(corpus, "inspect", "file", "noise.md")
    assert noise["chunk_count"] == 0 and noise["skipped"]


def test_links_are_listed_from_both_ends(corpus: Corpus) -> None:
    found = read(corpus, "inspect", "links", "./plan.md", cwd=corpus.root / "old")
    listed = [
        (link["line"], link["kind"], link["target"], link["heading"], link["unresolved"]) for link in found["links"]
    ]
    assert listed == [
        (1, "link", "../mill.md", "again", False),
        (3, "link", "../bees.md", "", False),
        (3, "wikilink", "Cellar", "", True),
    ]
    assert found["file"] == "old/plan.md" and found["backlinks"] == []
    (again,) = (chunk for chunk in read(corpus, "inspect", "file", "mill.md")["chunks"] if "Again" in chunk["headings"])
    assert found["links"][0]["to"]["chunk_id"] == again["id"]
    assert read(corpus, "inspect", "links", str(corpus.root / "mill.md"))["backlinks"] == found["links"][:1]
    lines = f"{again['line_start']}-{again['line_end']}"
    code, out, err = corpus.ragx("inspect", "links", "plan.md", cwd=corpus.root / "old")
    assert (code, err) == (0, "")
    assert out.splitlines()[:3] == ["plan.md", "links", f"  1  link  ../mill.md#again  -> ../mill.md:{lines}"]
    assert corpus.ragx("inspect", "links", "salt.md") == (1, "", "no link leads from it or to it\n")


def test_neighbors_and_paths_tell_the_direction_of_a_link(corpus: Corpus) -> None:
    there, back = (
        corpus.ragx("inspect", "path", *ends)[1] for ends in (("old/plan.md", "mill.md"), ("mill.md", "old/plan.md"))
    )
    assert "\n  link 1.00 -> mill.md:" in there and "\n  link 1.00 <- old/plan.md:" in back
    steps = read(corpus, "inspect", "path", "bees.md", "mill.md")["steps"]
    assert [(step["file"], step["outward"]) for step in steps] == [
        ("bees.md", None),
        ("old/plan.md", False),
        ("mill.md", True),
    ]
    assert corpus.ragx("inspect", "neighbors", "old/plan.md:1")[1].startswith("1.00 link -> ")


def test_communities_add_up_and_their_terms_are_no_function_words(corpus: Corpus) -> None:
    found = read(corpus, "inspect", "communities")
    sizes = [community["size"] for community in found["communities"]]
    assert found["count"] == len(sizes) > 0 and sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == rows(corpus, "SELECT count(*) FROM communities")[0][0]
    last = found["communities"][-1]
    shown = read(corpus, "inspect", "community", str(last["community_id"]))
    stored = rows(corpus, f"SELECT chunk_id FROM communities WHERE community = {last['community_id']} ORDER BY 1")
    assert [(chunk_id,) for chunk_id in sorted(member["id"] for member in shown["members"])] == stored
    assert {key: shown[key] for key in last} == last
    terms = {term for community in found["communities"] for term in community["terms"]}
    assert {"bees", "swarms"} & terms
    assert not {"the", "and", "in"} & terms
    for community in found["communities"]:
        members = read(corpus, "inspect", "community", str(community["community_id"]))["members"]
        assert (community["size"], community["central"]) == (len(members), members[0])
        assert community["name"] == ", ".join(community["terms"][:3])


def strongest(edges: list[tuple[int, int, float]], sources: set[int], targets: set[int]) -> float:
    """Dijkstra on the negative logarithms of the weights."""
    out: dict[int, list[tuple[int, float]]] = {}
    for src, dst, weight in edges:
        out.setdefault(src, []).append((dst, weight))
    queue, done = [(0.0, source) for source in sources], set()
    while queue:
        length, at = heappop(queue)
        if at in targets:
            return math.exp(-length)
        if at not in done:
            done.add(at)
            for dst, weight in out.get(at, ()):
                heappush(queue, (length - math.log(weight), dst))
    return 0.0


def test_a_path_is_as_strong_as_dijkstra_finds_and_made_of_edges_of_the_index(corpus: Corpus) -> None:
    edges = rows(corpus, "SELECT src, dst, weight FROM edges WHERE weight > 0")
    stored = {(src, dst): weight for src, dst, weight in sorted(edges, key=lambda edge: edge[2])}
    chunks: dict[str, set[int]] = {}
    for path, chunk_id in rows(corpus, "SELECT path, id FROM v_chunks"):
        chunks.setdefault(path, set()).add(chunk_id)
    for start, end in (("src/photos.py", "salt.md"), ("mill.md", "house rules.md"), ("violin.md", "first.md")):
        found = read(corpus, "inspect", "path", start, end)
        steps = found["steps"]
        assert found["strength"] == pytest.approx(strongest(edges, chunks[start], chunks[end]), abs=1e-6)
        assert (steps[0]["file"], steps[-1]["file"]) == (start, end)
        for before, after in pairwise(steps):
            assert stored[before["chunk_id"], after["chunk_id"]] == after["weight"]
        assert math.prod(step["weight"] or 1 for step in steps) == pytest.approx(found["strength"], abs=1e-6)


def test_a_path_between_chunks_is_printed_edge_by_edge(corpus: Corpus) -> None:
    code, out, err = corpus.ragx("inspect", "path", "mill.md:1", "house rules.md:7")
    assert (code, err) == (0, "")
    first, *others, last = out.splitlines()
    assert re.fullmatch(r"mill\.md:\d+-\d+  \d+", first)
    assert all(re.fullmatch(r"  (similar [01]\.\d\d --|link 1\.00 (->|<-)) .+:\d+-\d+  \d+", line) for line in others)
    assert re.fullmatch(rf"strength \d\.\d\d, {len(others)} edges?", last)
    same = read(corpus, "inspect", "path", "mill.md:1", "mill.md:1")
    assert (same["strength"], len(same["steps"])) == (1.0, 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("inspect", "file", "beez.md"), "no file beez.md in the index; nearest: bees.md"),
        (("inspect", "file", "photos.py"), "no file photos.py in the index; nearest: src/photos.py"),
        (("inspect", "links", "beez.md"), "no file beez.md in the index; nearest: bees.md"),
        (("inspect", "chunk", "beez.md:3"), "no file beez.md in the index; nearest: bees.md"),
        (("inspect", "chunk", "bees.md"), "bees.md has 2 chunks: name one"),
        (("inspect", "chunk", "bees.md:999"), "no chunk holds line 999 of bees.md; nearest: bees.md:"),
        (("inspect", "chunk", "noise.md:1"), "noise.md has no chunks: "),
        (("inspect", "chunk", "empty.md:1"), "empty.md has no chunks"),
        (("inspect", "chunk", "12345678901234567890123"), "no chunk 12345678901234567890123 in the index; nearest: "),
        (("inspect", "neighbors", "1"), "no chunk 1 in the index; nearest: "),
        (("inspect", "file", "/etc/hosts"), "/etc/hosts lies outside the corpus"),
        (("inspect", "file", "be\udcffs.md"), "no file be?s.md in the index; nearest: bees.md"),
        (("inspect", "community", "99"), "no community 99 in the index; there are 0 to "),
        (("inspect", "path", "bees.md", "beez.md"), "nearest: bees.md"),
        (("inspect", "chunk"), "ID|PATH:LINE"),
        (("similar",), "name one of FILE[:LINE], --chunk ID and --duplicates"),
        (("similar", "bees.md", "--duplicates"), "name one of"),
        (("similar", "--duplicates", "--files-only"), "--files-only"),
        (("similar", "--chunk", "bees.md"), "--chunk takes an id"),
        (("similar", "beez.md"), "nearest: bees.md"),
        (("similar", "bees.md", "--min", "1.1"), "--min"),
        (("schema", "ragx.qery.v1"), "no schema ragx.qery.v1; run: ragx schema ragx.query.v1"),
        (("schema", "query"), "no schema query; run: ragx schema ragx.query.v1"),
        (("query", "bees", "--budget", "0"), "--budget"),
        (("query", "bees", "--budget", "9", "--files-only"), "--budget goes with neither"),
    ],
)
def test_a_wrong_name_is_exit_2_in_one_line_with_the_nearest(
    corpus: Corpus,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(corpus.root)
    monkeypatch.setenv("HOME", corpus.env["HOME"])
    code = run(arguments)
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_an_error_of_a_subcommand_is_a_document_too(corpus: Corpus) -> None:
    code, out, _ = corpus.ragx("inspect", "file", "beez.md", "--json")
    document = valid(json.loads(out))
    assert (code, document["schema"], document["hint"]) == (2, "ragx.error.v1", "nearest: bees.md")


def test_a_group_without_a_command_shows_its_help(corpus: Corpus) -> None:
    code, out, err = corpus.ragx("inspect")
    assert (code, out) == (2, "") and "communities" in err


def test_similar_to_a_line_is_its_nearest_chunk_by_cosine(corpus: Corpus) -> None:
    found = read(corpus, "similar", "bees.md:3", "--top", "99")
    chunk_id = found["of"]["chunk_id"]
    expected = rows(corpus, f"SELECT chunk_id, cosine FROM similar_to({chunk_id}, k := 99)")
    assert len(found["results"]) == len(expected)
    for result, (_, cosine) in zip(found["results"], expected, strict=True):
        assert result["cosine"] == pytest.approx(cosine, abs=2e-6)
    by_id = read(corpus, "similar", "--chunk", str(chunk_id), "--top", "99")
    assert by_id == found
    assert found["results"][0]["file"] in ("first.md", "old/second.md", "bees.md")


def test_similar_to_a_file_are_chunks_of_other_files(corpus: Corpus) -> None:
    found = read(corpus, "similar", "first.md", "--top", "3")
    assert found["of"] == {"file": "first.md", "chunk_id": None}
    assert [result["file"] for result in found["results"]][:2] == ["old/second.md", "old/third.md"]
    assert found["results"][0]["cosine"] == 1.0
    files = read(corpus, "similar", "src/photos.py", "--files-only", "--top", "99")["files"]
    names = [file["file"] for file in files]
    assert names[0] == "house rules.md" and len(names) == len(set(names)) and "src/photos.py" not in names
    assert [file["cosine"] for file in files] == sorted((file["cosine"] for file in files), reverse=True)
    code, out, _ = corpus.ragx("similar", "first.md", "--files-only", "--top", "2")
    assert (code, out) == (0, "old/second.md\nold/third.md\n")


def test_only_from_a_cosine_on(corpus: Corpus) -> None:
    results = read(corpus, "similar", "first.md", "--min", "0.9", "--top", "99")["results"]
    assert results and all(result["cosine"] >= 0.9 for result in results)
    code, out, err = corpus.ragx("similar", "mill.md:3", "--min", "0.999")
    assert (code, out, err) == (1, "", "nothing is that much alike\n")


def test_duplicates_are_pairs_in_different_places_identical_ones_first(corpus: Corpus) -> None:
    pairs = read(corpus, "similar", "--duplicates")["pairs"]
    places = [(pair["first"]["file"], pair["second"]["file"], pair["identical"]) for pair in pairs]
    assert places[0] == ("first.md", "old/second.md", True)
    assert [identical for *_, identical in places].count(True) == 1
    assert any("old/third.md" in place for place in places)
    assert all(pair["cosine"] >= 0.95 for pair in pairs)
    code, out, _ = corpus.ragx("similar", "--duplicates", "--top", "1")
    assert (code, out) == (0, "same  first.md:1-3  old/second.md:1-3  Bees\n")
    assert len(read(corpus, "similar", "--duplicates", "--min", "0.8")["pairs"]) > len(pairs)


@pytest.mark.parametrize(
    "arguments",
    [
        ["inspect", "chunk", "bees.md:3"],
        ["inspect", "communities", "--json"],
        ["inspect", "links", "old/plan.md"],
        ["inspect", "path", "bees.md", "mill.md"],
        ["similar", "bees.md", "--json"],
        ["similar", "bees.md:3"],
        ["similar", "--duplicates"],
        ["schema"],
        ["agents"],
    ],
)
def test_no_model_and_no_server_is_loaded(corpus: Corpus, arguments: list[str]) -> None:
    script = (
        f"import sys; from ragx.cli import run; code = run({arguments});"
        f"print(code, [name for name in {HEAVY} if name in sys.modules])"
    )
    command = [sys.executable, "-c", script]
    out = subprocess.run(command, cwd=corpus.root, env=corpus.env, capture_output=True, check=True).stdout
    assert out.splitlines()[-1] == b"0 []"


def test_a_budget_buys_whole_passages_that_are_slices_of_their_files(corpus: Corpus) -> None:
    found = read(corpus, "query", "when do bees swarm?", "--budget", "300")
    assert found["tokens"] <= 300 and found["relevant"]
    assert found["tokens"] == sum(passage["tokens"] for passage in found["passages"])
    for passage in found["passages"]:
        data = (corpus.root / passage["file"]).read_bytes()
        assert data[passage["byte_start"] : passage["byte_end"]].decode() == passage["text"]
        assert data[: passage["byte_start"]].count(b"\n") + 1 == passage["line_start"]
    joined = [passage for passage in found["passages"] if len(passage["chunk_ids"]) > 1]
    assert {"bees.md"} <= {passage["file"] for passage in joined}
    texts = [passage["text"] for passage in found["passages"]]
    assert len(texts) == len(set(texts))


def test_a_budget_that_is_too_small_cuts_the_best_passage(corpus: Corpus) -> None:
    (passage,) = read(corpus, "query", "how is a backup restored?", "--budget", "9")["passages"]
    assert passage["truncated"] and 0 < passage["tokens"] <= 9 and passage["text"]


def test_passages_in_a_pipe_are_a_place_and_the_text(corpus: Corpus) -> None:
    code, out, err = corpus.ragx("query", "when do bees swarm?", "--budget", "60", "--path", "first.md")
    assert (code, out, err) == (0, f"first.md:1-3\n{COPY}", "")


def test_a_budget_for_nothing_relevant_is_an_empty_document(corpus: Corpus) -> None:
    code, out, _ = corpus.ragx("query", "kubernetes ingress controller", "--budget", "100", "--json")
    document = valid(json.loads(out))
    assert (code, document["relevant"], document["passages"], document["tokens"]) == (1, False, [], 0)
    assert read(corpus, "query", "kubernetes ingress controller", "--budget", "100", "--all")["passages"]


def test_an_overview_of_nothing_relevant_is_an_empty_document(corpus: Corpus) -> None:
    code, out, err = corpus.ragx("query", "kubernetes ingress controller", "--global", "--json")
    assert (code, valid(json.loads(out))["communities"]) == (1, [])
    assert "nothing relevant" in err
    assert read(corpus, "query", "kubernetes ingress controller", "--global", "--all")["communities"]


def test_top_limits_the_chunks_of_a_budget(corpus: Corpus) -> None:
    passages = read(corpus, "query", "bees", "--budget", "5000", "--top", "2")["passages"]
    assert sum(len(passage["chunk_ids"]) for passage in passages) <= 2


def test_every_document_that_the_package_prints_has_a_schema_that_can_be_read(corpus: Corpus) -> None:
    code, out, _ = corpus.ragx("schema")
    names = out.splitlines()
    assert code == 0 and {"ragx.query.v1", "ragx.passages.v1", "ragx.inspect.path.v1", "ragx.similar.v1"} <= set(names)
    code, out, _ = corpus.ragx("schema", "ragx.error.v1")
    assert (code, json.loads(out)["properties"]["schema"]["const"]) == (0, "ragx.error.v1")


def test_what_agents_are_told_works(capsys: pytest.CaptureFixture[str]) -> None:
    def said(*arguments: str) -> str:
        assert run(arguments) == 0
        return capsys.readouterr().out

    out = said("agents")
    assert out.startswith("## ")
    commands = [piece.split() for piece in re.findall(r"`(ragx [^`]+)`", out)]
    assert commands
    for _, name, *words in commands:
        shown = said(name, "--help")
        assert [word for word in words if word.startswith("--") and word not in shown] == []
    shown = said("query", "--help")
    assert [option for option in re.findall(r"`(--[\w-]+)", out) if option not in shown] == []


def test_inspecting_before_indexing_says_what_to_run(tmp_path_factory: pytest.TempPathFactory) -> None:
    fresh = Corpus(tmp_path_factory.mktemp("fresh"))
    (fresh.root / "ragx.toml").write_text("")
    for arguments in (("inspect", "communities"), ("similar", "a.md")):
        code, out, err = fresh.ragx(*arguments)
        assert (code, out) == (2, "") and "run: ragx index" in err and err.count("\n") == 1

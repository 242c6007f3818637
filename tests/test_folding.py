"""What is nearly the same is printed once: under the best, with the other places, and never in the place of others."""

from dataclasses import replace
from pathlib import Path

import pytest

from ragx.config import index_dir
from ragx.search import Options, Searcher
from ragx.search.folding import Group, fold
from ragx.search.passages import passages
from ragx.store import create_building, open_index
from ragx.types import Answer
from tests.corpora import ask, build, corpus, settings_of

MEETING = (
    "# Meeting of {day} May\n\nWe went through the open tickets and agreed on the priorities for the next weeks. "
    "Anna looks after the release, Ben writes to the customers, and the garden party is put off until June.\n"
)
PARTY = "# Garden party\n\nThe party in the garden needs lanterns, a long table and somebody who plays the violin.\n"


@pytest.fixture(scope="module")
def meetings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three hundred notes that are nearly or quite the same, more than a leg contributes, and another."""
    files: dict[str, str | bytes] = {f"{number:03}.md": MEETING.format(day=number % 30) for number in range(300)}
    root = corpus(tmp_path_factory.mktemp("meetings"), files | {"party.md": PARTY})
    build(root)
    return root


def search(root: Path, **options: object) -> Answer:
    return ask(root, "when is the garden party?", **options)


def test_ranked_chunks_are_folded_under_the_best_that_is_near_and_not_along_a_chain(tmp_path: Path) -> None:
    # Each is 20 degrees from the one before: 1 and 3 are 40 apart.
    vectors = {1: [1.0, 0.0], 2: [0.93969, 0.34202], 3: [0.76604, 0.64279], 4: [0.0, 1.0]}
    with create_building(tmp_path / "index.duckdb", 2) as store:
        execute = store.connection.execute
        for number, vector in vectors.items():
            execute(
                f"INSERT INTO chunks VALUES ({number}, 1, 0, 'section', [], '', '', 0, 0, 1, 1, 1, 1, '', {number})"
            )
            execute(f"INSERT INTO embeddings_recent VALUES ({number}, {vector})")
        execute("INSERT INTO chunks VALUES (5, 1, 0, 'section', [], '', '', 0, 0, 1, 1, 1, 1, '', 4)")
        for pair in ((1, 2, 0.93969), (2, 3, 0.939687), (4, 5, 1)):
            execute("INSERT INTO edges VALUES ($1, $2, 'similar', $3, true), ($2, $1, 'similar', $3, true)", list(pair))

        def groups(*ranked: int, cosine: float) -> dict[int, tuple[tuple[int, float], ...]]:
            return {group.best[0]: group.copies for group in fold(store, [(each,) for each in ranked], cosine)}

        assert groups(1, 2, 3, cosine=0.9) == {1: ((2, 0.93969),), 3: ()}
        assert groups(2, 3, 1, cosine=0.9) == {2: ((3, 0.939687), (1, 0.93969))}
        assert groups(5, 1, 2, 4, cosine=1) == {5: ((4, 1.0),), 1: (), 2: ()}
        assert fold(store, [], 0.9) == []
        assert fold(store, [(3,)], 0.9) == [Group((3,))]


def test_hundreds_of_near_identical_notes_leave_room_for_another(meetings: Path) -> None:
    answer = search(meetings, top=3)
    assert "party.md" in [hit.file for hit in answer.hits]
    folded = {copy.file for hit in answer.hits for copy in hit.also_in}
    assert len(folded) > 90 and not folded & {hit.file for hit in answer.hits}
    assert {file.file for file in answer.files} >= folded
    for hit in answer.hits:
        assert all(copy.cosine >= settings_of(meetings).query.fold_cosine for copy in hit.also_in)
        assert all((copy.line_start, copy.line_end) == (1, 3) for copy in hit.also_in)


def test_what_is_not_folded_is_printed_as_often_as_it_is_there(meetings: Path) -> None:
    answer = search(meetings, top=50, fold=False)
    assert len(answer.hits) == 50 and not any(hit.also_in for hit in answer.hits)
    assert sum(hit.file != "party.md" for hit in answer.hits) >= 49


def test_folding_changes_neither_scores_nor_the_order_of_files(meetings: Path) -> None:
    files = {"first.md": MEETING.format(day=1), "second.md": MEETING.format(day=1), "third.md": PARTY}
    root = corpus(meetings / "few", dict(files))
    build(root)
    folded, all_ = search(root), search(root, fold=False)
    assert folded.files == all_.files and len(all_.hits) == 3
    assert [replace(hit, also_in=()) for hit in folded.hits] == [
        hit for hit in all_.hits if hit.chunk_id in {kept.chunk_id for kept in folded.hits}
    ]
    assert len(folded.hits) == 2


def test_passages_for_a_budget_hold_no_folded_text(meetings: Path) -> None:
    settings = settings_of(meetings)
    with open_index(index_dir(meetings, settings)) as store:
        answer = Searcher(store, settings, lambda _: None).search("garden party", Options(rerank=False, top=1000))
        found = passages(store, answer.hits, 100_000)
    assert "party.md" in {passage.file for passage in found}
    assert len(found) < 10

"""A searcher that has answered other questions answers the next one as if it were its first."""

from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import ragx
from ragx.search import Options, Searcher
from ragx.store import open_index
from tests.corpora import ask, build, corpus, settings_of, write

SUBJECTS = ("vault", "garden", "kitten", "rootstock", "orchestra", "oven")
VERBS = (
    "copies the disks",
    "wants sun and water",
    "sleeps",
    "withstands the louse",
    "plays at the fair",
    "bakes bread",
)
NOTES: dict[str, str | bytes] = {
    f"{'sub/' if number % 3 else ''}{number}.md": (
        f"# The {SUBJECTS[number % 6]} of {number}\n\nThe {SUBJECTS[number % 6]} {VERBS[number % 5]} every night.\n\n"
        f"## More\n\nSee [the next](/{'sub/' if (number + 1) % 3 else ''}{number + 1}.md) and [[{number // 2}]].\n"
    )
    for number in range(24)
} | {
    "tools/export.py": "from tools import vault_disk\n\n\ndef export_vault():\n    return vault_disk\n",
    "tools/vault_disk.py": "def restore(disk):\n    return disk\n",
    **{f"copy{number}.txt": "The vault copies the disks every night.\n" for number in range(4)},
}
ALWAYS = '[vectors]\nhnsw = "always"\n'
SETTINGS = (
    ALWAYS,
    f'{ALWAYS}[traversal]\npreset = "classic"\n[query]\nsecond = "embedding"\n',
    f'{ALWAYS}[fusion]\nmethod = "rrf"\nper_query_top = 4\n[traversal]\nmax_frontier = 3\nseeds = 5\n',
    f'{ALWAYS}[traversal]\nlink_weight = 0\nimport_weight = 0.5\n[query]\nsecond = "embedding"\n',
)
QUERIES = (
    "what does the vault copy?", "vault_disk", "Who sleeps in the garden?", "::", "the of and", "qqqq", "oven " * 30,
    "an orchestra at the fair", "See the next",
)  # fmt: skip
options = st.builds(
    Options,
    top=st.sampled_from((8, 1, 3, 50)),
    graph=st.sampled_from((True, True, False)),
    rerank=st.sampled_from((False, False, False, False, True)),
    vector=st.sampled_from((True, True, False)),
    lexical=st.sampled_from((True, True, False)),
    deep=st.booleans(),
    hops=st.sampled_from((None, 0, 1, 2, 3, 4)),
    hnsw=st.sampled_from((None, False, True)),
    explain=st.booleans(),
    paths=st.sampled_from(((), (), ("sub/*",), ("*.txt", "1*.md"), ("nowhere/*",))),
    kinds=st.sampled_from(((), (), ("python",), ("markdown", "text"))),
    fold=st.sampled_from((None, False)),
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = corpus(tmp_path_factory.mktemp("reuse"), NOTES | {"ragx.toml": ALWAYS})
    build(root)
    return root


@settings(max_examples=8, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    toml=st.sampled_from(SETTINGS),
    asked=st.lists(st.tuples(st.sampled_from(QUERIES), options), min_size=4, max_size=10),
)
def test_no_query_leaves_anything_to_the_next(root: Path, toml: str, asked: list[tuple[str, Options]]) -> None:
    # Plans, degrees and tables outlive a query.
    write(root, {"ragx.toml": toml})
    told: list[str] = []
    with open_index(root / ".ragx") as kept:
        reused = Searcher(kept, settings_of(root), told.append, root=root)
        for query, how in asked:
            answer = reused.search(query, how)
            said = told[:]
            told.clear()
            with open_index(root / ".ragx") as store:
                fresh = Searcher(store, settings_of(root), told.append, root=root)
                fresh.models.take_over(reused.models)
                assert fresh.search(query, how) == answer
            assert told == said
            assert all(line.startswith("no indexed file") for line in told)
            told.clear()


def test_an_index_that_was_published_since_is_answered_from(tmp_path: Path) -> None:
    root = corpus(tmp_path, NOTES)
    for edit in ({}, {"1.md": "# Kitten\n\nSee [[oven]].\n"}, {"oven.md": "# Oven\n\nBread.\n"}, {"sub/1.md": ""}):
        write(root, edit)
        build(root)
        for query, how in [(QUERIES[0], {"deep": True}), (QUERIES[2], {"paths": ["sub/*"]})]:
            found = ragx.search(query, root, rerank=False, top=50, **how)
            hits = ask(root, query, top=50, **how).hits
            assert found.select(["chunk_id", "score"]).to_pylist() == [
                {"chunk_id": hit.chunk_id, "score": hit.score} for hit in hits
            ]

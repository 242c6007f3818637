"""Filters are applied before the best are taken, on both legs and in the graph."""

from pathlib import Path

import pytest

from ragx.errors import UsageError
from tests.corpora import ask, build, corpus


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """150 notes about cats in one folder crowd out the few elsewhere; names are prefixes of each other."""
    files: dict[str, str | bytes] = {
        f"cats/{number}.md": f"Cat number {number} sleeps all day.\n" for number in range(150)
    }
    files |= {
        "cats_and_dogs/note.md": "Dogs chase cats that sleep.\n",
        "catsXandXdogs/note.md": "Parrots repeat what sleeping cats say.\n",
        "100%/cat.md": "A hundred cats sleep in a hundred baskets.\n",
        "a[1]/cat.md": "The first cat sleeps on the first chair.\n",
        "sleep.py": "def sleep(cat):\n    return cat.dream()\n",
    }
    root = corpus(tmp_path_factory.mktemp("filters"), files)
    build(root)
    return root


def found(root: Path, *paths: str, kinds: tuple[str, ...] = ()) -> set[str]:
    answer = ask(root, "where do cats sleep?", top=1000, paths=paths, kinds=kinds)
    assert {hit.file for hit in answer.files} == {hit.file for hit in answer.hits}
    return {hit.file for hit in answer.hits}


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("cats_and_dogs", {"cats_and_dogs/note.md"}),
        ("cats_and_dogs/", {"cats_and_dogs/note.md"}),
        ("cats_and_dogs/note.md", {"cats_and_dogs/note.md"}),
        ("100%", {"100%/cat.md"}),
        ("a[1]", {"a[1]/cat.md"}),
        ("cats*/note.md", {"cats_and_dogs/note.md", "catsXandXdogs/note.md"}),
        ("*.py", {"sleep.py"}),
        ("cat", set()),
    ],
)
def test_a_path_is_a_file_a_folder_or_a_glob(root: Path, path: str, files: set[str]) -> None:
    assert found(root, path) == files


def test_a_folder_is_not_a_name_prefix(root: Path) -> None:
    assert all(file.startswith("cats/") for file in found(root, "cats"))


def test_several_paths_add_up_and_kinds_narrow_them(root: Path) -> None:
    assert found(root, "100%", "sleep.py") == {"100%/cat.md", "sleep.py"}
    assert found(root, "100%", "sleep.py", kinds=("python",)) == {"sleep.py"}


def test_an_unknown_kind_names_the_known_ones(root: Path) -> None:
    with pytest.raises(UsageError, match="no file of kind pyhton") as error:
        found(root, kinds=("pyhton",))
    assert error.value.hint == "kinds: markdown, python"


def test_the_filter_holds_for_one_query_only(root: Path) -> None:
    assert found(root, "sleep.py") == {"sleep.py"}
    assert len(found(root)) > 100

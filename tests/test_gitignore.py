"""What git ignores is left out: by hand-made trees and by comparison with git itself."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragx.config.settings import Corpus
from tests.trees import grow, paths, reasons

GIT = shutil.which("git")
GIT_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def test_gitignore_files_nest_and_negate(tmp_path: Path) -> None:
    grow(
        tmp_path,
        {
            ".gitignore": "*.log\nbuild/\n/only-root.md\nout\n!out/keep.md\n",
            "sub/.gitignore": "!important.log\nlocal.md\r\n",
            "a.log": "",
            "build/a.md": "",
            "only-root.md": "",
            "out/keep.md": "",
            "sub/build": "a file, and the pattern is for folders",
            "sub/important.log": "",
            "sub/local.md": "",
            "sub/only-root.md": "",
            "sub/deep/local.md": "",
            "local.md": "",
        },
    )
    assert paths(tmp_path) == ["local.md", "sub/build", "sub/important.log", "sub/only-root.md"]
    left_out = {path for path, reason in reasons(tmp_path).items() if reason == "ignored by git"}
    assert left_out == {"a.log", "build/", "only-root.md", "out/", "sub/local.md", "sub/deep/local.md"}
    assert len(paths(tmp_path, Corpus(include=("*",), exclude=(), respect_gitignore=False))) == 10


def test_info_exclude_counts_and_gitignore_overrules_it(tmp_path: Path) -> None:
    grow(tmp_path, {".git/info/exclude": "*.md\n", "sub/.gitignore": "!b.md\n", "a.md": "", "sub/b.md": ""})
    assert paths(tmp_path) == ["sub/b.md"]


def test_only_markdown_allowed_through_star_and_negation(tmp_path: Path) -> None:
    grow(tmp_path, {".gitignore": "*\n!*/\n!*.md\n", "a.md": "", "a.txt": "", "s/b.md": "", "s/b.txt": ""})
    assert paths(tmp_path) == ["a.md", "s/b.md"]


def test_pattern_that_matches_a_folder_says_nothing_of_the_files_in_it(tmp_path: Path) -> None:
    grow(tmp_path, {".gitignore": "*.log\n!/sub\n/out\n!/out/\n", "sub/a.log": "", "sub/b.md": "", "out/c.md": ""})
    assert paths(tmp_path) == ["out/c.md", "sub/b.md"]


def test_gitignore_with_mark_bad_lines_and_escapes(tmp_path: Path) -> None:
    lines = "\ufeffa.md\n[z-a]\n[\n\\\n/\n//\n!\n# x.md\n\\#h.md\n\\!n.md\nspace.md   \n[[:alpha:].md\n"
    names = ["a.md", "x.md", "#h.md", "!n.md", "space.md", "z.md"]
    grow(tmp_path, {".gitignore": lines, **dict.fromkeys(names, "")})
    assert paths(tmp_path) == ["x.md", "z.md"]


def test_rules_of_the_repository_around_the_corpus_count(tmp_path: Path) -> None:
    grow(
        tmp_path,
        {
            ".gitignore": "root-level.md\n",
            "repo/.git/info/exclude": "excluded.md\n",
            "repo/.gitignore": "*.log\n/docs/notes/drafts/\n",
            "repo/docs/.gitignore": "notes/tmp.md\n",
            "repo/docs/notes/drafts/x.md": "",
            "repo/docs/notes/excluded.md": "",
            "repo/docs/notes/x.log": "",
            "repo/docs/notes/tmp.md": "",
            "repo/docs/notes/sub/tmp.md": "",
            "repo/docs/notes/root-level.md": "",
        },
    )
    assert paths(tmp_path / "repo/docs/notes") == ["root-level.md", "sub/tmp.md"]


def test_ignored_folder_that_is_itself_the_corpus_is_indexed(tmp_path: Path) -> None:
    grow(tmp_path, {".git/HEAD": "", ".gitignore": "*\n", "notes/a.md": "", "notes/b.log": ""})
    grow(tmp_path, {"notes/.gitignore": "*.log"})
    assert paths(tmp_path / "notes") == ["a.md"]


def test_nested_repository_is_content_and_keeps_its_own_rules(tmp_path: Path) -> None:
    grow(
        tmp_path,
        {
            ".git/HEAD": "",
            ".gitignore": "*.log\n/ignored/\n",
            "inner/.git/info/exclude": "private.md\n",
            "inner/.gitignore": "*.tmp\n",
            "inner/a.log": "",
            "inner/a.tmp": "",
            "inner/private.md": "",
            "ignored/.git/HEAD": "",
            "ignored/a.md": "",
            ".git/modules/part/info/exclude": "private.md\n",
            "part/.git": "gitdir: ../.git/modules/part\n",
            "part/a.log": "",
            "part/private.md": "",
            "broken/.git": "nothing of use",
            "broken/info/exclude": "*",
        },
    )
    assert paths(tmp_path) == ["broken/info/exclude", "inner/a.log", "part/a.log"]


@pytest.mark.skipif(GIT is None, reason="needs git")
def test_linked_work_tree_takes_the_exclude_file_of_its_repository(tmp_path: Path) -> None:
    for command in ("init -q main", "-C main commit -q --allow-empty -m x", "-C main worktree add -q ../linked"):
        subprocess.run(["git", *command.split()], cwd=tmp_path, env=GIT_ENVIRONMENT, check=True, capture_output=True)
    grow(tmp_path, {"main/.git/info/exclude": "private.md\n", "linked/private.md": "", "linked/a.md": ""})
    assert paths(tmp_path / "linked") == ["a.md"]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q"], cwd=root, env=GIT_ENVIRONMENT, check=True)
    files = ["a.md", "x.log", "b/a.md", "b/foo", "b/b/x.log", "b/b/foo.md", "foo/a.md", "foo/b/c d.md", "b/foo.md/a"]
    return grow(root, {**dict.fromkeys(files, ""), "b/new\nline/foo": "", "foo/é.md/x.log": "", "end ": ""})


# fmt: off
ATOMS = st.sampled_from([
    "a.md", "b", "foo", "*", "**", "*.md", "*.log", "?", "f*", "f[o]o", "[!a]*", "foo.*", "**foo", "é*", "c\\ d.md",
    "end\\ ",
])
# fmt: on
PATTERNS = st.builds(
    lambda sign, lead, parts, tail: sign + lead + "/".join(parts) + tail,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(ATOMS, min_size=1, max_size=3),
    st.sampled_from(["", "", "/", " ", "\r"]),
)
IGNORE_FILE = st.lists(PATTERNS, max_size=4).map("\n".join)


@pytest.mark.skipif(GIT is None, reason="needs git")
@settings(max_examples=60)
@given(IGNORE_FILE, IGNORE_FILE, IGNORE_FILE, st.sampled_from(["", "b/", "foo/"]))
def test_same_files_as_git_lists(repository: Path, top: str, below: str, exclude: str, corpus: str) -> None:
    grow(repository, {".gitignore": top, "b/.gitignore": below, ".git/info/exclude": exclude})
    listing = ["git", "ls-files", "--others", "--exclude-standard", "-z"]
    untracked = subprocess.run(listing, cwd=repository, env=GIT_ENVIRONMENT, check=True, capture_output=True).stdout
    check = ["git", "check-ignore", "-q", corpus or "."]
    if corpus and subprocess.run(check, cwd=repository, env=GIT_ENVIRONMENT, check=False).returncode == 0:
        return
    want = [path.removeprefix(corpus) for path in untracked.decode().split("\0") if path.startswith(corpus)]
    assert paths(repository / corpus) == sorted(path for path in want if path and not path.endswith(".gitignore"))

"""Filters by path and kind: chosen before any leg looks for its best, so a rare match is never crowded out."""

from collections.abc import Callable, Sequence

from ragx.errors import UsageError
from ragx.store import Store, statements

_SEARCH = statements("search")
_WILDCARDS = frozenset("*?[")


def set_scope(store: Store, paths: Sequence[str], kinds: Sequence[str], warn: Callable[[str], None]) -> bool:
    """Restricts the next query to the files that match one of `paths` and one of `kinds`; False: it is not restricted.

    A path without wildcards is a file or a folder; with wildcards it is a gitignore-style glob. Warns where no file
    matches.
    """
    store.run(_SEARCH.clear_scope)
    if not paths and not kinds:
        return False
    if not all(path.strip() for path in paths):
        raise UsageError("a path to filter by is empty", "name a file, a folder or a glob, or leave --path out")
    files = store.rows(_SEARCH.list_files)
    known = {kind for _, _, kind in files}
    if unknown := sorted(set(kinds) - known):
        raise UsageError(f"no file of kind {unknown[0]} is indexed", f"kinds: {', '.join(sorted(known))}")
    literal = {path.rstrip("/") for path in paths}
    globs = _globs([path for path in paths if _WILDCARDS & set(path)])
    chosen = [
        file_id
        for file_id, path, kind in files
        if (not kinds or kind in kinds) and (not paths or not literal.isdisjoint(_with_parents(path)) or globs(path))
    ]
    if not chosen:
        of_kind = f" of kind {' or '.join(kinds)}" if kinds else ""
        warn(f"no indexed file{of_kind} matches {' or '.join(paths)}")
    store.run(_SEARCH.set_scope, file_ids=chosen)
    return True


def _globs(patterns: Sequence[str]) -> Callable[[str], bool]:
    if not patterns:
        return lambda path: False
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns).match_file


def _with_parents(path: str) -> list[str]:
    """The path and the folders above it."""
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]

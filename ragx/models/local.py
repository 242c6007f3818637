"""A folder with a model in it, described by the files that Hugging Face exports leave there."""

from pathlib import Path
from typing import Any

from ragx.errors import ModelError
from ragx.models.catalogue import EmbedderRow, File, Files, Pooling, RerankerRow
from ragx.parsing import from_json

GRAPHS = ("model.onnx", "onnx/model.onnx")


def files_in(folder: Path) -> Files:
    """The model's files, relative to `folder`; ModelError says which one is missing."""
    graph = next((name for name in GRAPHS if (folder / name).is_file()), None)
    tokenizer = next((name for name in ("tokenizer.json", "onnx/tokenizer.json") if (folder / name).is_file()), None)
    if graph is None or tokenizer is None:
        missing = "model.onnx" if graph is None else "tokenizer.json"
        wrong = f"has no {missing}" if folder.is_dir() else "is not a folder"
        raise ModelError(
            f"{folder} {wrong}", "name a folder that holds model.onnx (or onnx/model.onnx) and tokenizer.json"
        )
    path = folder / graph
    # Exporters call the weights that do not fit into the graph's file model.onnx_data or model.onnx.data.
    data = sorted(p for p in path.parent.iterdir() if p.name.startswith(path.name) and p != path)
    return Files(File(graph), File(tokenizer), tuple(File(p.relative_to(folder).as_posix()) for p in data))


def embedder_row(model: str, folder: Path) -> EmbedderRow:
    """What the folder says about its model; what it does not say is as with BERT: 512 positions, first token."""
    prompts = _json(folder, "config_sentence_transformers.json").get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    return EmbedderRow(
        name=model,
        repo="",
        bundled=None,
        hub=files_in(folder),
        dimension=0,
        positions=_positions(folder),
        pooling=_pooling(_json(folder, "1_Pooling/config.json")),
        doc_prefix=prompts.get("document") or prompts.get("passage") or "",
        query_prefix=prompts.get("query") or "",
        languages=frozenset(),
        licence="",
        memory_mb=0,
        batch_invariant=False,
    )


def reranker_row(model: str, folder: Path) -> RerankerRow:
    """The folder's cross-encoder with a light weight: nothing is known of how far it may be trusted."""
    return RerankerRow(
        name=model,
        repo="",
        bundled=None,
        hub=files_in(folder),
        alpha=0.1,
        beta=0.12,
        beta_link=0.2,
        gamma=0.78,
        depth=20,
        pair_tokens=min(512, _positions(folder)),
        languages=frozenset(),
        licence="",
        memory_mb=0,
    )


def _positions(folder: Path) -> int:
    config = _json(folder, "config.json")
    positions = _number(config, "max_position_embeddings", 512)
    if config.get("model_type") in ("roberta", "xlm-roberta", "camembert", "mpnet"):
        # These number their positions from the padding token's id on.
        positions -= _number(config, "pad_token_id", 0) + 1
    # What the model was trained on, where that is less than what its graph takes.
    return min(positions, _number(_json(folder, "sentence_bert_config.json"), "max_seq_length", positions))


def _number(config: dict[str, Any], key: str, default: int) -> int:
    value = config.get(key)
    return value if isinstance(value, int) else default


def _pooling(config: dict[str, Any]) -> Pooling:
    if config.get("pooling_mode_mean_tokens"):
        return "mean"
    if config.get("pooling_mode_lasttoken"):
        return "last"
    return "cls"


def _json(folder: Path, name: str) -> dict[str, Any]:
    try:
        value = from_json((folder / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot read {folder / name}: {error}", "export the model again") from error
    return value if isinstance(value, dict) else {}

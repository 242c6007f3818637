"""The JSON documents: their golden files, their schemas, and the texts and numbers in them."""

import json
import math
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError

from ragx.config import Config
from ragx.config.settings import Query
from ragx.render.documents import files_document, global_document, index_document, query_document, status_document
from ragx.render.graphemes import boundary, clusters
from ragx.types import Answer, IndexReport
from tests.rendered import ANSWER, COMMUNITIES, REPORT, STATUS, WITH_CONTEXT, WRITTEN, golden, valid

FAMILY = "👨\u200d👩\u200d👧"
SCHEMAS = sorted(entry.name for entry in (files("ragx") / "schemas").iterdir())


def limited(characters: int) -> Config:
    return Config(query=Query(max_chunk_chars=characters))


def first_text(text: str, characters: int) -> tuple[str, bool]:
    answer = replace(ANSWER, hits=(replace(ANSWER.hits[0], text=text),))
    result = valid(query_document(answer, limited(characters)))["results"][0]
    return result["text"], result["truncated"]


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("query.json", query_document(ANSWER, limited(200))),
        ("query_context.json", query_document(WITH_CONTEXT, limited(30))),
        ("files.json", files_document(ANSWER, 2)),
        ("global.json", global_document(ANSWER, COMMUNITIES, limited(200))),
        ("global_answer.json", global_document(WRITTEN, COMMUNITIES[:1], limited(30))),
        ("index.json", index_document(REPORT)),
        ("index_verbose.json", index_document(REPORT, name_files=True)),
        ("status.json", status_document(STATUS)),
        ("status_pending.json", status_document(STATUS, pending=True)),
    ],
)
def test_each_document_is_what_its_golden_file_says_and_valid(name: str, document: dict[str, Any]) -> None:
    assert valid(document) == json.loads(golden(name))


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_strict_so_that_a_misspelt_key_cannot_pass(name: str) -> None:
    schema = json.loads((files("ragx") / "schemas" / name).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    assert name == f"{schema['properties']['schema']['const']}.json"

    def objects(part: Any) -> list[dict[str, Any]]:
        if isinstance(part, list):
            return [found for entry in part for found in objects(entry)]
        if not isinstance(part, dict):
            return []
        return [part] * (part.get("type") == "object") + [found for entry in part.values() for found in objects(entry)]

    for part in objects(schema):
        assert "additionalProperties" in part, part
        if "properties" in part:
            assert part["additionalProperties"] is False
            assert set(part["required"]) <= set(part["properties"])


def test_an_unknown_or_missing_key_is_refused() -> None:
    document = query_document(ANSWER, Config())
    with pytest.raises(ValidationError, match="unexpected"):
        valid(document | {"reslts": []})
    with pytest.raises(ValidationError, match="'results' is a required property"):
        valid({key: value for key, value in document.items() if key != "results"})


def test_error_and_config_documents_are_valid() -> None:
    valid({"schema": "ragx.error.v1", "code": "no_index", "message": "no index in .ragx", "hint": "run: ragx index"})
    settings: dict[str, Any] = {
        "graph.k": {"value": 8, "source": "default"},
        "corpus.include": {"value": ["*.md"], "source": "ragx.toml"},
        "traversal.hops": {"value": "auto", "source": "~/.ragxrc"},
    }
    valid({"schema": "ragx.config.v1", "settings": settings})


def test_no_hit_is_a_document_with_empty_results_not_an_empty_stdout() -> None:
    empty = replace(ANSWER, hits=(), files=(), relevant=False)
    assert valid(query_document(empty, Config()))["results"] == []
    assert valid(files_document(empty, 8))["files"] == []


def test_what_is_no_number_becomes_null_and_never_nan() -> None:
    parts = replace(ANSWER.hits[0].parts, cosine=math.nan, heat=math.inf, logit=-math.inf)
    answer = replace(ANSWER, hits=(replace(ANSWER.hits[0], parts=parts),))
    result = valid(query_document(answer, Config()))["results"][0]
    assert (result["cosine"], result["breakdown"]["heat"], result["logit"]) == (None, None, None)


def test_a_negative_zero_prints_as_zero() -> None:
    assert '"score": 0.0' in json.dumps(query_document(ANSWER, Config())["results"][2])


def test_the_files_document_is_cut_to_top_but_its_scores_do_not_depend_on_it() -> None:
    assert files_document(ANSWER, 1)["files"] == files_document(ANSWER, 3)["files"][:1]


@pytest.mark.parametrize(
    ("text", "characters", "kept"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "abc"),
        (f"ab{FAMILY}", 4, "ab"),
        (f"ab{FAMILY}c", 7, f"ab{FAMILY}"),
        ("cafe\u0301s", 4, "caf"),
        ("cafe\u0301s", 5, "cafe\u0301"),
        ("👍🏽!", 1, ""),
        ("🇩🇪🇫🇷", 3, "🇩🇪"),
        ("\u1112\u1161\u11ab글", 2, ""),
        ("❤\ufe0f!", 1, ""),
        ("line\r\nnext", 5, "line"),
        ("line\n\n\n\n", 6, "line\n\n"),
        ("न\u093f!", 1, ""),
    ],
)
def test_a_text_is_never_cut_inside_what_a_reader_sees_as_one_sign(text: str, characters: int, kept: str) -> None:
    assert first_text(text, characters) == (kept, len(kept) < len(text))


signs = st.sampled_from(["a", " ", "e\u0301", FAMILY, "🇩🇪", "👍🏽", "\u1112\u1161\u11ab", "\r\n", "日", "\u200d"])


@given(st.lists(signs).map("".join) | st.text(), st.integers(0, 40))
def test_a_cut_text_is_a_beginning_of_whole_graphemes(text: str, at: int) -> None:
    parts = clusters(text)
    assert "".join(parts) == text
    cut = boundary(text, at)
    assert cut <= min(at, len(text))
    assert text[:cut] == "".join(parts[: len(clusters(text[:cut]))])


@given(st.text(), st.integers(1, 50), st.floats() | st.none(), st.floats())
def test_any_text_and_any_number_give_a_valid_document(
    text: str, characters: int, part: float | None, score: float
) -> None:
    parts = replace(ANSWER.hits[0].parts, cosine=part, bm25=part, vector=part, heat=part, rerank=part, logit=part)
    hit = replace(ANSWER.hits[0], text=text, parts=parts, score=abs(score), headings=(text,))
    answer: Answer = replace(ANSWER, hits=(hit,), query=text)
    valid(query_document(answer, limited(characters)))


def test_a_run_that_did_nothing_is_a_valid_document() -> None:
    files_ = replace(REPORT.files, added=(), changed=(), skipped=())
    report = IndexReport("/corpus/.ragx/index.duckdb", False, True, False, files_)
    assert valid(index_document(report, name_files=True))["skipped"] == {}

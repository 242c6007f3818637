"""An indexing run, top to bottom: compare, build aside, publish once."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragx import __version__
from ragx.chunking import VERSION as CHUNKING_VERSION
from ragx.config import Config, check_built_with, index_dir, settings_with_effect
from ragx.errors import IndexUnusable
from ragx.graph import (
    TextGraph,
    find_communities,
    label_communities,
    link_files,
    link_similar,
    link_subchunks,
    random_pair_cosines,
    read_texts,
)
from ragx.indexing import building
from ragx.indexing.describe import Described, describe_communities
from ragx.indexing.embed import OwnSentences, embed_chunks, embed_own_sentences, embed_subchunks, second_best_cosine
from ragx.indexing.ingest import create_staging, drop_files, ingest, settle_terms, touch_files
from ragx.indexing.languages import unread_languages
from ragx.indexing.lock import exclusive
from ragx.indexing.place import check_place
from ragx.indexing.plan import Plan, make_plan
from ragx.indexing.published import Published, read_published
from ragx.indexing.vectors import open_segments, settle_segments
from ragx.links import VERSION as LINKS_VERSION
from ragx.models import load_embedder
from ragx.store import INDEX_NAME, Store, explained, room_in, statements
from ragx.text import VERSION as TERMS_VERSION
from ragx.types import Embedder, FileChanges, IndexReport, Progress, Skipped

_INDEX = statements("index")
_GRAPH = statements("graph")

EARLY_TEXTS = 500
"""From so many texts on (15 s of the bundled model) a first run publishes its keywords before it embeds them."""


@dataclass(frozen=True)
class Options:
    """How to run: `full` builds anew, `keep_vectors` re-uses a full build's unchanged texts' vectors all the same.

    `describe`: a chat model, where one is set up, gives a title to each community that has none.
    """

    full: bool = False
    keep_vectors: bool = False
    dry_run: bool = False
    wait: bool = False
    describe: bool = False


@dataclass
class _Clock:
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - started, 3)


def index(root: Path, config: Config, options: Options, progress: Progress) -> IndexReport:
    """Brings the index of `root` up to date, or says with `dry_run` what that would do."""
    folder = index_dir(root, config)
    if options.dry_run:
        return _index(root, folder, config, options, progress)
    with exclusive(folder, wait=options.wait), explained(folder / INDEX_NAME), room_in(folder):
        check_place(folder, full=options.full)
        return _index(root, folder, config, options, progress)


def _index(root: Path, folder: Path, config: Config, options: Options, progress: Progress) -> IndexReport:
    clock = _Clock()
    published = folder / INDEX_NAME
    scanned_ns = time.time_ns()
    with clock.stage("discover"):
        progress.stage("looking for files", None, "files")
        before = Published() if options.full else read_published(folder, config)
        check_built_with(before.meta.get("full_settings", {}), config)
        rules = {"chunking": CHUNKING_VERSION, "terms": TERMS_VERSION, "links": LINKS_VERSION}
        same_rules = before.meta.get("rules") == rules
        scanned_before_ns = before.meta.get("scanned_ns", 0)
        plan = make_plan(root, config.corpus, folder, before.files, scanned_before_ns, reread=not same_rules)
    graph_settings = settings_with_effect(config, "graph")
    vector_settings = settings_with_effect(config, "vectors")
    same_graph = before.meta.get("graph_settings") == graph_settings
    current = plan.empty and same_graph and before.meta.get("vector_settings") == vector_settings
    current = current and not (options.describe and before.untitled)
    if options.dry_run or current or not (plan.added or before.meta or published.exists()):
        report = IndexReport(
            path=str(published),
            changed=False,
            dry_run=options.dry_run,
            full=options.full,
            files=_file_changes(plan, plan.skipped),
            chunks_total=before.chunks,
            seconds=clock.seconds,
        )
        if current and not options.dry_run:
            building.sweep(folder, full=False, progress=progress)
        return report

    embedder = load_embedder(
        config.embeddings,
        root=root,
        announce=progress.warn,
        built=before.meta.get("embedder"),
        seen=lambda: building.identities(folder),
    )
    _check_model(before.meta, embedder)
    interrupted = building.leftovers(folder)
    anew = options.full and not options.keep_vectors
    with building.start(folder, published if before.meta else None, embedder.dimension, anew=anew) as store:
        # At once: a served model that a later run knows again gives its vectors the ids that they have here.
        store.set_meta("embedder", _identity(embedder))
        store.script("views")  # an earlier version's file has its own
        open_segments(store)
        building.salvage(store, interrupted, anew=anew, progress=progress)
        if before.outdated:
            progress.warn("the index is of an earlier version: it is built anew, with the vectors that it has")
        if (before.outdated or (options.full and options.keep_vectors)) and published.exists():
            building.take_vectors(store, published, progress=progress)
        if options.full and published.exists():
            building.take_titles(store, published)
        with clock.stage("read"):
            store.run(_INDEX.drop_chunk_index)
            create_staging(store)
            drop_files(store, [*plan.removed, *(stat.path for stat in plan.changed)])
            touch_files(store, plan.touched)
            kept = store.value(_INDEX.count_chunks)
            ingested = ingest(store, root, [*plan.added, *plan.changed], config.chunking, embedder, progress)
        with clock.stage("keywords"):
            progress.stage("sorting keywords", None, "")
            settle_terms(store)
        with clock.stage("links"):
            progress.stage("following links", None, "")
            link_files(store)
        noted = {
            "ragx_version": __version__,
            "scanned_ns": scanned_ns,
            "full_settings": settings_with_effect(config, "full"),
            "rules": rules,
            "complete": False,
        }
        report = IndexReport(
            path=str(published),
            changed=True,
            dry_run=False,
            full=options.full,
            files=_file_changes(plan, plan.skipped + ingested.skipped),
            chunks_added=ingested.chunks,
            chunks_removed=before.chunks - kept,
            chunks_total=store.value(_INDEX.count_chunks),
            seconds=clock.seconds,
        )
        if not published.exists() and len(store.rows(_INDEX.missing_embeddings)) >= EARLY_TEXTS:
            with clock.stage("publish"):
                store.checkpoint()
                with building.start(folder, store.path, embedder.dimension, anew=False) as early:
                    _publish(early, folder, noted, report)
        with clock.stage("embed"):
            embedded = embed_chunks(store, embedder, progress)
            # A run that embeds nothing needs no model: the sentences of the run before still stand for the corpus.
            known_ids = before.meta.get("own_sentences")
            sentences = (
                embed_own_sentences(store, embedder, progress)
                if embedded or known_ids is None
                else OwnSentences(tuple(known_ids), 0)
            )
            cut = embed_subchunks(store, embedder, config.graph, progress)
        with clock.stage("edges"):
            texts = read_texts(store, embedder.dimension)
            if config.graph.edge_source == "subchunk":
                link_subchunks(store, texts, config.graph, progress)
            else:
                link_similar(store, texts, before.graph if same_graph else TextGraph.empty(), config.graph.k, progress)
            own_cosine = second_best_cosine(store, texts, sentences)
            unrelated = random_pair_cosines(texts)
        with clock.stage("communities"):
            progress.stage("finding communities", None, "")
            find_communities(store, config.communities)
            label_communities(store)
            store.run(_GRAPH.drop_dead_titles)
        described = Described(0, "")
        if options.describe:
            with clock.stage("describe"):
                described = describe_communities(store, config.expansion, progress)
        with clock.stage("vectors"):
            vector_index = settle_segments(store, config.vectors.hnsw, sentences.ids, progress)
        with clock.stage("publish"):
            progress.stage("publishing", None, "")
            noted |= {
                "graph_settings": graph_settings,
                "vector_settings": vector_settings,
                "own_sentences": sentences.ids,
                "own_sentence_cosine": own_cosine,
                "random_pair_cosines": unrelated,
                "vector_index": vector_index,
                "complete": True,
            }
            texts_read = ingested.texts if before.complete else store.value(_INDEX.count_texts)
            languages = dict(store.rows(_INDEX.count_languages))
            unread = unread_languages(languages, embedder.model, embedder.languages)
            report = replace(
                report,
                texts_embedded=embedded + sentences.computed + cut,
                texts_reused=texts_read - embedded,
                edges_total=store.value(_GRAPH.count_edges),
                communities_total=store.value(_GRAPH.count_communities),
                communities_described=described.count,
                warnings=(
                    *ingested.warnings,
                    *([unread] if unread else []),
                    *([f"describe skipped: {described.failure}"] if described.failure else []),
                ),
            )
            _publish(store, folder, noted, report)
    building.sweep(folder, full=options.full, progress=progress)
    return report


def _publish(store: Store, folder: Path, noted: dict[str, Any], report: IndexReport) -> None:
    """Lets the file say what it is and how it came about, and publishes it."""
    store.run(_INDEX.create_chunk_index)
    for key, value in noted.items():
        store.set_meta(key, value)
    store.set_meta("last_run", {"finished_ns": time.time_ns(), **report.counts(), "seconds": report.seconds})
    building.publish(store, folder)


def _check_model(meta: dict[str, Any], embedder: Embedder) -> None:
    """Refuses to mix vectors of different weights that go by one name."""
    before = meta.get("embedder", {})
    if before and before["fingerprint"] != embedder.fingerprint:
        raise IndexUnusable(
            f"the weights of {embedder.model} are not those that the index was built with", "run: ragx index --full"
        )


def _identity(embedder: Embedder) -> dict[str, Any]:
    return {
        "model": embedder.model,
        "fingerprint": embedder.fingerprint,
        "dimension": embedder.dimension,
        "languages": sorted(embedder.languages),
        "doc_prefix": embedder.doc_prefix,
        "query_prefix": embedder.query_prefix,
        "probe": embedder.probe,
    }


def _file_changes(plan: Plan, skipped: tuple[Skipped, ...]) -> FileChanges:
    """The plan, less what turned out to be no text."""
    unread = {entry.path for entry in skipped}
    return FileChanges(
        added=tuple(stat.path for stat in plan.added if stat.path not in unread),
        changed=tuple(stat.path for stat in plan.changed if stat.path not in unread),
        removed=plan.removed,
        unchanged=plan.unchanged,
        skipped=skipped,
    )

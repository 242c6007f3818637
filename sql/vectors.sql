-- name: allow_persistence
-- A vector index in a file is experimental: the log must not be replayed without the extension, so none is ever left.
SET hnsw_enable_experimental_persistence = true;

-- name: bare_index_scans
-- Without this the index scan sits under a join back to its table.
SET late_materialization_max_rows = 0;

-- name: search_width
-- Candidates that the index search keeps in view: recall against time.
SET hnsw_ef_search = 160;

-- name: fetch_by_index
-- Lets a join with up to 1,000 rows fetch by index: 200 vectors of 20,000 in 2.5 ms instead of 11.
SET dynamic_or_filter_threshold = 1000;

-- name: has_vector_index
-- Whether the indexed segment has its index.
SELECT count(*) > 0 FROM duckdb_indexes() WHERE index_name = 'embeddings_hnsw';

-- name: count_indexed
-- Rows of the indexed segment.
SELECT count(*) FROM embeddings_indexed;

-- name: count_recent
-- Rows of the recent segment.
SELECT count(*) FROM embeddings_recent;

-- name: count_dead_indexed
-- Rows of the indexed segment that no chunk uses: a search must look past them.
SELECT count(*) FROM embeddings_indexed ANTI JOIN chunks ON chunks.embedding_id = embeddings_indexed.id;

-- name: count_dead
-- Rows of both segments that no chunk uses.
SELECT count(*) FROM embeddings ANTI JOIN chunks ON chunks.embedding_id = embeddings.id;

-- name: drop_vector_index
-- Before its table is written.
DROP INDEX IF EXISTS embeddings_hnsw;

-- name: drop_indexed_ids
-- Before its table is written.
DROP INDEX IF EXISTS embeddings_indexed_id;

-- name: drop_recent_ids
-- Before its table is written.
DROP INDEX IF EXISTS embeddings_recent_id;

-- name: merge_segments
-- Recent vectors join the indexed segment.
INSERT INTO embeddings_indexed SELECT id, vector FROM embeddings_recent ORDER BY id;

-- name: clear_recent
-- They are in the indexed segment now.
DELETE FROM embeddings_recent;

-- name: drop_dead_indexed
-- Forgets vectors that no chunk uses, but for those of the sample.
DELETE FROM embeddings_indexed
WHERE id NOT IN (SELECT embedding_id FROM chunks) AND id NOT IN (SELECT unnest($keep::BIGINT[]));

-- name: drop_dead_recent
-- Forgets vectors that no chunk uses, but for those of the sample.
DELETE FROM embeddings_recent
WHERE id NOT IN (SELECT embedding_id FROM chunks) AND id NOT IN (SELECT unnest($keep::BIGINT[]));

-- name: create_vector_index
-- Not inside a transaction: that invalidates the database. The catalog forgets the options, so meta holds them too.
CREATE INDEX embeddings_hnsw ON embeddings_indexed USING HNSW (vector) WITH (metric = 'cosine', M = 16, ef_construction = 128);

-- name: create_indexed_ids
-- A query that searched the vector index fetches a few hundred further vectors by id.
CREATE INDEX embeddings_indexed_id ON embeddings_indexed (id);

-- name: create_recent_ids
-- The same for the recent segment.
CREATE INDEX embeddings_recent_id ON embeddings_recent (id);

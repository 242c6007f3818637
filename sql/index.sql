-- name: read_files
-- What the index knows of each file.
SELECT path, size, mtime_ns, ctime_ns, inode, content_hash, skipped FROM files ORDER BY path;

-- name: touch_files
-- The file system says something new of files whose bytes are the same.
UPDATE files
SET mtime_ns = incoming.mtime_ns, ctime_ns = incoming.ctime_ns, inode = incoming.inode
FROM incoming
WHERE files.id = incoming.id;

-- name: drop_files
-- Forgets files.
DELETE FROM files WHERE id IN (SELECT id FROM incoming);

-- name: drop_chunks
-- Forgets the chunks of files.
DELETE FROM chunks WHERE file_id IN (SELECT id FROM incoming);

-- name: add_files
-- New and changed files.
INSERT INTO files
SELECT id, root, path, size, mtime_ns, ctime_ns, inode, content_hash, kind, language, title, encoding, skipped, aliases FROM incoming;

-- name: add_chunks
-- Their chunks.
INSERT INTO chunks
SELECT
    id, file_id, ordinal, kind, headings, text, text_hash, byte_start, byte_end, line_start, line_end,
    token_count, term_count, language, embedding_id
FROM incoming;

-- name: count_chunks
-- How many chunks.
SELECT count(*) FROM chunks;

-- name: count_languages
-- How many chunks are in which language, most first.
SELECT language, count(*) AS chunks FROM chunks GROUP BY language ORDER BY chunks DESC, language;

-- name: missing_embeddings
-- The texts without a vector, each by its first chunk.
SELECT chunks.embedding_id, min(chunks.id) AS chunk_id
FROM chunks
ANTI JOIN embeddings ON embeddings.id = chunks.embedding_id
GROUP BY chunks.embedding_id
ORDER BY chunks.embedding_id;

-- name: count_texts
-- How many distinct texts.
SELECT count(DISTINCT embedding_id) FROM chunks;

-- name: read_texts
-- The texts of chunks, and the kinds of their files.
SELECT chunks.id, chunks.text, files.kind
FROM chunks
JOIN files ON files.id = chunks.file_id
WHERE chunks.id IN (SELECT unnest($chunk_ids::BIGINT[]))
ORDER BY chunks.id;

-- name: add_embeddings
-- New vectors.
INSERT INTO embeddings_recent SELECT id, vector FROM incoming;

-- name: known_embeddings
-- Which of these vectors are there.
SELECT id FROM embeddings WHERE id IN (SELECT unnest($ids::BIGINT[])) ORDER BY id;

-- name: embeddings_by_id
-- These vectors, in the order of ids.
SELECT id, vector FROM embeddings WHERE id IN (SELECT unnest($ids::BIGINT[])) ORDER BY id;

-- name: take_embeddings
-- Vectors of an attached index file that this one lacks. Ids are hashes of model, prefix and text, so none can be wrong.
-- One of another length is another model's; a run that was interrupted while it committed may hold one twice.
INSERT INTO embeddings_recent
SELECT id, any_value(taken)
FROM (
    SELECT id, TRY_CAST(vector AS embedding) AS taken
    FROM (SELECT * FROM other.embeddings_indexed UNION ALL SELECT * FROM other.embeddings_recent)
)
WHERE taken IS NOT NULL AND id NOT IN (SELECT id FROM embeddings)
GROUP BY id;

-- name: drop_subchunks
-- Forgets the sub-chunks of chunks that are gone.
DELETE FROM subchunks WHERE chunk_id NOT IN (SELECT id FROM chunks);

-- name: uncut_chunks
-- The chunks without sub-chunks.
SELECT chunks.id FROM chunks ANTI JOIN subchunks ON subchunks.chunk_id = chunks.id ORDER BY chunks.id;

-- name: add_subchunks
-- Their sub-chunks.
INSERT INTO subchunks SELECT chunk_id, ordinal, text, embedding_id FROM incoming;

-- name: missing_subchunk_embeddings
-- The texts of sub-chunks without a vector.
SELECT subchunks.embedding_id, min(subchunks.text) AS text
FROM subchunks
ANTI JOIN embeddings ON embeddings.id = subchunks.embedding_id
ANTI JOIN embeddings_subchunk ON embeddings_subchunk.id = subchunks.embedding_id
GROUP BY subchunks.embedding_id
ORDER BY subchunks.embedding_id;

-- name: add_subchunk_embeddings
-- New vectors of sub-chunks.
INSERT INTO embeddings_subchunk SELECT id, vector FROM incoming;

-- name: take_subchunk_embeddings
-- The same as take_embeddings, for sub-chunks.
INSERT INTO embeddings_subchunk
SELECT id, any_value(taken)
FROM (SELECT id, TRY_CAST(vector AS embedding) AS taken FROM other.embeddings_subchunk)
WHERE taken IS NOT NULL AND id NOT IN (SELECT id FROM embeddings_subchunk)
GROUP BY id;

-- name: drop_dead_subchunk_embeddings
-- Forgets vectors that no sub-chunk uses, or that are a chunk's.
DELETE FROM embeddings_subchunk
WHERE id NOT IN (SELECT embedding_id FROM subchunks) OR id IN (SELECT embedding_id FROM chunks);

-- name: sample_texts
-- The texts of the chunks with the smallest ids: ids are hashes, so this is a random sample that edits hardly change.
SELECT chunks.text, files.kind
FROM chunks
JOIN files ON files.id = chunks.file_id
WHERE chunks.id IN (SELECT id FROM chunks ORDER BY id LIMIT $sample)
ORDER BY chunks.id;

-- name: drop_chunk_index
-- An index on a column slows bulk changes down.
DROP INDEX IF EXISTS chunks_id;

-- name: create_chunk_index
-- A query fetches a few dozen chunks by id: 2.5 ms with this index at 50,000 chunks, 40 ms without.
CREATE INDEX chunks_id ON chunks (id);

-- name: measure_chunks
-- How long chunks are in tokens, and in which encoding their bytes are counted.
SELECT chunks.id, chunks.token_count, files.encoding
FROM chunks
JOIN files ON files.id = chunks.file_id
WHERE chunks.id IN (SELECT unnest($chunk_ids::BIGINT[]));

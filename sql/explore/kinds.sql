-- name: kinds
-- Chunks and tokens by kind of file, kind of chunk and language.
SELECT files.kind AS file_kind, chunks.kind, chunks.language, count(*) AS chunks, sum(chunks.token_count)::BIGINT AS tokens
FROM chunks
JOIN files ON files.id = chunks.file_id
GROUP BY ALL
ORDER BY chunks DESC, file_kind, chunks.kind, chunks.language;

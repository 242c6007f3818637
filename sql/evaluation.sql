-- name: list_passages
-- Where every chunk stands.
SELECT chunks.id, files.path, chunks.line_start, chunks.line_end
FROM chunks
JOIN files ON files.id = chunks.file_id
ORDER BY files.path, chunks.ordinal;

-- name: largest_files
-- The largest files, and what they came to.
-- parameter: k = 20
SELECT files.path, files.size, files.kind, count(chunks.id) AS chunks, coalesce(sum(chunks.token_count), 0)::BIGINT AS tokens
FROM files
LEFT JOIN chunks ON chunks.file_id = files.id
WHERE files.skipped = ''
GROUP BY files.path, files.size, files.kind
ORDER BY files.size DESC, files.path
LIMIT $k::INTEGER;

-- name: read_meta
-- Everything that the index says of itself.
SELECT key, value FROM meta ORDER BY key;

-- name: drop_meta
-- Forgets a value of meta.
DELETE FROM meta WHERE key = $key;

-- name: add_meta
-- Notes a value in meta.
INSERT INTO meta VALUES ($key, $value);

-- name: check_blocks
-- Whether a file of this size can hold its blocks: all are whole and stand behind three headers of 4 KiB; free ones may lack.
SELECT ($size - 3 * 4096) % block_size = 0 AND $size - 3 * 4096 >= used_blocks * block_size
FROM pragma_database_size()
WHERE database_name = current_database();

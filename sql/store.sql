-- name: read_meta
-- Everything that the index says of itself.
SELECT key, value FROM meta ORDER BY key;

-- name: drop_meta
-- Forgets a value of meta.
DELETE FROM meta WHERE key = $key;

-- name: add_meta
-- Notes a value in meta.
INSERT INTO meta VALUES ($key, $value);

-- name: measure_blocks
-- How long the file must be at least to hold its blocks: three headers of 4 KiB stand before them.
SELECT 3 * 4096 + total_blocks * block_size FROM pragma_database_size();

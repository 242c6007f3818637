-- name: read_meta
-- Everything that the index says of itself.
SELECT key, value FROM meta ORDER BY key;

-- name: drop_meta
-- Forgets a value of meta.
DELETE FROM meta WHERE key = $key;

-- name: add_meta
-- Notes a value in meta.
INSERT INTO meta VALUES ($key, $value);

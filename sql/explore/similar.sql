-- name: similar
-- The nearest chunks to a chunk, given by its id or as PATH:LINE.
-- parameter: chunk =
-- parameter: k = 8
FROM similar_to(find_chunk($chunk), k := $k::INTEGER);

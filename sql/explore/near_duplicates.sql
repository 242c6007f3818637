-- name: near_duplicates
-- Pairs of chunks that say nearly the same, copies first.
-- parameter: cosine = 0.95
FROM near_duplicates(cosine := $cosine::DOUBLE);

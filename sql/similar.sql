-- name: rank_similar
-- The chunks nearest to some given ones by their best cosine to any of these, with the one that it is to. Not the given ones
-- themselves, nor what overlaps with them in their file; with `elsewhere`, nothing of their file.
WITH given AS MATERIALIZED (
    SELECT chunks.id, chunks.file_id, chunks.byte_start, chunks.byte_end, embeddings.vector
    FROM chunks
    JOIN embeddings ON embeddings.id = chunks.embedding_id
    WHERE chunks.id IN (SELECT unnest($chunk_ids::BIGINT[]))
),
pairs AS (
    SELECT
        embeddings.id AS embedding_id, given.id AS given_id,
        round(least(array_inner_product(embeddings.vector, given.vector), 1)::DOUBLE, 6) AS cosine
    FROM given
    CROSS JOIN embeddings
),
best AS (
    SELECT embedding_id, max(cosine) AS cosine, arg_max(given_id, (cosine, -given_id)) AS given_id
    FROM pairs
    GROUP BY embedding_id
)
SELECT chunks.id, best.given_id, best.cosine, chunks.file_id
FROM best
JOIN chunks ON chunks.embedding_id = best.embedding_id
WHERE best.cosine >= $least
AND NOT EXISTS (
    SELECT 1
    FROM given
    WHERE given.file_id = chunks.file_id
    AND ($elsewhere OR (given.byte_start < chunks.byte_end AND chunks.byte_start < given.byte_end))
)
ORDER BY best.cosine DESC, chunks.id
LIMIT $top;

-- name: list_duplicates
-- Pairs of chunks in different places whose cosine is high enough, out of the edges to the k nearest; copies of a text hang on
-- its first chunk by an edge of weight 1. Longest first where the cosine is the same.
SELECT edges.src, edges.dst, edges.weight, source.embedding_id = target.embedding_id AS identical
FROM edges
JOIN chunks AS source ON source.id = edges.src
JOIN chunks AS target ON target.id = edges.dst
WHERE edges.kind = 'similar' AND edges.weight >= $least AND edges.src < edges.dst
AND NOT (
    source.file_id = target.file_id
    AND source.byte_start < target.byte_end AND target.byte_start < source.byte_end
)
ORDER BY
    identical DESC, edges.weight DESC, least(source.token_count, target.token_count) DESC, edges.src, edges.dst
LIMIT $top;

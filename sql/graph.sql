-- name: read_vectors
-- One vector a distinct text, in the order of ids.
SELECT embeddings.id, embeddings.vector
FROM embeddings
WHERE embeddings.id IN (SELECT embedding_id FROM chunks)
ORDER BY embeddings.id;

-- name: read_text_edges
-- The similar edges between distinct texts; those between copies of one text are left out.
SELECT source.embedding_id AS source, target.embedding_id AS target, edges.weight
FROM edges
JOIN chunks AS source ON source.id = edges.src
JOIN chunks AS target ON target.id = edges.dst
WHERE edges.kind = 'similar' AND source.embedding_id <> target.embedding_id;

-- name: read_text_ids
-- The distinct texts, in the order of ids.
SELECT DISTINCT embedding_id FROM chunks ORDER BY embedding_id;

-- name: drop_similar_edges
-- Forgets the similar edges.
DELETE FROM edges WHERE kind = 'similar';

-- name: add_similar_edges
-- The pairs of texts become edges between their first chunks, in both directions; copies of a text hang on its first chunk.
INSERT INTO edges
WITH first_chunks AS (
    SELECT embedding_id, min(id) AS chunk_id FROM chunks GROUP BY embedding_id
),
pairs AS (
    SELECT source.chunk_id AS a, target.chunk_id AS b, incoming.weight
    FROM incoming
    JOIN first_chunks AS source ON source.embedding_id = incoming.source
    JOIN first_chunks AS target ON target.embedding_id = incoming.target
    UNION ALL
    SELECT first_chunks.chunk_id, chunks.id, 1.0
    FROM chunks
    JOIN first_chunks USING (embedding_id)
    WHERE chunks.id <> first_chunks.chunk_id
)
SELECT src, dst, 'similar', weight, true
FROM (SELECT a AS src, b AS dst, weight FROM pairs UNION ALL SELECT b, a, weight FROM pairs)
ORDER BY src, dst;

-- name: read_edges
-- All edges that can hold a community together, in the order of ids.
SELECT src, dst, weight FROM edges WHERE weight > 0 ORDER BY src, dst;

-- name: drop_communities
-- Forgets the communities.
DELETE FROM communities;

-- name: add_communities
-- The new communities.
INSERT INTO communities SELECT chunk_id, community FROM incoming ORDER BY chunk_id;

-- name: count_edges
-- How many edges; each stands in both directions.
SELECT count(*) // 2 FROM edges;

-- name: count_communities
-- How many communities.
SELECT count(DISTINCT community) FROM communities;

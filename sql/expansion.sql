-- name: clear_wordings
-- Forgets what was found for other wordings of the previous query.
DELETE FROM wordings;

-- name: drop_query_wording
-- Forgets the ranking of the query itself.
DELETE FROM wordings WHERE wording = 0;

-- name: add_wording
-- Notes the pool as the ranking of one wording of the query.
INSERT INTO wordings
SELECT $wording, $weight, unnest(ids), generate_subscripts(ids, 1)
FROM (SELECT list(chunk_id ORDER BY fused DESC, chunk_id) AS ids FROM pool);

-- name: wanted_by_wordings
-- The chunks that a wording found and whose cosine to the query is not known yet.
INSERT INTO wanted SELECT DISTINCT chunk_id FROM wordings ANTI JOIN cosines USING (chunk_id);

-- name: fuse_wordings
-- The union of all wordings' rankings, by the weighted sum of the reciprocal ranks; cosine and BM25 score are the query's own.
INSERT INTO pool
WITH members AS (
    SELECT chunk_id, cosines.cosine, coalesce(keyword_scores.bm25, 0) AS bm25, ranked.reciprocal
    FROM (
        SELECT chunk_id, sum(weight / ($rrf_k + place) ORDER BY wording) AS reciprocal FROM wordings GROUP BY chunk_id
    ) AS ranked
    LEFT JOIN cosines USING (chunk_id)
    LEFT JOIN keyword_scores USING (chunk_id)
),
bounds AS (
    SELECT
        min(cosine) AS cosine_low, max(cosine) AS cosine_high,
        min(bm25) AS bm25_low, nullif(max(bm25), 0) AS bm25_high
    FROM members
)
SELECT
    chunk_id, true, cosine, bm25, min_max(cosine, cosine_low, cosine_high), min_max(bm25, bm25_low, bm25_high), reciprocal
FROM members
CROSS JOIN bounds;

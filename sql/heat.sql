-- name: clear_heat
-- Forgets the previous traversal.
DELETE FROM heat;

-- name: wanted_by_graph
-- The chunks within reach of the seeds whose cosine is not known yet.
INSERT INTO wanted
WITH RECURSIVE reached (chunk_id, hop) USING KEY (chunk_id) AS (
    (SELECT chunk_id, 0 FROM pool ORDER BY fused DESC, chunk_id LIMIT $seeds)
    UNION ALL
    SELECT edges.dst, min(reached.hop) + 1
    FROM reached
    JOIN edges ON edges.src = reached.chunk_id
    WHERE reached.hop < $hops AND edges.dst NOT IN (SELECT chunk_id FROM recurring.reached)
    GROUP BY edges.dst
)
SELECT chunk_id FROM reached ANTI JOIN cosines USING (chunk_id);

-- name: clear_degrees
-- Forgets the degrees of another traversal.
DELETE FROM degrees;

-- name: add_degrees
-- How much weight leaves each chunk and arrives at it, by the part of the heat; of a filter's chunks only, which alone are admitted.
-- It is the same for every query without a filter. Whole millionths add up to the same sum in any order.
INSERT INTO degrees
WITH followed AS (
    SELECT src, dst, heat_part(kind, $aggregate) AS part, round(1e6 * weight)::BIGINT AS weight
    FROM (
        SELECT src, dst, kind, step_weight(kind, weight, $link_weight, $import_weight, $mention_weight, $tag_weight) AS weight
        FROM edges
        WHERE outward AND (kind <> 'similar' OR weight >= $min_edge_sim)
    )
    WHERE weight > 0
),
ends AS (
    SELECT src AS chunk_id, part, weight AS leaving, NULL AS arriving FROM followed
    UNION ALL
    SELECT dst, part, NULL, weight FROM followed WHERE part = 'link' OR $aggregate = 'max'
)
SELECT chunk_id, part, sum(leaving) / 1e6, coalesce(sum(arriving), sum(leaving)) / 1e6  -- similar edges run both ways
FROM ends
WHERE NOT $scoped OR chunk_id IN (SELECT id FROM chunks WHERE file_id IN (SELECT file_id FROM scope))
GROUP BY chunk_id, part;

-- name: spread_heat
-- Heat from the best of the pool over the graph, by either rule.
-- sum (the additive rule): heat comes in two parts. Over similar edges, `heat`, a seed emits what its score exceeds the last seed's
-- by; over links, `link`, the first seeds emit the inverse root of their place, and only to what they name. A chunk's heat is the
-- sum of what arrives.
-- max (the classic rule): all edges are one; a seed starts with its score, a chunk's heat is the hottest arrival.
-- Each step passes on heat x weight x decay, in sums divided by sqrt(degree x degree): of what leaves the source and of what arrives
-- at the target. Only chunks near enough to the query are admitted (seeds always), only the hottest relay, and what is not hotter
-- than before relays nothing. Whole trillionths add up to the same sum in any order. The ways cost a fifth
-- of the time, so only who explains has them.
INSERT INTO heat
WITH RECURSIVE
seeds AS MATERIALIZED (
    SELECT
        unnest(ids) AS chunk_id, unnest(scores) AS fused, generate_subscripts(ids, 1) AS place, scores[-1] AS last
    FROM (
        SELECT list(chunk_id ORDER BY fused DESC, chunk_id) AS ids, list(fused ORDER BY fused DESC, chunk_id) AS scores
        FROM (SELECT chunk_id, fused FROM pool ORDER BY fused DESC, chunk_id LIMIT $seeds)
    )
),
starts AS (
    SELECT
        chunk_id, 'heat' AS part,
        CASE WHEN $aggregate = 'max' THEN fused ELSE 0 END AS heat,
        CASE WHEN $aggregate = 'max' THEN fused ELSE fused - last END AS warmth
    FROM seeds
    UNION ALL
    SELECT chunk_id, 'link', 0, CASE WHEN place <= $link_seeds THEN 1 / sqrt(place) ELSE 0 END
    FROM seeds
    WHERE $aggregate = 'sum'
),
walk (chunk_id, part, heat, warmth, emits, hop, path, kinds, share) USING KEY (chunk_id, part) AS (
    (
        SELECT
            starts.chunk_id, starts.part, starts.heat, starts.warmth,
            CASE WHEN $aggregate = 'sum' THEN starts.warmth / sqrt(degrees.leaving) ELSE starts.warmth END,
            0, [starts.chunk_id], []::VARCHAR[], 1::DOUBLE
        FROM starts
        LEFT JOIN degrees ON degrees.chunk_id = starts.chunk_id AND degrees.part = starts.part
    )
    UNION ALL
    SELECT
        arrivals.chunk_id, arrivals.part,
        CASE WHEN $aggregate = 'max' THEN arrivals.heat ELSE coalesce(known.heat, 0) + arrivals.heat END,
        arrivals.heat,
        CASE WHEN $aggregate = 'sum' THEN arrivals.heat / sqrt(arrivals.leaving) ELSE arrivals.heat END,
        arrivals.hop, arrivals.path, arrivals.kinds,
        CASE WHEN $aggregate = 'max' THEN 1 ELSE arrivals.most / (coalesce(known.heat, 0) + arrivals.heat) END
    FROM (
        SELECT
            passed.chunk_id, passed.part, passed.hop, passed.path, passed.kinds, degrees.leaving,
            passed.heat / CASE WHEN $aggregate = 'sum' THEN sqrt(degrees.arriving) ELSE 1 END / 1e12 AS heat,
            passed.most / CASE WHEN $aggregate = 'sum' THEN sqrt(degrees.arriving) ELSE 1 END / 1e12 AS most
        FROM (
            SELECT
                dst AS chunk_id, part,
                CASE WHEN $aggregate = 'max' THEN max(passed) ELSE sum(passed) END AS heat,
                max(passed) AS most,
                CASE WHEN $explain THEN arg_max(list_append(path, dst), (passed, -parent, kind)) END AS path,
                CASE WHEN $explain THEN arg_max(list_append(kinds, kind), (passed, -parent, kind)) END AS kinds,
                min(hop) + 1 AS hop
            FROM (
                SELECT
                    frontier.chunk_id AS parent, frontier.part, frontier.path, frontier.kinds, frontier.hop,
                    edges.dst, edges.kind,
                    round(
                        1e12 * frontier.emits * $decay
                        * step_weight(edges.kind, edges.weight, $link_weight, $import_weight, $mention_weight, $tag_weight)
                    )::BIGINT AS passed
                FROM (
                    SELECT * FROM walk
                    WHERE hop < $hops AND warmth > 0
                    ORDER BY warmth DESC, chunk_id, part
                    LIMIT $max_frontier
                ) AS frontier
                JOIN edges ON edges.src = frontier.chunk_id AND heat_part(edges.kind, $aggregate) = frontier.part
                WHERE edges.outward AND (edges.kind <> 'similar' OR edges.weight >= $min_edge_sim)
            )
            GROUP BY dst, part
        ) AS passed
        JOIN degrees ON degrees.chunk_id = passed.chunk_id AND degrees.part = passed.part
    ) AS arrivals
    LEFT JOIN recurring.walk AS known ON known.chunk_id = arrivals.chunk_id AND known.part = arrivals.part
    LEFT JOIN cosines ON cosines.chunk_id = arrivals.chunk_id
    WHERE (known.chunk_id IS NOT NULL OR coalesce(cosines.cosine, -1) >= $query_floor)
    AND arrivals.heat > CASE WHEN $aggregate = 'max' THEN coalesce(known.heat, 0) ELSE 0 END
)
SELECT chunk_id, part, heat, hop, path, kinds, share FROM walk WHERE heat > 0;

-- name: links_followed
-- Whether heat came over explicit links.
SELECT count(*) > 0 FROM heat WHERE part = 'link';

-- name: drop_heated
-- Takes out of the pool what only a traversal found.
DELETE FROM pool WHERE NOT retrieved;

-- name: admit_heated
-- Chunks that only the graph found join the pool, scored on the scale of those that the legs found.
INSERT INTO pool
WITH bounds AS (
    SELECT
        min(cosine) AS cosine_low, max(cosine) AS cosine_high,
        min(bm25) AS bm25_low, nullif(max(bm25), 0) AS bm25_high
    FROM pool
),
parts AS (
    SELECT
        heat.chunk_id,
        cosines.cosine,
        coalesce(keyword_scores.bm25, 0) AS bm25,
        min_max(cosines.cosine, cosine_low, cosine_high) AS vector,
        min_max(coalesce(keyword_scores.bm25, 0), bm25_low, bm25_high) AS lexical
    FROM (SELECT DISTINCT chunk_id FROM heat) AS heat
    ANTI JOIN pool USING (chunk_id)
    LEFT JOIN cosines USING (chunk_id)
    LEFT JOIN keyword_scores USING (chunk_id)
    CROSS JOIN bounds
)
SELECT
    chunk_id, false, cosine, bm25, vector, lexical,
    CASE WHEN $method = 'rrf' THEN 0 ELSE convex(vector, lexical, $vector_weight) END
FROM parts;

-- name: heat_paths
-- On which way the most heat reached chunks: from the seed to the chunk itself, over edges of which kinds, and which share of all.
SELECT chunk_id, part, path, kinds, share FROM heat WHERE hop > 0 AND chunk_id IN (SELECT unnest($chunk_ids::BIGINT[]))
ORDER BY chunk_id, part;

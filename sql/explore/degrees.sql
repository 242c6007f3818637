-- name: degrees
-- How many chunks have how many edges.
-- parameter: min_weight = 0.55
SELECT degree, count(*) AS chunks
FROM (
    SELECT chunks.id, count(edges.dst) AS degree
    FROM chunks
    LEFT JOIN edges ON edges.src = chunks.id AND (edges.kind <> 'similar' OR edges.weight >= $min_weight::DOUBLE)
    GROUP BY chunks.id
)
GROUP BY degree
ORDER BY degree;

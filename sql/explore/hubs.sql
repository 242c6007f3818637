-- name: hubs
-- The chunks with the most edges, by kind: what much of the corpus is about.
-- parameter: k = 20
-- parameter: min_weight = 0.55
FROM hubs(k := $k::INTEGER, min_weight := $min_weight::DOUBLE);

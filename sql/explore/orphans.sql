-- name: orphans
-- The chunks that no other is similar to.
-- parameter: min_weight = 0.55
FROM orphans(min_weight := $min_weight::DOUBLE);

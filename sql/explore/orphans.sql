-- name: orphans
-- The chunks that no other is similar to, of files without a link from or to another.
-- parameter: min_weight = 0.55
FROM orphans(min_weight := $min_weight::DOUBLE);

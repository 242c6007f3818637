-- name: bridges
-- The strongest edges between files of different folders.
-- parameter: k = 20
FROM bridges(k := $k::INTEGER);

-- name: bridges
-- The strongest edges of a kind (similar, link, import, mention, tag) between files of different folders.
-- parameter: k = 20
-- parameter: kind = similar
FROM bridges(k := $k::INTEGER, kind := $kind);

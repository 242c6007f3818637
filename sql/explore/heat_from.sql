-- name: heat_from
-- Where heat from a chunk (its id or PATH:LINE) gets to over similar edges and links.
-- parameter: chunk =
-- parameter: hops = 2
FROM heat_from(find_chunk($chunk), hops := $hops::INTEGER);

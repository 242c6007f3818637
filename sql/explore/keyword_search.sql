-- name: keyword_search
-- The best chunks for plain words, by BM25.
-- parameter: words =
-- parameter: k = 10
FROM keyword_search($words, k := $k::INTEGER);

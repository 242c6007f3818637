-- name: count_rows
-- An index in numbers. Files without a chunk because they are no text do not count; an edge stands in both directions.
SELECT
    (SELECT count(*) FROM files WHERE skipped = '') AS files,
    (SELECT count(*) FROM chunks) AS chunks,
    (SELECT count(DISTINCT embedding_id) FROM chunks) AS texts,
    (SELECT count(*) FROM links) AS links,
    (SELECT count(*) FROM unresolved_links) AS unresolved_links,
    (SELECT count(*) // 2 FROM edges) AS edges,
    (SELECT count(DISTINCT community) FROM communities) AS communities;

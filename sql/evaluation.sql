-- name: list_passages
-- Where every chunk stands.
SELECT chunks.id, files.path, chunks.line_start, chunks.line_end, chunks.headings
FROM chunks
JOIN files ON files.id = chunks.file_id
ORDER BY files.path, chunks.ordinal;

-- name: list_kinds
-- The kinds of edges that the graph has.
SELECT DISTINCT kind FROM edges WHERE outward;

-- name: list_steps
-- The edges that `spread_heat` follows, in the order of its parts.
SELECT
    src, dst, heat_part(kind, $aggregate) = 'link' AS is_link,
    step_weight(kind, weight, $link_weight, $import_weight, $mention_weight, $tag_weight) AS weight
FROM edges
WHERE outward AND (kind <> 'similar' OR weight >= $min_edge_sim)
ORDER BY src, is_link, dst, kind;

-- name: list_degrees
-- How much weight leaves each chunk and arrives at it; what nothing leaves emits nothing.
SELECT chunk_id, part = 'link' AS is_link, coalesce(leaving, 'inf') AS leaving, arriving FROM degrees;

-- name: list_cosines
-- What the vector leg says.
SELECT chunk_id, cosine FROM cosines;

-- name: list_keyword_scores
-- What the keyword leg says.
SELECT chunk_id, bm25 FROM keyword_scores ORDER BY chunk_id;

-- name: list_texts
-- What the cross-encoder gets of chunks, as `shortlist` gives it.
SELECT chunks.id, chunks.text, files.path, chunks.headings, chunks.language
FROM chunks
JOIN files ON files.id = chunks.file_id
WHERE chunks.id IN (SELECT unnest($chunk_ids::BIGINT[]));

-- name: communities
-- What each community is about, and its central chunk.
-- parameter: k = 20
SELECT labels.community, size, name, terms, title, path, line_start, line_end, headings
FROM v_community_labels AS labels
JOIN v_communities USING (chunk_id)
ORDER BY labels.community
LIMIT $k::INTEGER;

-- name: communities
-- What each community is about, and its central chunk.
-- parameter: k = 20
SELECT community_labels.community, size, name, terms, path, line_start, line_end, headings
FROM community_labels
JOIN v_communities USING (chunk_id)
ORDER BY community_labels.community
LIMIT $k::INTEGER;

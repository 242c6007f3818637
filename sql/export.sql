-- name: export_files
-- What is the machine's alone (inode, change time) stays behind.
SELECT id, root, path, size, mtime_ns, content_hash, kind, language, title, encoding, skipped, aliases FROM files ORDER BY id;

-- name: export_chunks
-- With their text.
SELECT
    id, file_id, ordinal, kind, headings, text, text_hash, byte_start, byte_end, line_start, line_end,
    token_count, term_count, language, embedding_id
FROM chunks
ORDER BY id;

-- name: export_chunks_without_text
-- The same, for where the texts must not go.
SELECT
    id, file_id, ordinal, kind, headings, text_hash, byte_start, byte_end, line_start, line_end,
    token_count, term_count, language, embedding_id
FROM chunks
ORDER BY id;

-- name: export_embeddings
-- The vectors of the chunks; those of texts that are gone stay behind.
SELECT id, vector FROM embeddings WHERE id IN (SELECT embedding_id FROM chunks) ORDER BY id;

-- name: export_edges
-- In both directions.
SELECT src, dst, kind, weight, outward FROM edges ORDER BY src, dst, kind;

-- name: export_links
-- Those that lead nowhere too.
SELECT chunk_id, kind, target, heading, line, file_id, target_id FROM links ORDER BY chunk_id, line, kind, target, heading;

-- name: export_communities
-- Of the chunks that have an edge.
SELECT chunk_id, community FROM communities ORDER BY chunk_id;

-- name: export_community_labels
-- What each is about.
SELECT community, size, name, terms, chunk_id, headings, content_hash, title, summary FROM v_community_labels ORDER BY community;

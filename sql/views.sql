-- Views and macros for ad-hoc SQL, stored in the index file: they work in any DuckDB client, without ragx or an extension.

CREATE VIEW embeddings AS
SELECT id, vector FROM embeddings_indexed
UNION ALL
SELECT id, vector FROM embeddings_recent;
COMMENT ON VIEW embeddings IS 'All unit vectors; some belong to texts that are no longer in a chunk';

CREATE VIEW v_chunks AS
SELECT chunks.*, files.path, files.title, files.kind AS file_kind, embeddings.vector
FROM chunks
JOIN files ON files.id = chunks.file_id
LEFT JOIN embeddings ON embeddings.id = chunks.embedding_id;
COMMENT ON VIEW v_chunks IS 'Chunks with the path and title of their file and their vector';

CREATE VIEW v_edges AS
SELECT edges.*, source_file.path AS src_path, target_file.path AS dst_path
FROM edges
JOIN chunks AS source ON source.id = edges.src
JOIN chunks AS target ON target.id = edges.dst
JOIN files AS source_file ON source_file.id = source.file_id
JOIN files AS target_file ON target_file.id = target.file_id;
COMMENT ON VIEW v_edges IS 'Edges with the paths at both ends';

CREATE MACRO neighbors_of(chunk) AS TABLE
SELECT edges.dst AS chunk_id, files.path, chunks.line_start, chunks.line_end, edges.kind, edges.weight
FROM edges
JOIN chunks ON chunks.id = edges.dst
JOIN files ON files.id = chunks.file_id
WHERE edges.src = chunk
ORDER BY edges.weight DESC, chunk_id;

CREATE MACRO similar_to(chunk, k := 8) AS TABLE
SELECT other.id AS chunk_id, other.path, other.line_start, other.line_end,
       array_inner_product(other.vector, this.vector) AS cosine
FROM v_chunks AS this, v_chunks AS other
WHERE this.id = chunk AND other.id <> chunk
ORDER BY cosine DESC, chunk_id
LIMIT k;

CREATE MACRO keyword_search(words, k := 10) AS TABLE
WITH corpus AS (
    SELECT count(*) AS chunk_count, avg(term_count) AS mean_terms FROM chunks
),
query_terms AS (
    SELECT DISTINCT forms.term_id
    FROM (SELECT unnest(string_split_regex(lower(words), '\s+')) AS form) AS typed
    JOIN forms ON forms.form = typed.form
)
SELECT chunks.id AS chunk_id, files.path, chunks.line_start, chunks.line_end,
       sum(
           ln(1 + (corpus.chunk_count - terms.df + 0.5) / (terms.df + 0.5))
           * postings.tf * 2.2 / (postings.tf + 1.2 * (0.25 + 0.75 * chunks.term_count / corpus.mean_terms))
       ) AS bm25
FROM query_terms
JOIN terms ON terms.id = query_terms.term_id
JOIN postings ON postings.term_id = query_terms.term_id
JOIN chunks ON chunks.id = postings.chunk_id
JOIN files ON files.id = chunks.file_id
CROSS JOIN corpus
GROUP BY chunks.id, files.path, chunks.line_start, chunks.line_end
ORDER BY bm25 DESC, chunk_id
LIMIT k;

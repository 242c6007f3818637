-- Views and macros for ad-hoc SQL, stored in the index file: they work in any DuckDB client, without ragx or an extension.

CREATE OR REPLACE VIEW embeddings AS
SELECT id, vector FROM embeddings_indexed
UNION ALL
SELECT id, vector FROM embeddings_recent;
COMMENT ON VIEW embeddings IS 'All unit vectors; some belong to texts that are no longer in a chunk';

CREATE OR REPLACE VIEW v_chunks AS
SELECT chunks.*, files.path, files.title, files.kind AS file_kind, embeddings.vector
FROM chunks
JOIN files ON files.id = chunks.file_id
LEFT JOIN embeddings ON embeddings.id = chunks.embedding_id;
COMMENT ON VIEW v_chunks IS 'Chunks with the path and title of their file and their vector';

CREATE OR REPLACE VIEW v_edges AS
SELECT edges.*, source_file.path AS src_path, target_file.path AS dst_path
FROM edges
JOIN chunks AS source ON source.id = edges.src
JOIN chunks AS target ON target.id = edges.dst
JOIN files AS source_file ON source_file.id = source.file_id
JOIN files AS target_file ON target_file.id = target.file_id;
COMMENT ON VIEW v_edges IS 'Edges with the paths at both ends';

CREATE OR REPLACE VIEW v_links AS
SELECT
    source_file.path, links.line, source.line_start, source.line_end, links.chunk_id, links.kind, links.target, links.heading,
    target_file.path AS target_path, target.line_start AS target_line_start, target.line_end AS target_line_end, links.target_id,
    -- What names a library need not be here; a path from the file that imports it must.
    links.file_id IS NULL AND links.kind <> 'tag' AND (
        links.kind <> 'import' OR regexp_matches(links.target, '^(\.|[@~]/|mod )')
    ) AS unresolved
FROM links
JOIN chunks AS source ON source.id = links.chunk_id
JOIN files AS source_file ON source_file.id = source.file_id
LEFT JOIN files AS target_file ON target_file.id = links.file_id
LEFT JOIN chunks AS target ON target.id = links.target_id;
COMMENT ON VIEW v_links IS 'Links with path, line and chunk of their source and path and chunk of their target; unresolved: it should lead to a file, and does not';

CREATE OR REPLACE VIEW unresolved_links AS
SELECT path, line, kind, target, heading FROM v_links WHERE unresolved ORDER BY path, line, kind, target, heading;
COMMENT ON VIEW unresolved_links IS 'Links that lead to no file of the corpus; imports of libraries and tags are none';

CREATE OR REPLACE MACRO backlinks(path) AS TABLE
SELECT v_links.path, v_links.line, v_links.kind, v_links.target, v_links.heading, v_links.chunk_id, v_links.target_id
FROM v_links
WHERE v_links.target_path = path AND v_links.path <> path
ORDER BY v_links.path, v_links.line, v_links.kind, v_links.target, v_links.heading;

-- Whole millionths, as sums of floats depend on their order.
CREATE OR REPLACE VIEW v_communities AS
SELECT
    communities.community, communities.chunk_id, files.path, chunks.line_start, chunks.line_end,
    coalesce(inside.strength, 0) AS strength
FROM communities
JOIN chunks ON chunks.id = communities.chunk_id
JOIN files ON files.id = chunks.file_id
LEFT JOIN (
    SELECT edges.src AS chunk_id, sum((edges.weight * 1e6)::BIGINT) / 1e6 AS strength
    FROM edges
    JOIN communities AS source ON source.chunk_id = edges.src
    JOIN communities AS target ON target.chunk_id = edges.dst AND target.community = source.community
    GROUP BY edges.src
) AS inside ON inside.chunk_id = communities.chunk_id;
COMMENT ON VIEW v_communities IS 'Members of the communities with their place and the sum of their edges inside';

CREATE OR REPLACE VIEW v_community_labels AS
SELECT
    community_labels.*, coalesce(community_titles.title, '') AS title, coalesce(community_titles.summary, '') AS summary
FROM community_labels
LEFT JOIN community_titles USING (content_hash);
COMMENT ON VIEW v_community_labels IS 'What each community is about, with the title and summary of a chat model, empty where none was asked';

CREATE OR REPLACE MACRO neighbors_of(chunk) AS TABLE
SELECT edges.dst AS chunk_id, files.path, chunks.line_start, chunks.line_end, edges.kind, edges.weight, edges.outward
FROM edges
JOIN chunks ON chunks.id = edges.dst
JOIN files ON files.id = chunks.file_id
WHERE edges.src = chunk
ORDER BY edges.weight DESC, chunk_id, edges.kind;

CREATE OR REPLACE MACRO similar_to(chunk, k := 8) AS TABLE
SELECT other.id AS chunk_id, other.path, other.line_start, other.line_end,
       array_inner_product(other.vector, this.vector) AS cosine
FROM v_chunks AS this, v_chunks AS other
WHERE this.id = chunk AND other.id <> chunk
ORDER BY cosine DESC, chunk_id
LIMIT k;

CREATE OR REPLACE MACRO keyword_search(words, k := 10, k1 := 1.2, b := 0.75) AS TABLE
WITH corpus AS (
    SELECT count(*) AS chunk_count, avg(term_count) AS mean_terms FROM chunks
),
runs AS (
    SELECT unnest(regexp_extract_all(words, '[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Hangul}\p{Thai}]+')) AS run
),
query_terms AS (
    SELECT DISTINCT forms.term_id
    FROM (
        SELECT trim(unnest(string_split_regex(strip_accents(lower(words)), '\s+')), '.,;:!?()"''') AS form
        UNION ALL
        SELECT substr(run, unnest(range(1, greatest(length(run), 2))), 2) FROM runs
    ) AS typed
    JOIN forms ON forms.form = typed.form
)
SELECT chunks.id AS chunk_id, files.path, chunks.line_start, chunks.line_end,
       sum(
           ln(1 + (corpus.chunk_count - terms.df + 0.5) / (terms.df + 0.5))
           * postings.tf * (k1 + 1) / (postings.tf + k1 * (1 - b + b * chunks.term_count / corpus.mean_terms))
           ORDER BY terms.id
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

-- The last chunk that begins at or before the line; without a line, the first of the file.
CREATE OR REPLACE MACRO find_chunk(place) AS (
    SELECT min(id)
    FROM (
        SELECT id FROM chunks WHERE id = TRY_CAST(place AS BIGINT)
        UNION ALL
        SELECT arg_max(chunks.id, (chunks.line_start, -chunks.ordinal))
        FROM chunks
        JOIN files ON files.id = chunks.file_id
        WHERE files.path = regexp_replace(place::VARCHAR, ':\d+(-\d+)?$', '') AND (
            chunks.ordinal = 0
            OR chunks.line_start <= coalesce(TRY_CAST(regexp_extract(place::VARCHAR, ':(\d+)(-\d+)?$', 1) AS INTEGER), 1)
        )
    )
);

CREATE OR REPLACE MACRO hubs(k := 20, min_weight := 0.55) AS TABLE
SELECT
    chunks.id AS chunk_id, files.path, chunks.line_start, chunks.line_end,
    count(*) AS edge_count, sum(edges.weight) AS strength, histogram(edges.kind) AS kinds
FROM edges
JOIN chunks ON chunks.id = edges.src
JOIN files ON files.id = chunks.file_id
WHERE edges.kind <> 'similar' OR edges.weight >= min_weight
GROUP BY chunks.id, files.path, chunks.line_start, chunks.line_end
ORDER BY edge_count DESC, strength DESC, chunk_id
LIMIT k;

-- A reader comes to a section by a link to its file, so what counts is whether the file has links from or to others.
CREATE OR REPLACE MACRO orphans(min_weight := 0.55) AS TABLE
WITH linked AS (
    SELECT source.file_id
    FROM edges
    JOIN chunks AS source ON source.id = edges.src
    JOIN chunks AS target ON target.id = edges.dst
    WHERE edges.kind <> 'similar' AND source.file_id <> target.file_id
)
SELECT chunks.id AS chunk_id, files.path, chunks.line_start, chunks.line_end, max(edges.weight) AS strongest
FROM chunks
JOIN files ON files.id = chunks.file_id
LEFT JOIN edges ON edges.src = chunks.id AND edges.kind = 'similar'
WHERE chunks.file_id NOT IN (SELECT file_id FROM linked)
GROUP BY ALL
HAVING coalesce(max(edges.weight), -1) < min_weight
ORDER BY strongest NULLS FIRST, chunk_id;

CREATE OR REPLACE MACRO near_duplicates(cosine := 0.95) AS TABLE
SELECT
    edges.weight, source_file.path AS path, source.line_start, source.line_end, edges.src AS chunk_id,
    target_file.path AS other_path, target.line_start AS other_line_start, target.line_end AS other_line_end,
    edges.dst AS other_chunk_id
FROM edges
JOIN chunks AS source ON source.id = edges.src
JOIN chunks AS target ON target.id = edges.dst
JOIN files AS source_file ON source_file.id = source.file_id
JOIN files AS target_file ON target_file.id = target.file_id
WHERE edges.kind = 'similar' AND edges.weight >= cosine
    AND (source_file.path, source.ordinal) < (target_file.path, target.ordinal)
ORDER BY edges.weight DESC, path, source.ordinal, other_path, target.ordinal;

-- The folders of a link stand in its direction; the other kinds have none, and each pair stands once.
CREATE OR REPLACE MACRO bridges(k := 20, kind := 'similar') AS TABLE
SELECT
    edges.weight, edges.kind, source_file.path AS path, source.line_start, source.line_end, edges.src AS chunk_id,
    target_file.path AS other_path, target.line_start AS other_line_start, target.line_end AS other_line_end,
    edges.dst AS other_chunk_id
FROM edges
JOIN chunks AS source ON source.id = edges.src
JOIN chunks AS target ON target.id = edges.dst
JOIN files AS source_file ON source_file.id = source.file_id
JOIN files AS target_file ON target_file.id = target.file_id
WHERE edges.kind = kind AND edges.outward
    AND regexp_replace(source_file.path, '[^/]*$', '') <> regexp_replace(target_file.path, '[^/]*$', '')
    AND (kind NOT IN ('similar', 'tag') OR source_file.path < target_file.path)
ORDER BY edges.weight DESC, source_file.path, source.ordinal, other_path, target.ordinal
LIMIT k;

-- The hottest way wins; a step passes on heat x weight x decay, along links in their direction and along similar edges that are
-- strong enough.
CREATE OR REPLACE MACRO heat_from(chunk, hops := 2, decay := 0.5, min_weight := 0.55) AS TABLE
WITH RECURSIVE walk (chunk_id, heat, hop, parent, kind) USING KEY (chunk_id) AS (
    SELECT chunk::BIGINT, 1.0::DOUBLE, 0, NULL::BIGINT, NULL::VARCHAR
    UNION ALL
    SELECT arrivals.chunk_id, arrivals.heat, arrivals.hop, arrivals.came.parent, arrivals.came.kind
    FROM (
        SELECT
            edges.dst AS chunk_id,
            max(walk.heat * edges.weight * decay) AS heat,
            min(walk.hop) + 1 AS hop,
            arg_max(
                {'parent': walk.chunk_id, 'kind': edges.kind}, (walk.heat * edges.weight, -walk.chunk_id, edges.kind)
            ) AS came
        FROM walk
        JOIN edges ON edges.src = walk.chunk_id
        WHERE walk.hop < hops AND edges.outward AND (edges.kind <> 'similar' OR edges.weight >= min_weight)
        GROUP BY edges.dst
    ) AS arrivals
    LEFT JOIN recurring.walk AS known ON known.chunk_id = arrivals.chunk_id
    WHERE arrivals.heat > coalesce(known.heat, 0)
)
SELECT walk.chunk_id, files.path, chunks.line_start, chunks.line_end, walk.heat, walk.hop, walk.parent, walk.kind
FROM walk
JOIN chunks ON chunks.id = walk.chunk_id
JOIN files ON files.id = chunks.file_id
WHERE walk.hop > 0
ORDER BY walk.heat DESC, walk.chunk_id;

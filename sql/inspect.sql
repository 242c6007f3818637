-- name: find_chunk
-- The chunk with this id, if there is one; the id is whatever digits somebody typed.
SELECT chunks.id, files.path
FROM chunks
JOIN files ON files.id = chunks.file_id
WHERE chunks.id = try_cast($typed::VARCHAR AS BIGINT);

-- name: find_file
-- What the index knows of a file.
SELECT id, path, size, content_hash, kind, language, title, encoding, skipped FROM files WHERE path = $path;

-- name: find_line
-- The chunk that holds a line; where two parts of a split section do, the later.
SELECT id
FROM chunks
WHERE file_id = $file_id AND $line::HUGEINT BETWEEN line_start AND line_end
ORDER BY ordinal DESC
LIMIT 1;

-- name: nearest_line
-- The lines of the chunk that is nearest to a line that is in none.
SELECT line_start, line_end
FROM chunks
WHERE file_id = $file_id
ORDER BY least(abs(line_start - $line::HUGEINT), abs(line_end - $line::HUGEINT)), ordinal
LIMIT 1;

-- name: nearest_file
-- The path that is most like one that is not there: the same name in another folder, else by edit distance.
SELECT path
FROM files
WHERE skipped = ''
ORDER BY
    lower(parse_filename(path)) = lower(parse_filename($path)) DESC,
    levenshtein(lower(path), lower($path)),
    path
LIMIT 1;

-- name: nearest_chunk
-- The id that is most like one that is not there.
SELECT id FROM chunks ORDER BY levenshtein(id::VARCHAR, $typed::VARCHAR), id LIMIT 1;

-- name: list_file_chunks
-- The chunks of a file, in order.
SELECT id FROM chunks WHERE file_id = $file_id ORDER BY ordinal;

-- name: read_entries
-- What a list shows of its chunks.
SELECT
    chunks.id, files.path, chunks.ordinal, chunks.kind, chunks.headings, chunks.language, chunks.byte_start, chunks.byte_end,
    chunks.line_start, chunks.line_end, chunks.token_count, communities.community, chunks.text
FROM chunks
JOIN files ON files.id = chunks.file_id
LEFT JOIN communities ON communities.chunk_id = chunks.id
WHERE chunks.id IN (SELECT unnest($chunk_ids::BIGINT[]));

-- name: list_edges
-- The edges of a chunk, strongest first.
SELECT dst, kind, weight FROM edges WHERE src = $chunk_id ORDER BY weight DESC, dst, kind;

-- name: list_communities
-- Communities by number, each with its size, its files and those with the most chunks.
WITH per_file AS (
    SELECT communities.community, files.path, count(*) AS chunk_count
    FROM communities
    JOIN chunks ON chunks.id = communities.chunk_id
    JOIN files ON files.id = chunks.file_id
    GROUP BY communities.community, files.path
)
SELECT
    community,
    sum(chunk_count)::BIGINT AS size,
    count(*) AS file_count,
    list(path ORDER BY chunk_count DESC, path)[:$most] AS paths,
    list(chunk_count ORDER BY chunk_count DESC, path)[:$most] AS chunk_counts
FROM per_file
GROUP BY community
ORDER BY community;

-- name: list_members
-- The chunks of a community, those with the strongest edges inside it first.
SELECT communities.chunk_id
FROM communities
LEFT JOIN edges ON edges.src = communities.chunk_id
LEFT JOIN communities AS other ON other.chunk_id = edges.dst
WHERE communities.community = $community
GROUP BY communities.chunk_id
ORDER BY round(coalesce(sum(edges.weight) FILTER (other.community = $community), 0), 6) DESC, communities.chunk_id;

-- name: rank_terms
-- The terms that tell each community from the others, best first, each as its shortest form: class-based TF-IDF (Grootendorst
-- 2022), with the square root of each chunk's tf, so that no chunk speaks for its community alone.
WITH counts AS (
    SELECT communities.community, postings.term_id, sum(sqrt(postings.tf)) AS tf
    FROM communities
    JOIN postings ON postings.chunk_id = communities.chunk_id
    GROUP BY communities.community, postings.term_id
),
totals AS (
    SELECT term_id, sum(tf) AS tf FROM counts GROUP BY term_id
),
classes AS (
    SELECT sum(tf) / count(DISTINCT community) AS mean_tf FROM counts
),
spelled AS (
    SELECT term_id, arg_min(form, (length(form), form)) AS form FROM forms GROUP BY term_id
),
weighted AS (
    SELECT
        counts.community, spelled.form,
        round(counts.tf * ln(1 + classes.mean_tf / totals.tf), 6) AS weight
    FROM counts
    JOIN totals USING (term_id)
    JOIN spelled USING (term_id)
    CROSS JOIN classes
    WHERE length(spelled.form) > 1 AND regexp_matches(spelled.form, '^\p{L}')
)
SELECT community, list(form ORDER BY weight DESC, form)[:$most] FROM weighted GROUP BY community;

-- name: find_path
-- The strongest path from any of some chunks to any of others: the one whose weights have the greatest product. Each step takes
-- what it can improve; what is weaker than a path that has arrived is not followed.
WITH RECURSIVE
targets AS MATERIALIZED (
    SELECT unnest($targets::BIGINT[]) AS chunk_id
),
walk (chunk_id, strength, path) USING KEY (chunk_id) AS (
    SELECT unnest($sources::BIGINT[]), 1::DOUBLE, []::BIGINT[]
    UNION ALL
    SELECT arrivals.chunk_id, arrivals.strength, arrivals.path
    FROM (
        SELECT
            edges.dst AS chunk_id,
            max(walk.strength * least(edges.weight, 1)) AS strength,
            arg_max(
                list_append(walk.path, walk.chunk_id), (walk.strength * least(edges.weight, 1), -walk.chunk_id)
            ) AS path
        FROM walk
        JOIN edges ON edges.src = walk.chunk_id
        WHERE edges.weight > 0
        GROUP BY edges.dst
    ) AS arrivals
    LEFT JOIN recurring.walk AS known ON known.chunk_id = arrivals.chunk_id
    WHERE arrivals.strength > coalesce(known.strength, 0)
    AND arrivals.strength > coalesce(
        (SELECT max(strength) FROM recurring.walk WHERE chunk_id IN (SELECT chunk_id FROM targets)), 0
    )
)
SELECT strength, list_append(path, chunk_id)
FROM walk
WHERE chunk_id IN (SELECT chunk_id FROM targets)
ORDER BY strength DESC, len(path), chunk_id
LIMIT 1;

-- name: list_path_edges
-- The edges between chunks of a path, the strongest of a pair last.
SELECT src, dst, kind, weight
FROM edges
WHERE src IN (SELECT unnest($chunk_ids::BIGINT[])) AND dst IN (SELECT unnest($chunk_ids::BIGINT[]))
ORDER BY weight, kind;

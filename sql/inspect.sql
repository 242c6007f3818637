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
SELECT dst, kind, weight, outward FROM edges WHERE src = $chunk_id ORDER BY weight DESC, dst, kind;

-- name: list_links
-- The links in a file, and those of other files that lead to it, by place.
SELECT
    path, line, chunk_id, kind, target, heading, unresolved, target_path, target_id, target_line_start, target_line_end
FROM v_links
WHERE path = $path OR target_path = $path
ORDER BY path, line, kind, target, heading, chunk_id;

-- name: list_communities
-- Communities by number: what they are about, and their files, those with the most chunks by name.
SELECT
    labels.community, labels.size, labels.name, labels.title, labels.summary, labels.terms, labels.chunk_id,
    labels.content_hash, spread.file_count, spread.paths, spread.chunk_counts
FROM v_community_labels AS labels
JOIN (
    SELECT
        community,
        count(*) AS file_count,
        list(path ORDER BY chunk_count DESC, path)[:$most] AS paths,
        list(chunk_count ORDER BY chunk_count DESC, path)[:$most] AS chunk_counts
    FROM (SELECT community, path, count(*) AS chunk_count FROM v_communities GROUP BY community, path)
    GROUP BY community
) AS spread USING (community)
ORDER BY community;

-- name: list_members
-- The chunks of a community, those with the strongest edges inside it first.
SELECT chunk_id FROM v_communities WHERE community = $community ORDER BY strength DESC, chunk_id;

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

-- name: drop_links
-- Forgets the links of the chunks of files.
DELETE FROM links
WHERE chunk_id IN (SELECT chunks.id FROM chunks JOIN incoming ON incoming.id = chunks.file_id);

-- name: add_links
-- New links; nothing is known of their targets yet.
INSERT INTO links SELECT chunk_id, kind, target, heading, line, NULL, NULL FROM incoming;

-- name: read_names
-- The files that a link may mean, and what they are called.
SELECT id, path, kind, title, aliases FROM files WHERE skipped = '' ORDER BY path;

-- name: read_links
-- All links as they were written, with the file that each stands in.
SELECT links.chunk_id, links.kind, links.target, links.heading, links.line, files.path
FROM links
JOIN chunks ON chunks.id = links.chunk_id
JOIN files ON files.id = chunks.file_id
WHERE links.kind <> 'mention'
ORDER BY links.chunk_id, links.line, links.kind, links.target, links.heading;

-- name: read_headings
-- The headings of files with the first chunk under each, and the file's first chunk under none.
SELECT file_id, heading, arg_min(id, ordinal) AS chunk_id
FROM (
    SELECT file_id, id, ordinal, unnest(list_append(headings, '')) AS heading FROM chunks
)
WHERE file_id IN (SELECT unnest($file_ids::BIGINT[]))
GROUP BY file_id, heading
ORDER BY file_id, min(ordinal), heading;

-- name: find_blocks
-- The chunks of files that hold a block's name at the end of a line.
SELECT chunks.file_id, wanted.block, arg_min(chunks.id, chunks.ordinal)
FROM chunks
JOIN (SELECT unnest($file_ids::BIGINT[]) AS file_id, unnest($blocks::VARCHAR[]) AS block) AS wanted USING (file_id)
WHERE regexp_matches(chunks.text, '(^|\s)' || regexp_escape(wanted.block) || '\s*($|\n)')
GROUP BY chunks.file_id, wanted.block;

-- name: drop_all_links
-- All of them are written anew, with what their targets are now.
DELETE FROM links;

-- name: add_resolved_links
-- Links with their targets.
INSERT INTO links SELECT chunk_id, kind, target, heading, line, file_id, target_id FROM incoming;

-- name: create_plain
-- A text's words without accents and marks, one blank between them.
CREATE TEMP MACRO IF NOT EXISTS plain(words) AS trim(regexp_replace(strip_accents(words), '[^\p{L}\p{N}]+', ' ', 'g'));

-- name: add_mentions
-- A file's title or alias in the text of another is a link too. `incoming` holds the names (file_id, name, forms): only chunks that
-- hold the rarest word of a name are read. A name that several files bear names none of them, and one that too many files mention is
-- a word of the corpus, not a reference. A name of one word counts in its own spelling only.
INSERT INTO links
WITH words AS (
    SELECT incoming.file_id, incoming.name, forms.form, sum(terms.df) AS df
    FROM (SELECT file_id, name, unnest(forms) AS form FROM incoming) AS incoming
    JOIN forms ON forms.form = incoming.form
    JOIN terms ON terms.id = forms.term_id
    GROUP BY incoming.file_id, incoming.name, forms.form
),
rarest AS (
    SELECT file_id, name, arg_min(form, (df, form)) AS form
    FROM words
    GROUP BY file_id, name
    HAVING min(df) <= $most_chunks
),
places AS (
    SELECT DISTINCT rarest.file_id, rarest.name, postings.chunk_id
    FROM rarest
    JOIN forms ON forms.form = rarest.form
    JOIN postings ON postings.term_id = forms.term_id
),
texts AS MATERIALIZED (
    SELECT
        chunks.id, chunks.file_id, chunks.text, chunks.line_start,
        ' ' || plain(regexp_replace(chunks.text, '(?s)```.*?(```|$)|<!--.*?(-->|$)', ' ', 'g')) || ' ' AS plain
    FROM chunks
    JOIN files ON files.id = chunks.file_id
    WHERE chunks.kind <> 'code' AND list_contains($prose::VARCHAR[], files.kind)
    AND chunks.id IN (SELECT chunk_id FROM places)
),
found AS (
    SELECT texts.id, texts.file_id AS source_id, places.name, places.file_id, texts.text, texts.line_start
    FROM places
    JOIN texts ON texts.id = places.chunk_id
    WHERE texts.file_id <> places.file_id
    AND CASE
        WHEN regexp_matches(places.name, '[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]') THEN contains(texts.plain, plain(places.name))
        WHEN contains(plain(places.name), ' ') THEN contains(lower(texts.plain), lower(' ' || plain(places.name) || ' '))
        ELSE contains(texts.plain, ' ' || plain(places.name) || ' ')
    END
),
hubs AS (
    SELECT file_id FROM found GROUP BY file_id HAVING count(DISTINCT source_id) > $most_files
)
SELECT
    id, 'mention', name, '',
    line_start + length(regexp_replace(text[:greatest(strpos(lower(text), lower(name)) - 1, 0)], '[^\n]', '', 'g')),
    file_id,
    (SELECT arg_min(chunks.id, chunks.ordinal) FROM chunks WHERE chunks.file_id = found.file_id)
FROM found
WHERE file_id NOT IN (SELECT file_id FROM hubs)
ORDER BY id, name, file_id;

-- name: drop_link_edges
-- Forgets the edges that links make.
DELETE FROM edges WHERE kind <> 'similar';

-- name: add_link_edges
-- Links whose targets are there become edges, and files that share a tag with few others are linked to each other.
INSERT INTO edges
WITH named AS (
    SELECT chunk_id AS src, target_id AS dst, CASE kind WHEN 'wikilink' THEN 'link' ELSE kind END AS kind
    FROM links
    WHERE target_id <> chunk_id
),
tagged AS (
    SELECT DISTINCT lower(target) AS tag, chunk_id FROM links WHERE kind = 'tag'
),
telling AS (
    SELECT tag FROM tagged GROUP BY tag HAVING count(*) <= $most_tagged
),
directed AS (
    SELECT src, dst, kind, true AS outward FROM named
    UNION ALL
    SELECT dst, src, kind, false FROM named
    UNION ALL
    SELECT one.chunk_id, other.chunk_id, 'tag', true
    FROM telling
    JOIN tagged AS one USING (tag)
    JOIN tagged AS other USING (tag)
    WHERE one.chunk_id <> other.chunk_id
)
SELECT src, dst, kind, 1.0, bool_or(outward) FROM directed GROUP BY src, dst, kind ORDER BY src, dst, kind;

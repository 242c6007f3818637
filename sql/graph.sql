-- name: read_vectors
-- One vector a distinct text, in the order of ids.
SELECT embeddings.id, embeddings.vector
FROM embeddings
WHERE embeddings.id IN (SELECT embedding_id FROM chunks)
ORDER BY embeddings.id;

-- name: read_subchunks
-- The distinct sub-chunks of each distinct text with their vectors, in the order of ids.
WITH vectors AS (
    SELECT id, vector FROM embeddings
    UNION ALL
    SELECT id, vector FROM embeddings_subchunk ANTI JOIN embeddings USING (id)
)
SELECT windows.text_id, vectors.vector
FROM (
    SELECT DISTINCT chunks.embedding_id AS text_id, subchunks.embedding_id AS id
    FROM subchunks
    JOIN chunks ON chunks.id = subchunks.chunk_id
) AS windows
JOIN vectors USING (id)
ORDER BY windows.text_id, windows.id;

-- name: read_text_edges
-- The similar edges between distinct texts; those between copies of one text are left out.
SELECT source.embedding_id AS source, target.embedding_id AS target, edges.weight
FROM edges
JOIN chunks AS source ON source.id = edges.src
JOIN chunks AS target ON target.id = edges.dst
WHERE edges.kind = 'similar' AND source.embedding_id <> target.embedding_id;

-- name: read_text_ids
-- The distinct texts, in the order of ids.
SELECT DISTINCT embedding_id FROM chunks ORDER BY embedding_id;

-- name: drop_similar_edges
-- Forgets the similar edges.
DELETE FROM edges WHERE kind = 'similar';

-- name: add_similar_edges
-- The pairs of texts become edges between their first chunks, in both directions; copies of a text hang on its first chunk.
INSERT INTO edges
WITH first_chunks AS (
    SELECT embedding_id, min(id) AS chunk_id FROM chunks GROUP BY embedding_id
),
pairs AS (
    SELECT source.chunk_id AS a, target.chunk_id AS b, incoming.weight
    FROM incoming
    JOIN first_chunks AS source ON source.embedding_id = incoming.source
    JOIN first_chunks AS target ON target.embedding_id = incoming.target
    UNION ALL
    SELECT first_chunks.chunk_id, chunks.id, 1.0
    FROM chunks
    JOIN first_chunks USING (embedding_id)
    WHERE chunks.id <> first_chunks.chunk_id
)
SELECT src, dst, 'similar', weight, true
FROM (SELECT a AS src, b AS dst, weight FROM pairs UNION ALL SELECT b, a, weight FROM pairs)
ORDER BY src, dst;

-- name: read_edges
-- All edges that can hold a community together, in the order of ids.
SELECT src, dst, weight FROM edges WHERE weight > 0 ORDER BY src, dst;

-- name: drop_communities
-- Forgets the communities.
DELETE FROM communities;

-- name: add_communities
-- The new communities.
INSERT INTO communities SELECT chunk_id, community FROM incoming ORDER BY chunk_id;

-- name: read_communities
-- The numbers of the communities.
SELECT DISTINCT community FROM communities ORDER BY community;

-- name: rank_terms
-- The terms that tell each community from the others, best first: class-based TF-IDF (Grootendorst 2022), with the square root
-- of each chunk's tf, so that no chunk speaks for its community alone. What stands in a third of all other chunks tells nothing.
-- With each term the chunks of the community that hold it most. Whole millionths, as sums of floats depend on their order.
WITH counts AS (
    SELECT communities.community, postings.term_id, sum(round(1e6 * sqrt(postings.tf))::BIGINT) AS tf, count(*) AS df
    FROM communities
    JOIN postings ON postings.chunk_id = communities.chunk_id
    WHERE postings.term_id NOT IN (SELECT unnest($stop_ids::BIGINT[]))
    GROUP BY communities.community, postings.term_id
),
totals AS (
    SELECT term_id, sum(tf) AS tf, sum(df) AS df FROM counts GROUP BY term_id
),
sizes AS (
    SELECT community, count(*) AS size FROM communities GROUP BY community
),
classes AS (
    SELECT sum(tf) / count(DISTINCT community) AS mean_tf, (SELECT count(*) FROM communities) AS size FROM counts
),
weighted AS (
    SELECT
        counts.community, counts.term_id, terms.term,
        round(counts.tf * ln(1 + classes.mean_tf / totals.tf)) AS weight
    FROM counts
    JOIN totals USING (term_id)
    JOIN terms ON terms.id = counts.term_id
    JOIN sizes USING (community)
    CROSS JOIN classes
    WHERE length(terms.term) > 1 AND regexp_matches(terms.term, '^\p{L}')
    AND 3 * (totals.df - counts.df) <= classes.size - sizes.size
),
best AS (
    SELECT community, unnest(list({term_id: term_id, weight: weight, term: term} ORDER BY weight DESC, term)[:$most], recursive := true)
    FROM weighted
    GROUP BY community
)
SELECT
    best.community, best.term,
    list(postings.chunk_id ORDER BY postings.tf DESC, postings.chunk_id)[:$spoken] AS chunk_ids
FROM best
JOIN postings ON postings.term_id = best.term_id
JOIN communities ON communities.chunk_id = postings.chunk_id AND communities.community = best.community
GROUP BY best.community, best.term, best.weight
ORDER BY best.community, best.weight DESC, best.term;

-- name: read_wording
-- What the terms of chunks are written in.
SELECT chunks.id, chunks.text, chunks.headings, chunks.language, files.kind, files.path, files.title
FROM chunks
JOIN files ON files.id = chunks.file_id
WHERE chunks.id IN (SELECT unnest($chunk_ids::BIGINT[]));

-- name: drop_labels
-- Forgets what the communities were about.
DELETE FROM community_labels;

-- name: add_labels
-- What each community is about.
INSERT INTO community_labels
SELECT members.community, members.size, incoming.name, incoming.terms, members.chunk_id, chunks.headings, members.content_hash
FROM (
    SELECT
        v_communities.community,
        count(*) AS size,
        arg_max(v_communities.chunk_id, (v_communities.strength, -v_communities.chunk_id)) AS chunk_id,
        md5(string_agg(chunks.text_hash, ' ' ORDER BY chunks.text_hash)) AS content_hash
    FROM v_communities
    JOIN chunks ON chunks.id = v_communities.chunk_id
    GROUP BY v_communities.community
) AS members
JOIN incoming ON incoming.community = members.community
JOIN chunks ON chunks.id = members.chunk_id
ORDER BY members.community;

-- name: untitled_communities
-- The distinct contents of communities that have no title, largest first, each by one community with what it is about.
SELECT content_hash, any_value(community), any_value(terms)
FROM v_community_labels
WHERE title = ''
GROUP BY content_hash
ORDER BY min(community);

-- name: key_texts
-- The texts of a community that hold it together most, with the headings above each.
SELECT chunks.headings, chunks.text, files.path, files.kind
FROM v_communities
JOIN chunks ON chunks.id = v_communities.chunk_id
JOIN files ON files.id = chunks.file_id
WHERE v_communities.community = $community
ORDER BY v_communities.strength DESC, v_communities.chunk_id
LIMIT $most;

-- name: add_title
-- What a chat model said of a community.
INSERT INTO community_titles VALUES ($content_hash, $title, $summary, $model);

-- name: take_titles
-- Those of an attached index file that this one lacks.
INSERT INTO community_titles
SELECT content_hash, any_value(title), any_value(summary), any_value(model)
FROM other.community_titles
WHERE content_hash NOT IN (SELECT content_hash FROM community_titles)
GROUP BY content_hash;

-- name: drop_dead_titles
-- Forgets the titles of communities whose texts are others now.
DELETE FROM community_titles WHERE content_hash NOT IN (SELECT content_hash FROM community_labels);

-- name: count_untitled
-- How many communities have no title.
SELECT count(*) FROM v_community_labels WHERE title = '';

-- name: count_edges
-- How many edges; each stands in both directions.
SELECT count(*) // 2 FROM edges;

-- name: count_communities
-- How many communities.
SELECT count(DISTINCT community) FROM communities;

-- name: edges_between
-- The edges between chunks of a path, the strongest of a pair last, and of equal ones that in the direction of the path.
SELECT src, dst, kind, weight, outward
FROM edges
WHERE src IN (SELECT unnest($chunk_ids::BIGINT[])) AND dst IN (SELECT unnest($chunk_ids::BIGINT[]))
ORDER BY weight, outward, kind DESC;

-- name: find_first_hit
-- What the second search starts from: the best of the pool, with its text, its file and its vector.
SELECT pool.chunk_id, chunks.text, files.path, embeddings.vector
FROM pool
JOIN chunks ON chunks.id = pool.chunk_id
JOIN files ON files.id = chunks.file_id
LEFT JOIN embeddings ON embeddings.id = chunks.embedding_id
WHERE pool.retrieved
ORDER BY pool.fused DESC, pool.chunk_id
LIMIT 1;

-- name: feed_back
-- Pseudo-relevance feedback: the BM25 of the chunks that hold the strongest terms of a hit, the best of them; the hit itself has as
-- much as the best. Whole trillionths add up to the same sum in any order.
INSERT INTO heat
WITH corpus AS (
    SELECT count(*) AS chunk_count, avg(term_count) AS mean_terms FROM chunks
),
strongest AS (
    SELECT terms.id, terms.df
    FROM postings
    JOIN terms ON terms.id = postings.term_id
    CROSS JOIN corpus
    WHERE postings.chunk_id = $chunk_id
    ORDER BY postings.tf * idf(terms.df, corpus.chunk_count) DESC, terms.id
    LIMIT $terms
),
scores AS (
    SELECT
        postings.chunk_id,
        sum(
            round(1e12 * bm25(
                postings.tf, strongest.df, chunks.term_count, corpus.chunk_count, corpus.mean_terms, $k1, $b
            ))::BIGINT
        ) / 1e12 AS score
    FROM strongest
    JOIN postings ON postings.term_id = strongest.id
    JOIN chunks ON chunks.id = postings.chunk_id
    CROSS JOIN corpus
    WHERE postings.chunk_id <> $chunk_id AND (NOT $scoped OR chunks.file_id IN (SELECT file_id FROM scope))
    GROUP BY postings.chunk_id
    ORDER BY score DESC, postings.chunk_id
    LIMIT $most
)
SELECT chunk_id, 'second', score, 1, [$chunk_id::BIGINT, chunk_id], ['second'], 1 FROM scores
UNION ALL
SELECT $chunk_id, 'second', max(score), 0, [$chunk_id::BIGINT], [], 1 FROM scores HAVING max(score) > 0;

-- name: look_again
-- The chunks that are nearest to another vector, by how much nearer they are than the last of them; the hit from which it was made
-- has as much as the best.
INSERT INTO heat
WITH scores AS (
    SELECT chunks.id AS chunk_id, array_inner_product(embeddings.vector, $vector::VARCHAR::embedding)::DOUBLE AS cosine
    FROM embeddings
    JOIN chunks ON chunks.embedding_id = embeddings.id
    WHERE chunks.id <> $chunk_id AND (NOT $scoped OR chunks.file_id IN (SELECT file_id FROM scope))
    ORDER BY cosine DESC, chunk_id
    LIMIT $most
),
bounds AS (
    SELECT min(cosine) AS low, max(cosine) AS high FROM scores
)
SELECT chunk_id, 'second', cosine - low, 1, [$chunk_id::BIGINT, chunk_id], ['second'], 1 FROM scores CROSS JOIN bounds WHERE cosine > low
UNION ALL
SELECT $chunk_id, 'second', high - low, 0, [$chunk_id::BIGINT], [], 1 FROM bounds WHERE high > low;

-- name: wanted_by_second
-- The chunks that the second search found and whose cosine is not known yet.
INSERT INTO wanted
SELECT chunk_id FROM heat ANTI JOIN cosines USING (chunk_id) WHERE part = 'second';

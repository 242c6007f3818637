-- name: list_files
-- What a filter chooses from.
SELECT id, path, kind FROM files WHERE skipped = '' ORDER BY path;

-- name: clear_scope
-- Forgets the previous filter.
DELETE FROM scope;

-- name: set_scope
-- The files that a filtered query may return.
INSERT INTO scope SELECT unnest($file_ids::BIGINT[]);

-- name: clear_cosines
-- Forgets the previous query's vector leg.
DELETE FROM cosines;

-- name: clear_keyword_scores
-- Forgets the previous query's keyword leg.
DELETE FROM keyword_scores;

-- name: clear_pool
-- Forgets the previous fusion.
DELETE FROM pool;

-- name: clear_logits
-- Forgets the previous query's cross-encoder scores.
DELETE FROM logits;

-- name: scan_vectors
-- The exact vector leg: the cosine of every chunk to the query. Vectors that no chunk uses any more are joined away.
-- The query's vector comes as text: a list parameter of 384 numbers takes the binder 20 ms, its text 0.8.
INSERT INTO cosines
SELECT chunks.id, scores.cosine
FROM (SELECT id, array_inner_product(vector, $vector::VARCHAR::embedding) AS cosine FROM embeddings) AS scores
JOIN chunks ON chunks.embedding_id = scores.id
WHERE NOT $scoped OR chunks.file_id IN (SELECT file_id FROM scope);

-- name: count_cosines
-- How many chunks the vector leg found.
SELECT count(*) FROM cosines;

-- name: search_vectors
-- The vector leg by the vector index: its nearest, all recent vectors, and the exact cosine of each. `fetch` is more than is
-- wanted by the dead vectors that the search may meet.
INSERT INTO cosines
SELECT chunks.id, found.cosine
FROM (
    SELECT id, array_inner_product(vector, $vector::VARCHAR::embedding) AS cosine
    FROM (
        SELECT id, vector
        FROM embeddings_indexed
        ORDER BY array_cosine_distance(vector, $vector::VARCHAR::embedding)
        LIMIT $fetch
    )
    UNION ALL
    SELECT id, array_inner_product(vector, $vector::VARCHAR::embedding) FROM embeddings_recent
) AS found
JOIN chunks ON chunks.embedding_id = found.id;

-- name: wanted_by_keywords
-- The chunks that the keyword leg contributes and whose cosine is not known yet.
INSERT INTO wanted
SELECT chunk_id
FROM (SELECT chunk_id FROM keyword_scores ORDER BY bm25 DESC, chunk_id LIMIT $top)
ANTI JOIN cosines USING (chunk_id);

-- name: fetch_cosines
-- Their cosines, by id.
INSERT INTO cosines
SELECT wanted_vectors.chunk_id, array_inner_product(embeddings.vector, $vector::VARCHAR::embedding)
FROM (SELECT chunks.id AS chunk_id, chunks.embedding_id FROM chunks JOIN wanted ON wanted.chunk_id = chunks.id) AS wanted_vectors
JOIN embeddings ON embeddings.id = wanted_vectors.embedding_id;

-- name: clear_wanted
-- They are known now.
DELETE FROM wanted;

-- name: score_keywords
-- The keyword leg: the BM25 of every chunk that holds a query term.
-- A token of the query counts as often as it stands there. It has a term for each language of the corpus; in a chunk, the best
-- of them counts.
INSERT INTO keyword_scores
WITH query_terms AS (
    SELECT
        unnest($tokens::INTEGER[]) AS token,
        unnest($term_ids::BIGINT[]) AS term_id,
        unnest($counts::INTEGER[]) AS occurrences
),
corpus AS (
    SELECT count(*) AS chunk_count, avg(term_count) AS mean_terms FROM chunks
),
matches AS (
    SELECT
        query_terms.token,
        postings.chunk_id,
        max(
            query_terms.occurrences
            * bm25(postings.tf, terms.df, chunks.term_count, corpus.chunk_count, corpus.mean_terms, $k1, $b)
        ) AS bm25
    FROM query_terms
    JOIN terms ON terms.id = query_terms.term_id
    JOIN postings ON postings.term_id = query_terms.term_id
    JOIN chunks ON chunks.id = postings.chunk_id
    CROSS JOIN corpus
    WHERE NOT $scoped OR chunks.file_id IN (SELECT file_id FROM scope)
    GROUP BY query_terms.token, postings.chunk_id
)
SELECT chunk_id, sum(bm25 ORDER BY token) FROM matches GROUP BY chunk_id;

-- name: query_coverage
-- Which share of the query's words the dictionary holds, each weighted by its idf.
WITH query_terms AS (
    SELECT unnest($tokens::INTEGER[]) AS token, unnest($term_ids::BIGINT[]) AS term_id
),
corpus AS (
    SELECT count(*) AS chunk_count FROM chunks
),
words AS (
    SELECT query_terms.token, coalesce(max(terms.df), 0) AS df
    FROM query_terms
    LEFT JOIN terms ON terms.id = query_terms.term_id
    GROUP BY query_terms.token
),
weighted AS (
    SELECT token, df, idf(df, chunk_count) AS idf FROM words CROSS JOIN corpus
)
SELECT coalesce(sum(idf ORDER BY token) FILTER (df > 0) / nullif(sum(idf ORDER BY token), 0), 0) FROM weighted;

-- name: fuse
-- The union of the best of both legs, fused. convex: each leg min-maxed over the union; rrf: the sum of the reciprocal ranks
-- (Cormack, Clarke, Buettcher 2009).
INSERT INTO pool
WITH vector_leg AS (
    SELECT unnest(ids) AS chunk_id, generate_subscripts(ids, 1) AS place
    FROM (
        SELECT list(chunk_id ORDER BY cosine DESC, chunk_id) AS ids
        FROM (SELECT chunk_id, cosine FROM cosines ORDER BY cosine DESC, chunk_id LIMIT $top)
    )
),
keyword_leg AS (
    SELECT unnest(ids) AS chunk_id, generate_subscripts(ids, 1) AS place
    FROM (
        SELECT list(chunk_id ORDER BY bm25 DESC, chunk_id) AS ids
        FROM (SELECT chunk_id, bm25 FROM keyword_scores ORDER BY bm25 DESC, chunk_id LIMIT $top)
    )
),
members AS (
    SELECT
        chunk_id,
        cosines.cosine,
        coalesce(keyword_scores.bm25, 0) AS bm25,
        coalesce(1 / ($rrf_k + vector_leg.place), 0) + coalesce(1 / ($rrf_k + keyword_leg.place), 0) AS reciprocal
    FROM vector_leg
    FULL JOIN keyword_leg USING (chunk_id)
    LEFT JOIN cosines USING (chunk_id)
    LEFT JOIN keyword_scores USING (chunk_id)
),
bounds AS (
    SELECT
        min(cosine) AS cosine_low, max(cosine) AS cosine_high,
        min(bm25) AS bm25_low, nullif(max(bm25), 0) AS bm25_high
    FROM members
),
parts AS (
    SELECT
        members.*,
        min_max(cosine, cosine_low, cosine_high) AS vector,
        min_max(bm25, bm25_low, bm25_high) AS lexical
    FROM members
    CROSS JOIN bounds
)
SELECT
    chunk_id, true, cosine, bm25, vector, lexical,
    CASE WHEN $method = 'rrf' THEN reciprocal ELSE convex(vector, lexical, $vector_weight) END
FROM parts;

-- name: shortlist
-- The candidates that the cross-encoder reads, best first. The order is the first stage's with the graph's bonus
-- and does not depend on the weights of the final score.
SELECT candidates.chunk_id, chunks.text, files.path, chunks.headings, chunks.language
FROM candidates
JOIN chunks ON chunks.id = candidates.chunk_id
JOIN files ON files.id = chunks.file_id
ORDER BY
    candidates.fused + $heat_bonus * coalesce(candidates.heat, 0) + $link_bonus * coalesce(candidates.link, 0)
    + $second_bonus * coalesce(candidates.second, 0) DESC,
    candidates.first_stage DESC, candidates.chunk_id
LIMIT $depth;

-- name: add_logits
-- What the cross-encoder said.
INSERT INTO logits SELECT unnest($chunk_ids::BIGINT[]), unnest($logits::DOUBLE[]);

-- name: rank
-- The final order of all candidates. What the cross-encoder did not read stays behind what it read; without a cross-encoder the
-- first stage's top hit stays first.
WITH weighted AS (
    SELECT
        *,
        $gamma * fused + $beta * coalesce(heat, 0) + $beta_link * coalesce(link, 0) + $alpha * coalesce(rerank, 0)
        + $beta_second * coalesce(second, 0) AS score,
        logit IS NOT NULL AS read
    FROM candidates
),
bounds AS (
    SELECT bool_or(read) AS reranked, min(score) FILTER (read) AS read_low, max(score) AS high FROM weighted
),
bounded AS (
    SELECT
        weighted.* REPLACE (
            CASE
                WHEN reranked AND NOT read THEN least(score, read_low)
                WHEN first AND NOT reranked THEN high
                ELSE score
            END AS score
        )
    FROM weighted
    CROSS JOIN bounds
)
SELECT
    bounded.chunk_id, files.path, bounded.score, bounded.cosine, bounded.bm25,
    bounded.vector, bounded.lexical, bounded.fused, bounded.heat, bounded.link, bounded.second, bounded.rerank, bounded.logit,
    chunks.headings
FROM bounded
JOIN chunks ON chunks.id = bounded.chunk_id
JOIN files ON files.id = chunks.file_id
ORDER BY bounded.read DESC, bounded.score DESC, bounded.first_stage DESC, bounded.chunk_id;

-- name: near_duplicates
-- Which of some chunks have the same text as a better one, or are as near to it: their places from 0, the best first.
-- Only a chunk whose nearest text is near enough can be one. At 50,000 chunks that saves the 45 ms of reading all vectors.
WITH ranked AS MATERIALIZED (
    SELECT listed.place, chunks.embedding_id, embeddings.vector
    FROM (
        SELECT unnest($chunk_ids::BIGINT[]) AS chunk_id, generate_subscripts($chunk_ids::BIGINT[], 1) - 1 AS place
    ) AS listed
    JOIN chunks ON chunks.id = listed.chunk_id
    JOIN embeddings ON embeddings.id = chunks.embedding_id
    WHERE listed.chunk_id IN (SELECT src FROM edges WHERE kind = 'similar' AND weight >= $cosine - 1e-6)
)
SELECT
    this.place, better.place,
    CASE
        WHEN this.embedding_id = better.embedding_id THEN 1
        ELSE round(least(array_inner_product(this.vector, better.vector), 1)::DOUBLE, 6)
    END AS cosine
FROM ranked AS this
JOIN ranked AS better ON better.place < this.place
WHERE this.embedding_id = better.embedding_id OR array_inner_product(this.vector, better.vector) >= $cosine
ORDER BY this.place, better.place;

-- name: describe_chunks
-- What a result shows of its chunk.
SELECT id, kind, language, byte_start, byte_end, line_start, line_end, text
FROM chunks
WHERE id IN (SELECT unnest($chunk_ids::BIGINT[]));

-- name: rank_communities
-- The communities of hits (best first) by the sum of the best few scores, each with what it is about and those hits.
WITH hits AS (
    SELECT
        unnest($chunk_ids::BIGINT[]) AS chunk_id,
        unnest($scores::DOUBLE[]) AS score,
        generate_subscripts($chunk_ids::BIGINT[], 1) AS place
),
gathered AS (
    SELECT
        communities.community,
        list_sum(list(hits.score ORDER BY hits.place)[:$key]) AS score,
        list(hits.chunk_id ORDER BY hits.place)[:$key] AS chunk_ids
    FROM hits
    JOIN communities USING (chunk_id)
    GROUP BY communities.community
)
SELECT community, size, name, title, summary, content_hash, terms, gathered.score, gathered.chunk_ids
FROM gathered
JOIN v_community_labels USING (community)
ORDER BY gathered.score DESC, community
LIMIT $top;

-- name: file_stats
-- What the index knows of the files that results stand in.
SELECT path, size, mtime_ns, ctime_ns, inode, content_hash
FROM files
WHERE path IN (SELECT unnest($paths::VARCHAR[]));

-- name: locate_chunks
-- Where chunks stand.
SELECT chunks.id, files.path, chunks.line_start, chunks.line_end
FROM chunks
JOIN files ON files.id = chunks.file_id
WHERE chunks.id IN (SELECT unnest($chunk_ids::BIGINT[]));

-- name: best_cosine
-- How near the nearest chunk is.
SELECT max(cosine) FROM cosines;

-- name: term_frequencies
-- In how many chunks each of these terms occurs, and how many chunks there are.
SELECT terms.id, terms.df, (SELECT count(*) FROM chunks) AS chunk_count
FROM terms
WHERE terms.id IN (SELECT unnest($term_ids::BIGINT[]));

-- Plans are kept over queries, so they may depend on nothing that these tables held when they were made: a plan from statistics
-- leaves out for good what was not there then.
SET disabled_optimizers = 'statistics_propagation';

-- What the stages of a query hand to each other: private to a connection, emptied before each query (degrees: only before one of
-- another traversal).
CREATE TEMP TABLE scope (file_id BIGINT);
CREATE TEMP TABLE wanted (chunk_id BIGINT);
CREATE TEMP TABLE cosines (chunk_id BIGINT, cosine DOUBLE);
CREATE TEMP TABLE keyword_scores (chunk_id BIGINT, bm25 DOUBLE);
CREATE TEMP TABLE pool (
    chunk_id BIGINT, retrieved BOOLEAN, cosine DOUBLE, bm25 DOUBLE, vector DOUBLE, lexical DOUBLE, fused DOUBLE
);
CREATE TEMP TABLE degrees (chunk_id BIGINT, part VARCHAR, leaving DOUBLE, arriving DOUBLE);
CREATE TEMP TABLE wordings (wording INTEGER, weight DOUBLE, chunk_id BIGINT, place INTEGER);
CREATE TEMP TABLE heat (
    chunk_id BIGINT, part VARCHAR, heat DOUBLE, hop INTEGER, path BIGINT[], kinds VARCHAR[], share DOUBLE
);
CREATE TEMP TABLE logits (chunk_id BIGINT, logit DOUBLE);

-- Min-max scaling. Values that are all equal carry no order and count fully, but what is less than they; what is not there stays NULL.
CREATE TEMP MACRO min_max(x, low, high) AS
CASE
    WHEN x IS NULL OR high IS NULL THEN NULL
    WHEN high > low THEN (x - low) / (high - low)
    WHEN x < low THEN 0.0
    ELSE 1.0
END;

-- Convex combination of two legs; a leg that did not run or found nothing (NULL) does not count.
CREATE TEMP MACRO convex(vector, lexical, vector_weight) AS
CASE WHEN lexical IS NULL THEN vector WHEN vector IS NULL THEN lexical ELSE vector_weight * vector + (1 - vector_weight) * lexical END;

-- BM25 (Robertson, Zaragoza 2009) of a term in a chunk, with the idf of Lucene, which is never negative.
CREATE TEMP MACRO idf(df, chunk_count) AS ln(1 + (chunk_count - df + 0.5) / (df + 0.5));
CREATE TEMP MACRO bm25(tf, df, term_count, chunk_count, mean_terms, k1, b) AS
idf(df, chunk_count) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * term_count / mean_terms));

-- What an edge weighs in a traversal, and to which part of the heat it belongs.
CREATE TEMP MACRO step_weight(kind, weight, link_weight, import_weight, mention_weight, tag_weight) AS
CASE kind
    WHEN 'similar' THEN weight
    WHEN 'link' THEN link_weight
    WHEN 'import' THEN import_weight
    WHEN 'mention' THEN mention_weight
    ELSE tag_weight
END;
CREATE TEMP MACRO heat_part(kind, aggregate) AS CASE WHEN kind = 'similar' OR aggregate = 'max' THEN 'heat' ELSE 'link' END;

-- Every chunk that a query may return, each part of its score scaled to [0, 1].
-- Window functions would say this shorter, but in DuckDB 1.5.5 they race on small inputs when all cores are busy
-- ("Attempted to access index 0 within vector of size 0"): the statements of a query use none.
CREATE TEMP VIEW candidates AS
SELECT
    pool.chunk_id,
    pool.cosine,
    pool.bm25,
    pool.vector,
    pool.lexical,
    min_max(pool.fused, fused_low, fused_high) AS fused,
    min_max(coalesce(heats.heat, 0), 0, heat_high) AS heat,
    min_max(coalesce(heats.link, 0), 0, link_high) AS link,
    min_max(coalesce(heats.second, 0), 0, second_high) AS second,
    min_max(logits.logit, logit_low, logit_high) AS rerank,
    logits.logit,
    pool.fused AS first_stage,
    pool.chunk_id = top_hit AS first
FROM pool
LEFT JOIN (
    SELECT
        chunk_id,
        max(heat) FILTER (part = 'heat') AS heat,
        max(heat) FILTER (part = 'link') AS link,
        max(heat) FILTER (part = 'second') AS second
    FROM heat
    GROUP BY chunk_id
) AS heats USING (chunk_id)
LEFT JOIN logits USING (chunk_id)
CROSS JOIN (SELECT min(fused) AS fused_low, max(fused) AS fused_high FROM pool)
CROSS JOIN (
    SELECT
        max(heat) FILTER (part = 'heat') AS heat_high,
        max(heat) FILTER (part = 'link') AS link_high,
        max(heat) FILTER (part = 'second') AS second_high
    FROM heat
)
CROSS JOIN (SELECT min(logit) AS logit_low, max(logit) AS logit_high FROM logits)
CROSS JOIN (SELECT arg_max(chunk_id, (fused, -chunk_id)) AS top_hit FROM pool);

-- name: communities
-- What each community is about: the terms that set it apart, by class-based TF-IDF (Grootendorst 2022).
-- parameter: k = 20
-- parameter: terms = 8
WITH chosen AS (
    SELECT community, count(*) AS chunks, count(DISTINCT chunks.file_id) AS files
    FROM communities
    JOIN chunks ON chunks.id = communities.chunk_id
    GROUP BY community
    ORDER BY community
    LIMIT $k::INTEGER
),
frequencies AS (
    SELECT communities.community, postings.term_id, sum(postings.tf) AS tf
    FROM postings
    JOIN communities USING (chunk_id)
    GROUP BY communities.community, postings.term_id
),
totals AS (
    SELECT term_id, sum(tf) AS tf FROM frequencies GROUP BY term_id
),
mean AS (
    SELECT sum(tf) / count(DISTINCT community) AS terms FROM frequencies
),
-- Each in its shortest spelling; what stands in a third of the chunks sets nothing apart.
words AS (
    SELECT forms.term_id, arg_min(form, (length(form), form)) AS word
    FROM forms
    JOIN terms ON terms.id = forms.term_id
    WHERE terms.df * 3 < (SELECT count(*) FROM chunks)
    GROUP BY forms.term_id
),
weighed AS (
    SELECT frequencies.community, words.word, frequencies.tf * ln(1 + mean.terms / totals.tf) AS weight
    FROM frequencies
    JOIN totals USING (term_id)
    JOIN words USING (term_id)
    CROSS JOIN mean
    WHERE strlen(words.word) > 2
)
SELECT
    chosen.*,
    list_slice(list(weighed.word ORDER BY weighed.weight DESC, weighed.word), 1, $terms::INTEGER) AS terms
FROM chosen
LEFT JOIN weighed USING (community)
GROUP BY ALL
ORDER BY community;

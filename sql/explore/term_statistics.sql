-- name: term_statistics
-- The terms of the keyword index that stand in the most chunks, and how much a match of each is worth.
-- parameter: like = %
-- parameter: k = 20
SELECT
    terms.term,
    list_slice(list(DISTINCT forms.form ORDER BY forms.form), 1, 5) AS written,
    terms.df AS chunks,
    any_value(counted.occurrences)::BIGINT AS occurrences,
    ln(1 + (any_value(corpus.chunks) - terms.df + 0.5) / (terms.df + 0.5)) AS idf
FROM terms
JOIN forms ON forms.term_id = terms.id
JOIN (SELECT term_id, sum(tf) AS occurrences FROM postings GROUP BY term_id) AS counted ON counted.term_id = terms.id
CROSS JOIN (SELECT count(*) AS chunks FROM chunks) AS corpus
WHERE forms.form LIKE $like
GROUP BY terms.id, terms.term, terms.df
ORDER BY terms.df DESC, terms.term
LIMIT $k::INTEGER;

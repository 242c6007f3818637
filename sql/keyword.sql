-- name: create_staging
-- New postings wait here, so that they can be added in the order of their terms.
CREATE TEMP TABLE new_postings (term_id BIGINT, chunk_id BIGINT, tf INTEGER);

-- name: create_form_staging
-- New surface forms wait here.
CREATE TEMP TABLE new_forms (form VARCHAR, term VARCHAR, term_id BIGINT);

-- name: create_touched_terms
-- The terms whose document frequency changes.
CREATE TEMP TABLE touched_terms (term_id BIGINT);

-- name: touch_dropped_terms
-- Notes the terms whose frequency falls with the chunks of files.
INSERT INTO touched_terms
SELECT DISTINCT term_id
FROM postings
WHERE chunk_id IN (SELECT chunks.id FROM chunks JOIN incoming ON incoming.id = chunks.file_id);

-- name: drop_postings
-- Forgets the postings of the chunks of files.
DELETE FROM postings
WHERE chunk_id IN (SELECT chunks.id FROM chunks JOIN incoming ON incoming.id = chunks.file_id);

-- name: stage_postings
-- Notes new postings.
INSERT INTO new_postings SELECT term_id, chunk_id, tf FROM incoming;

-- name: stage_forms
-- Notes new surface forms.
INSERT INTO new_forms SELECT form, term, term_id FROM incoming;

-- name: touch_new_terms
-- Notes whose frequency the new postings change.
INSERT INTO touched_terms SELECT DISTINCT term_id FROM new_postings;

-- name: add_postings
-- Adds the new postings, sorted by term.
INSERT INTO postings SELECT term_id, chunk_id, tf FROM new_postings ORDER BY term_id, chunk_id;

-- name: create_changed_terms
-- The terms that change, with their new frequency. Their spelling comes from the new forms or from the old dictionary.
CREATE TEMP TABLE changed_terms AS
SELECT counted.term_id, coalesce(terms.term, spelled.term) AS term, counted.df
FROM (
    SELECT term_id, count(*) AS df
    FROM postings
    WHERE term_id IN (SELECT term_id FROM touched_terms)
    GROUP BY term_id
) AS counted
LEFT JOIN terms ON terms.id = counted.term_id
LEFT JOIN (SELECT term_id, min(term) AS term FROM new_forms GROUP BY term_id) AS spelled USING (term_id);

-- name: drop_terms
-- Forgets the old frequencies.
DELETE FROM terms WHERE id IN (SELECT term_id FROM touched_terms);

-- name: add_terms
-- Notes the new frequencies.
INSERT INTO terms SELECT term_id, term, df FROM changed_terms ORDER BY term_id;

-- name: add_forms
-- Adds the surface forms that are new.
INSERT INTO forms
SELECT DISTINCT new_forms.form, new_forms.term_id
FROM new_forms
ANTI JOIN forms ON forms.form = new_forms.form AND forms.term_id = new_forms.term_id
ORDER BY new_forms.form, new_forms.term_id;

-- name: drop_forms
-- Forgets the surface forms of terms that no chunk holds any more.
DELETE FROM forms WHERE term_id NOT IN (SELECT id FROM terms);

-- name: corpus_languages
-- The languages of the corpus, most chunks first.
SELECT language FROM chunks GROUP BY language ORDER BY count(*) DESC, language;

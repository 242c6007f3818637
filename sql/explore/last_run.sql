-- name: last_run
-- When the index was published, what the run did, and the seconds of its stages.
SELECT
    CASE WHEN key = 'finished_ns' THEN 'finished' ELSE key END AS key,
    CASE WHEN key = 'finished_ns' THEN make_timestamp(value::BIGINT // 1000)::VARCHAR ELSE value::VARCHAR END AS value
FROM json_each((SELECT value FROM meta WHERE key = 'last_run'));

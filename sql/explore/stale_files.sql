-- name: stale_files
-- The files that were not changed for the longest time, and how many others link to each.
-- parameter: k = 20
SELECT
    files.path, make_timestamp(files.mtime_ns // 1000) AS modified, files.size,
    count(DISTINCT v_links.path) FILTER (v_links.path <> files.path) AS linked_from
FROM files
LEFT JOIN v_links ON v_links.target_path = files.path
WHERE files.skipped = ''
GROUP BY files.path, files.mtime_ns, files.size
ORDER BY files.mtime_ns, files.path
LIMIT $k::INTEGER;

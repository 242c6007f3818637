-- name: backlinks
-- Which lines of other files link to a file, import it or mention it.
-- parameter: path =
FROM backlinks($path);

-- name: unresolved_links
-- The links that lead to no file of the corpus; imports of libraries and tags are none.
FROM unresolved_links;

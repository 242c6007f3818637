-- The data model. The type `embedding` (FLOAT[dimension of the model]) is created before this script runs.
-- Ids are 53-bit hashes, exact in JSON and in every notebook; they stay the same over rebuilds.
-- There are no keys: the writer guarantees uniqueness, and a key would check a row that was deleted in the same transaction.

CREATE TABLE meta (
    key VARCHAR NOT NULL,
    value VARCHAR NOT NULL
);
COMMENT ON TABLE meta IS 'What was indexed with what: schema number, ragx version, model, settings, the level of what is relevant, vector index, last run; values are JSON';

CREATE TABLE files (
    id BIGINT NOT NULL,
    root VARCHAR NOT NULL,
    path VARCHAR NOT NULL,
    size BIGINT NOT NULL,
    mtime_ns BIGINT NOT NULL,
    ctime_ns BIGINT NOT NULL,
    inode UBIGINT NOT NULL,
    content_hash VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    language VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    encoding VARCHAR NOT NULL,
    skipped VARCHAR NOT NULL,
    aliases VARCHAR[] NOT NULL
);
COMMENT ON TABLE files IS 'One row a file that was read';
COMMENT ON COLUMN files.id IS 'hash of root and path';
COMMENT ON COLUMN files.root IS 'name of the root that the path is relative to; empty for the corpus folder itself';
COMMENT ON COLUMN files.path IS 'relative to the root, with /';
COMMENT ON COLUMN files.size IS 'bytes';
COMMENT ON COLUMN files.mtime_ns IS 'modification time in nanoseconds since 1970';
COMMENT ON COLUMN files.ctime_ns IS 'change time in nanoseconds since 1970';
COMMENT ON COLUMN files.inode IS 'inode number';
COMMENT ON COLUMN files.content_hash IS 'xxh3-128 of the bytes, hexadecimal';
COMMENT ON COLUMN files.kind IS 'format: markdown, text, python, ...';
COMMENT ON COLUMN files.language IS 'human language of most of its chunks (ISO 639-1); empty: cannot tell';
COMMENT ON COLUMN files.title IS 'title from the front matter or the first heading; empty: none';
COMMENT ON COLUMN files.encoding IS 'how the bytes were read';
COMMENT ON COLUMN files.skipped IS 'why it has no chunks; empty: it was indexed';
COMMENT ON COLUMN files.aliases IS 'other names, from the front matter';

CREATE TABLE chunks (
    id BIGINT NOT NULL,
    file_id BIGINT NOT NULL,
    ordinal INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    headings VARCHAR[] NOT NULL,
    text VARCHAR NOT NULL,
    text_hash VARCHAR NOT NULL,
    byte_start BIGINT NOT NULL,
    byte_end BIGINT NOT NULL,
    line_start INTEGER NOT NULL,
    line_end INTEGER NOT NULL,
    token_count INTEGER NOT NULL,
    term_count INTEGER NOT NULL,
    language VARCHAR NOT NULL,
    embedding_id BIGINT NOT NULL
);
COMMENT ON TABLE chunks IS 'One row a byte-exact slice of a file';
COMMENT ON COLUMN chunks.id IS 'hash of root, path, text and how many-th such text of the file it is';
COMMENT ON COLUMN chunks.file_id IS 'files.id';
COMMENT ON COLUMN chunks.ordinal IS 'place in the file, from 0';
COMMENT ON COLUMN chunks.kind IS 'section, code, front_matter, ...';
COMMENT ON COLUMN chunks.headings IS 'the headings above it, outermost first';
COMMENT ON COLUMN chunks.text IS 'the slice, decoded';
COMMENT ON COLUMN chunks.text_hash IS 'xxh3-128 of the text with line ends as \n, hexadecimal';
COMMENT ON COLUMN chunks.byte_start IS 'first byte in the file, from 0';
COMMENT ON COLUMN chunks.byte_end IS 'the byte after the last';
COMMENT ON COLUMN chunks.line_start IS 'first line in the file, from 1';
COMMENT ON COLUMN chunks.line_end IS 'last line in the file';
COMMENT ON COLUMN chunks.token_count IS 'tokens as the embedding model counts them';
COMMENT ON COLUMN chunks.term_count IS 'terms in the keyword index: the text''s, its headings'' and its file''s title and name';
COMMENT ON COLUMN chunks.language IS 'human language (ISO 639-1); empty: cannot tell';
COMMENT ON COLUMN chunks.embedding_id IS 'embeddings.id; equal texts share one';

CREATE TABLE embeddings_indexed (
    id BIGINT NOT NULL,
    vector embedding NOT NULL
);
COMMENT ON TABLE embeddings_indexed IS 'Unit vectors of earlier runs, not written between two builds of their vector index';
COMMENT ON COLUMN embeddings_indexed.id IS 'hash of model, prefix and text';
COMMENT ON COLUMN embeddings_indexed.vector IS 'unit length';

CREATE TABLE embeddings_recent (
    id BIGINT NOT NULL,
    vector embedding NOT NULL
);
COMMENT ON TABLE embeddings_recent IS 'Unit vectors of the latest runs';
COMMENT ON COLUMN embeddings_recent.id IS 'hash of model, prefix and text';
COMMENT ON COLUMN embeddings_recent.vector IS 'unit length';

CREATE TABLE subchunks (
    chunk_id BIGINT NOT NULL,
    ordinal INTEGER NOT NULL,
    text VARCHAR NOT NULL,
    embedding_id BIGINT NOT NULL
);
COMMENT ON TABLE subchunks IS 'Windows of chunks, cut between sentences, whose vectors make the similar edges; empty unless graph.edge_source is subchunk';
COMMENT ON COLUMN subchunks.chunk_id IS 'chunks.id';
COMMENT ON COLUMN subchunks.ordinal IS 'place in the chunk, from 0';
COMMENT ON COLUMN subchunks.text IS 'as it was embedded, without the prefix';
COMMENT ON COLUMN subchunks.embedding_id IS 'embeddings_subchunk.id; embeddings.id where a chunk has this text';

CREATE TABLE embeddings_subchunk (
    id BIGINT NOT NULL,
    vector embedding NOT NULL
);
COMMENT ON TABLE embeddings_subchunk IS 'Unit vectors of sub-chunks; no query looks at them';
COMMENT ON COLUMN embeddings_subchunk.id IS 'hash of model, prefix and text';
COMMENT ON COLUMN embeddings_subchunk.vector IS 'unit length';

CREATE TABLE edges (
    src BIGINT NOT NULL,
    dst BIGINT NOT NULL,
    kind VARCHAR NOT NULL,
    weight DOUBLE NOT NULL,
    outward BOOLEAN NOT NULL
);
COMMENT ON TABLE edges IS 'Edges between chunks, each in both directions. Similar: the k nearest distinct texts, whatever their weight (of sub-chunks, where graph.edge_source says so); copies of a text hang on its first chunk with weight 1. The others: what links says, from the chunk that names to the one that is named';
COMMENT ON COLUMN edges.src IS 'chunks.id';
COMMENT ON COLUMN edges.dst IS 'chunks.id';
COMMENT ON COLUMN edges.kind IS 'similar, link, import, mention or tag';
COMMENT ON COLUMN edges.weight IS 'similar: cosine (the greatest of two sub-chunks), rounded to 6 decimals; others: 1';
COMMENT ON COLUMN edges.outward IS 'whether src names dst; similar and tag: always';

CREATE TABLE links (
    chunk_id BIGINT NOT NULL,
    kind VARCHAR NOT NULL,
    target VARCHAR NOT NULL,
    heading VARCHAR NOT NULL,
    line INTEGER NOT NULL,
    file_id BIGINT,
    target_id BIGINT
);
COMMENT ON TABLE links IS 'What files say of each other; a link whose target is not there waits for it';
COMMENT ON COLUMN links.chunk_id IS 'chunks.id of the chunk that holds it';
COMMENT ON COLUMN links.kind IS 'link (a path), wikilink (the name of a note), import, mention (another file''s title or alias in the text) or tag (of the front matter)';
COMMENT ON COLUMN links.target IS 'as written';
COMMENT ON COLUMN links.heading IS 'heading, anchor or ^block of the target that is meant; empty: none';
COMMENT ON COLUMN links.line IS 'line of the file, from 1';
COMMENT ON COLUMN links.file_id IS 'files.id of the target; NULL: not in the corpus, or a tag';
COMMENT ON COLUMN links.target_id IS 'chunks.id of the heading''s first chunk, else of the file''s';

CREATE TABLE communities (
    chunk_id BIGINT NOT NULL,
    community INTEGER NOT NULL
);
COMMENT ON TABLE communities IS 'Leiden community of each chunk that has an edge';
COMMENT ON COLUMN communities.chunk_id IS 'chunks.id';
COMMENT ON COLUMN communities.community IS 'numbered by size, largest first, from 0';

CREATE TABLE community_labels (
    community INTEGER NOT NULL,
    size INTEGER NOT NULL,
    name VARCHAR NOT NULL,
    terms VARCHAR[] NOT NULL,
    chunk_id BIGINT NOT NULL,
    headings VARCHAR[] NOT NULL,
    content_hash VARCHAR NOT NULL
);
COMMENT ON TABLE community_labels IS 'What each community is about';
COMMENT ON COLUMN community_labels.community IS 'communities.community';
COMMENT ON COLUMN community_labels.size IS 'its chunks';
COMMENT ON COLUMN community_labels.name IS 'its first terms; empty: no word tells it from the others';
COMMENT ON COLUMN community_labels.terms IS 'the words that tell it from the others, best first';
COMMENT ON COLUMN community_labels.chunk_id IS 'chunks.id of the member with the strongest edges inside it';
COMMENT ON COLUMN community_labels.headings IS 'the headings above that chunk, outermost first';
COMMENT ON COLUMN community_labels.content_hash IS 'md5 of its members'' text hashes in order: the same as long as its texts are';

CREATE TABLE community_titles (
    content_hash VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    summary VARCHAR NOT NULL,
    model VARCHAR NOT NULL
);
COMMENT ON TABLE community_titles IS 'What a chat model said of communities (`index --describe`); kept as long as their texts are the same';
COMMENT ON COLUMN community_titles.content_hash IS 'community_labels.content_hash';
COMMENT ON COLUMN community_titles.title IS 'a few words';
COMMENT ON COLUMN community_titles.summary IS 'about two sentences';
COMMENT ON COLUMN community_titles.model IS 'the chat model';

CREATE TABLE terms (
    id BIGINT NOT NULL,
    term VARCHAR NOT NULL,
    df INTEGER NOT NULL
);
COMMENT ON TABLE terms IS 'Dictionary of the keyword index';
COMMENT ON COLUMN terms.id IS 'hash of the term';
COMMENT ON COLUMN terms.term IS 'normalised, stemmed';
COMMENT ON COLUMN terms.df IS 'chunks that hold it';

CREATE TABLE postings (
    term_id BIGINT NOT NULL,
    chunk_id BIGINT NOT NULL,
    tf INTEGER NOT NULL
);
COMMENT ON TABLE postings IS 'Which chunk holds which term how often';
COMMENT ON COLUMN postings.term_id IS 'terms.id';
COMMENT ON COLUMN postings.chunk_id IS 'chunks.id';
COMMENT ON COLUMN postings.tf IS 'occurrences in the text, its headings and its file''s title and name';

CREATE TABLE forms (
    form VARCHAR NOT NULL,
    term_id BIGINT NOT NULL
);
COMMENT ON TABLE forms IS 'From a word as it is written (lower case, accents folded) to its terms, so that SQL can search without a stemmer';
COMMENT ON COLUMN forms.form IS 'surface form';
COMMENT ON COLUMN forms.term_id IS 'terms.id';

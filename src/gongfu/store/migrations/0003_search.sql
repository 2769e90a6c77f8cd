-- What can be searched by words. The list of words of each kind is a table of its own, made by the code: the SQLite of
-- a machine may lack full text search. A row is a thing with its text, and with the text as terms.
CREATE TABLE search_item (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    at REAL NOT NULL,
    size INTEGER NOT NULL,
    text TEXT NOT NULL,
    terms TEXT NOT NULL,
    UNIQUE (kind, name)
);
-- How many things of a kind hold a term.
CREATE TABLE search_term (
    kind TEXT NOT NULL,
    term TEXT NOT NULL,
    items INTEGER NOT NULL,
    PRIMARY KEY (kind, term)
) WITHOUT ROWID;
-- Of a kind: how many things and terms there are, which terms they were split into, whether the list of words has all.
CREATE TABLE search_kind (
    kind TEXT PRIMARY KEY,
    items INTEGER NOT NULL,
    size INTEGER NOT NULL,
    version INTEGER NOT NULL,
    listed INTEGER NOT NULL
);
-- Up to which sequence the words of a session can be searched.
CREATE TABLE search_session (
    session INTEGER PRIMARY KEY,
    upto INTEGER NOT NULL
);

-- A session has a number; the key of an event is its session's number * 2^32 + its sequence, so that one tree holds
-- all events, each session in one run, and an append touches one page.
CREATE TABLE session (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL DEFAULT '',
    directory TEXT NOT NULL DEFAULT '',
    root TEXT NOT NULL DEFAULT '',
    parent TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL,
    updated REAL NOT NULL,
    turns INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL
);
CREATE INDEX session_updated ON session (updated);
CREATE INDEX session_parent ON session (parent) WHERE parent <> '';
CREATE TABLE event (
    key INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    data TEXT NOT NULL
);

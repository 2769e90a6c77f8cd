-- Named documents with their history: plans, notes. `scope` is a workspace root, or '' for all of them.
CREATE TABLE document (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    kind    TEXT NOT NULL,
    scope   TEXT NOT NULL,
    name    TEXT NOT NULL,
    version INTEGER NOT NULL,
    at      REAL NOT NULL,
    active  INTEGER NOT NULL DEFAULT 0,
    body    TEXT NOT NULL,
    UNIQUE (kind, scope, name, version)
);
CREATE INDEX document_active ON document (kind, scope, active, at);

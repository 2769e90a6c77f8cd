-- What the operator has said of project rules. A row is bound to a text by its hash and is never changed or deleted.
CREATE TABLE rule_word (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    root TEXT NOT NULL,
    path TEXT NOT NULL,
    heading TEXT NOT NULL DEFAULT '',
    sha256 TEXT NOT NULL,
    duty TEXT NOT NULL,
    why TEXT NOT NULL DEFAULT '',
    at REAL NOT NULL,
    "by" TEXT NOT NULL DEFAULT ''
);
CREATE INDEX rule_word_root ON rule_word (root);
-- Which projects the person was asked about, once.
CREATE TABLE rule_question (
    root TEXT PRIMARY KEY,
    answer TEXT NOT NULL,
    at REAL NOT NULL
);

-- What people allowed for a project: exactly the command or path that they were shown.
CREATE TABLE permission_grant (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    root   TEXT NOT NULL,
    tool   TEXT NOT NULL,
    "key"  TEXT NOT NULL,
    text   TEXT NOT NULL,
    at     REAL NOT NULL,
    UNIQUE (root, tool, "key")
);

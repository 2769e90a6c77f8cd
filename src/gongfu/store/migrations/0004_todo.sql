-- What a session's todo list has open: a JSON array of {text, status}, "[]" when all is done, "" when it never had one.
ALTER TABLE session ADD COLUMN todo TEXT NOT NULL DEFAULT '';

"""What Gongfu keeps: the SQLite database of sessions and events, and the files of whole outputs."""

"""Takes a session, or a Markdown document, out of Gongfu: as Markdown, HTML, JSON or PDF."""

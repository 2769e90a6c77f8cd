"""The one ranker: what text is nearest to a query, for past exchanges, memories, tools, skills and history."""

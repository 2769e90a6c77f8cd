"""Words of a text and how well they match: what the search of the store and the ranker of `retrieval` share."""

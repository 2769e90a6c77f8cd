"""The conversation: what `gongfu` opens on a terminal."""

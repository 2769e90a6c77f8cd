"""The tools that come with Gongfu, one module a family."""

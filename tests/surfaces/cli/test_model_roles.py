"""The model that turns text into vectors, in `gongfu models`."""

from __future__ import annotations

import json
from collections.abc import Callable

from gongfu.models.scripted.server import Server
from tests.surfaces.cli.conftest import Program

Serve = Callable[..., Server]


def test_the_embedding_model_is_listed_with_its_role(program: Program) -> None:
    rows = json.loads(program.call("models", "--json", GONGFU_EMBEDDING_MODEL="ollama/bge-m3").out)["models"]
    (row,) = [row for row in rows if row["role"] == "embedding"]
    assert row["ref"] == "ollama/bge-m3"
    assert not row["problem"]
    assert "embedding" in program.call("models", "list", GONGFU_EMBEDDING_MODEL="ollama/bge-m3").out


def test_testing_the_embedding_model_asks_it_for_vectors(program: Program, serve: Serve) -> None:
    server = serve(key="test-key", dimension=48)
    env = {"GONGFU_EMBEDDING_MODEL": "openai/text-embedding-3-small"}
    done = program.call("models", "test", "openai/text-embedding-3-small", **env)
    assert done.code == 0, done
    assert done.out.startswith("openai/text-embedding-3-small\n")
    assert "48 numbers" in done.out
    assert len(server.embeddings) == 1
    assert not server.requests
    told = json.loads(program.call("models", "test", "text-embedding-3-small", "--json", **env).out)
    assert told["ok"]
    assert [c["name"] for c in told["checks"]] == ["reachable", "key", "vectors", "usage"]
    refused = program.call("models", "test", "openai/text-embedding-3-small", **env, OPENAI_API_KEY="wrong")
    assert refused.code == 1
    assert "Incorrect API key" in refused.out


def test_an_embedding_model_that_cannot_be_one_is_told(program: Program) -> None:
    done = program.call("models", "test", "local", GONGFU_EMBEDDING_MODEL="local")
    assert done.code == 2
    assert "models.embedding" in done.err

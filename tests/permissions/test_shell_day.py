"""Lines that coding agents write all day: rated no graver than somebody who knows the shell would."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Rate, build_workspace, rater

LINES: tuple[tuple[str, str], ...] = (
    # here-documents
    ("python - <<'EOF'\nprint(1)\nEOF", "read run"),
    ("python3 -u - <<'EOF' > out.txt\nprint(1)\nEOF", "read run write"),
    ("cd src && python3 - <<'EOF'\nprint(1)\nEOF", "read run"),
    ("cd src && cat > f <<'EOF'\nx\nEOF", "read write"),
    ("cd src && cat > f <<'EOF' && python f\nx\nEOF", "read run write"),
    ("cat a.txt | python3 - <<'EOF'\nprint(1)\nEOF", "read run"),
    ("mkdir -p x && cat > x/y <<'EOF'\nx\nEOF", "read write"),
    # many files at once
    ("find . -name '*.pyc' -delete", "read write"),
    ("find . -name __pycache__ -type d -exec rm -rf {} +", "read write"),
    ("find . -type d -name '*.egg-info' -exec rm -rf {} \\;", "read write"),
    ("find . -type f -name '*.py' -exec grep -l foo {} \\;", "read"),
    ("find . -type f -name '*.py' -exec sed -i 's/a/b/' {} +", "read write"),
    ("find src -name '*.py' | xargs sed -i 's/a/b/g'", "read write"),
    ("git ls-files '*.py' | xargs sed -i 's/foo/bar/'", "read write"),
    ("grep -rl foo --include='*.py' . | xargs sed -i 's/foo/bar/g'", "read write"),
    ("rm -rf build dist *.egg-info", "write"),
    ("rm -rf ./build/*", "write"),
    # variables by which only code of the project runs
    ("PYTHONPATH=src python -m app", "read run"),
    ("PYTHONPATH=. pytest", "read run"),
    ("export PYTHONPATH=src:lib; pytest", "read run"),
    ("NODE_OPTIONS=--max-old-space-size=4096 npm run build", "read run"),
    ("CC=clang make", "read run"),
    ("GIT_EDITOR=true git merge --continue", "read run write"),
    # git: what the reflog knows is not lost
    ("git reset --soft HEAD~1", "write"),
    ("git commit --amend --no-edit", "run write"),
    ("git stash pop", "write"),
    # and more
    ("docker compose ps", "network"),
    ("docker compose logs --tail 20", "network"),
    ("python -c \"import re; print(re.compile('x').match('x'))\"", "run"),
    ("python -c 'import platform; print(platform.system())'", "run"),
    ("python -m cProfile -s cumtime src/main.py", "read run"),
    ('cd "$(git rev-parse --show-toplevel)" && ls', "read"),
    ('[ "$(wc -l < a.txt)" -gt 3 ] && echo many', "read"),
    ('[[ "$(cat a.txt)" == "x" ]] && echo same', "read"),
    ('if [ -n "$(git status --porcelain)" ]; then echo dirty; fi', "read"),
    ("diff <(sort a.txt) <(sort src/main.py)", "read"),
    ("comm -12 <(sort a.txt) <(sort src/main.py)", "read"),
    ("./server & PID=$!; sleep 1; kill $PID", "read run"),
    # and what must be seen in them
    ('[ "$(rm -rf ~)" -gt 3 ]', "destructive outside read write"),
    ('[[ "$(cat a.txt)" -gt 3 ]]', "read unknown"),
    ("[ $(cat a.txt) -gt 3 ]", "read unknown"),
    ("diff <(rm -rf ~) a.txt", "destructive outside read write"),
    ("./server & PID=$!; PID=1; kill $PID", "read run unknown"),
    ("./server & PID=$!; read PID < a.txt; kill $PID", "read run unknown"),
    ("find . -name '*' -delete", "destructive read"),
    ("find . -name '*.pyc' -o -name x -delete", "destructive read"),
    ("find . ! -name '*.pyc' -delete", "destructive read"),
    ("find -L . -name '*.pyc' -delete", "destructive read"),
    ("find . -name logs -exec rm -rf {} +", "destructive read unknown write"),
    ("find . -name '*.pyc' -exec rm -rf {} / +", "destructive outside read unknown write"),
    ("find . -name '*.pem' -type f -exec cat {} +", "read unknown"),
    ("find . -type f -exec cat {} +", "read unknown"),
    ("find . -type f -name '*.py' -exec sed -i 's/a/b/e' {} +", "read unknown write"),
    ("find src | xargs sed -i 's/a/b/'", "read unknown"),
    ("grep -rl foo . | xargs sed -i 's/a/b/'", "credential read unknown"),
    ("grep -rl x --include='*' . | xargs sed -i 's/a/b/'", "read unknown"),
    ("grep -rl x --include='*.env' . | xargs cat", "credential read"),
    ("grep -rl x --include='*.py' --include='*' . | xargs cat", "credential read"),
    ("rg -l x -g '.e*' | xargs cat", "credential read"),
    ("rg -l x -g '*' | xargs cat", "credential read"),
    ("rg -l x -uu -g '*.py' | xargs sed -i 's/a/b/'", "credential read unknown"),
    ("find src -name '*.py' | xargs sed -i 's/a/b/' ../x", "outside read write"),
    ("rm -rf build/../*", "credential destructive outside write"),
    ("PYTHONPATH=/srv/x pytest", "read run unknown"),
    ("PYTHONPATH=../x pytest", "read run unknown"),
    ("CC=./cc make", "read run unknown"),
    ("GIT_EDITOR='sh x' git merge --continue", "read run unknown write"),
    ("NODE_OPTIONS='--require ./x' npm test", "read run unknown"),
    ("git reset --hard HEAD~1", "destructive write"),
    ("docker compose up -d", "destructive network privilege"),
    ("docker compose exec web sh", "network privilege"),
    ("make net URL=http://localhost:1", "network run"),
    ("python3 net.py http://localhost:1", "network read run"),
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


@pytest.mark.parametrize("name", ["x /etc", "it's", 'a"b', "a\\b", "a\nb"])
def test_a_name_that_xargs_would_cut_is_no_plain_name(tmp_path: Path, name: str) -> None:
    workspace = build_workspace(tmp_path)
    rate = rater(workspace)
    for command in ("find src -name '*.py' | xargs cat", "find src -name '*.py' | xargs sed -i 's/a/b/'"):
        assert "unknown" not in rate(command).ratings
        (workspace.root / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace.root / "src" / name).touch()
        assert "unknown" in rate(command).ratings
        assert "unknown" not in rate("find src -name '*.py' -print0 | xargs -0 cat").ratings
        (workspace.root / "src" / name).unlink()
        if "/" in name:
            (workspace.root / "src" / name).parent.rmdir()

"""Commands that try to get out: each is run for real, by bubblewrap and by Landlock, as root and as nobody."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from gongfu.workspace.proctree import any_marked
from tests.processes import living
from tests.workspace.sandbox.scene import KINDS, PYTHON, USERS, Scene

KEY = "TOP-SECRET-KEY"


@pytest.fixture(params=USERS)
def scene(request: pytest.FixtureRequest, scene_folder: Path) -> Scene:
    return Scene(scene_folder, request.param)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def tree(folder: Path) -> dict[str, bytes | str]:
    return {
        str(p.relative_to(folder)): str(p.readlink()) if p.is_symlink() else p.read_bytes() if p.is_file() else ""
        for p in sorted(folder.rglob("*"))
    }


WRITES = (
    "echo x > /etc/gongfu-was-here",
    "echo x > ~/.bashrc",
    "echo x >> ~/.bashrc",
    "echo x > ~/new",
    "echo x > ../beside/file",
    "echo x > out/file",
    "echo x > out/new",
    "echo x > /proc/self/root$PWD/../beside/file",
    "echo x > /proc/self/cwd/../beside/file",
    "rm ../beside/file",
    "rm -rf ../beside ~",
    "mv ../beside ../gone",
    "mv ../beside/file taken",
    "mv file ../beside/given",
    "mv file ../beside/file",
    "ln ../beside/file hard && echo x > hard",
    "ln file ../beside/hard",
    "mkdir ../beside/folder",
    "mkfifo ../beside/pipe",
    "cp file ../beside/file",
    "truncate -s 0 ../beside/file",
    "ln -sfn /nowhere ../beside/file",
    "mv ../work ../moved",
    "mv ../home ../moved",
    "dd if=/dev/zero of=../beside/file bs=1 count=1 conv=notrunc",
    "echo x > /srv/gongfu-was-here",
    "echo x > /usr/bin/gongfu-was-here",
    "echo x > /var/gongfu-was-here",
    "cd /; echo x > .gongfu-was-here",
)  # fmt: skip


def test_nothing_is_written_outside(scene: Scene, kind: str) -> None:
    before = tree(scene.beside), tree(scene.home)
    told = scene.run(*WRITES, kind=kind)
    assert [line for line, done in zip(WRITES, told, strict=True) if done["code"] == 0] == []
    assert (tree(scene.beside), tree(scene.home)) == before
    assert sorted(p.name for p in scene.top.iterdir()) == ["beside", "home", "orders.json", "work"]
    places = ("/etc", "/srv", "/usr/bin", "/var", "/")
    assert not any(name.endswith("gongfu-was-here") for place in places for name in map(str, Path(place).iterdir()))


WORK = (
    "echo changed > file && cat file",
    "mkdir -p a/b && mv a c && rm -r c && ln -s file link && rm link && mkfifo p && rm p",
    "git add -A && git commit -qm first && git log --oneline | wc -l",
    "git checkout -qb other && git tag t && git gc -q && git stash list && git reset -q --hard t",
    "echo 1 > $TMPDIR/x && cat $TMPDIR/x && cat ~/note.txt",
    "cat $TMPDIR/x",
    "cat /etc/passwd > /dev/null && ls / ~ > /dev/null && : > /dev/null && head -c 4 /dev/urandom | wc -c",
    f"{PYTHON} -c 'import ssl, tempfile; tempfile.TemporaryFile().write(b\"x\"); print(1)'",
    "echo $(( $(nproc) > 0 )); diff <(echo a) <(echo a) && cat <<< here",
)


def test_work_goes_on(scene: Scene, kind: str) -> None:
    for line, done in zip(WORK, scene.run(*WORK, kind=kind), strict=True):
        assert done["code"] == 0, (line, done)
    assert (scene.work / "file").read_text() == "changed\n"


SECRETS = (
    "cat ~/.ssh/id_ed25519",
    "cat keys/id_ed25519",
    "cat ~/.netrc",
    "cat ~/.gongfu/keys.yaml",
    "cp -r ~/.ssh copy; cat copy/*",
    "grep -r KEY ~",
    "grep -r KEY ..  --include=id_ed25519",
    "cat /proc/self/root$HOME/.ssh/id_ed25519",
    "ln ~/.ssh/id_ed25519 mine; cat mine",
    "mv ~/.ssh seen; cat seen/id_ed25519",
    "mv ~/.netrc seen; cat seen",
    "tar c -C ~ .ssh .netrc .gongfu | cat",
    "umount ~/.ssh; umount -l ~/.gongfu; cat ~/.ssh/* ~/.gongfu/*",
    "for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ; done",
    "for p in /proc/[0-9]*; do cat $p/root$HOME/.netrc; done",
    "unshare -Urm sh -c 'umount -l ~/.ssh; mount -t tmpfs x /mnt; cat ~/.ssh/*'",
    "cat /dev/vda /dev/sda /dev/mem | head -c 1000000 | grep -a KEY",
    "mknod disk b 254 0 && head -c 1000000 disk | grep -a KEY",
    f'{PYTHON} -c \'import os; os.chroot("."); os.chdir("../../../.."); os.system("cat $HOME/.netrc")\'',
)


def test_no_secret_is_read(scene: Scene, kind: str) -> None:
    for line, done in zip(SECRETS, scene.run(*SECRETS, kind=kind), strict=True):
        assert KEY not in done["text"], line
    assert (scene.home / ".ssh" / "id_ed25519").read_text() == KEY
    assert not (scene.work / "disk").exists() or kind == "bwrap"


GIT_TRAPS = (
    "echo evil > .git/hooks/post-commit",
    "echo evil > .git/config",
    "git config core.fsmonitor evil",
    "git config core.hooksPath evil",
    "rm -rf .git/hooks; mkdir .git/hooks; echo evil > .git/hooks/post-commit",
    "mv .git old && cp -r old .git && echo evil > .git/hooks/post-commit",
    "mv .git/hooks x; mkdir .git/hooks; echo evil > .git/hooks/post-commit",
    "ln -sfn ../evil .git/hooks; ln -sf ../evil .git/config",
    "echo evil > .mcp.json",
    "mv .mcp.json x; echo evil > .mcp.json",
)


def test_what_programs_outside_obey_stays_as_it_is(scene: Scene) -> None:
    """By bubblewrap only: Landlock's rules cannot take a part out of a folder that may be written."""
    config, hooks = (scene.work / ".git/config").read_bytes(), sorted((scene.work / ".git/hooks").iterdir())
    scene.run(*GIT_TRAPS, kind="bwrap")
    assert (scene.work / ".git/config").read_bytes() == config
    assert sorted((scene.work / ".git/hooks").iterdir()) == hooks
    assert (scene.work / ".mcp.json").read_text() == "{}"


def test_a_worktree_commits_into_a_repository_that_it_cannot_turn(scene: Scene) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(scene.home), "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "safe.directory=*", *words], cwd=scene.work, env=env, check=True, capture_output=True
        )

    main = scene.beside / "main"
    scene.work.rename(main)
    scene.work = main
    git("add", "-A")
    git("commit", "-qm", "first")
    git("worktree", "add", "-q", str(scene.top / "work"))
    for path in scene.top.rglob("*"):
        os.chown(path, scene.top.stat().st_uid, scene.top.stat().st_gid, follow_symlinks=False)
    told = scene.run(
        "echo new > new && git add new && git commit -qm second && git log --oneline | wc -l",
        f"echo evil > {main}/.git/hooks/post-commit; echo evil >> {main}/.git/config; echo evil > {main}/file",
        "echo 'gitdir: /nowhere' > .git",
        kind="bwrap",
    )
    assert (told[0]["code"], told[0]["text"].strip()) == (0, "2")
    assert "evil" not in (main / ".git/config").read_text() + (main / "file").read_text()
    assert not (main / ".git/hooks/post-commit").exists()
    assert "/nowhere" not in (scene.top / "work/.git").read_text()


# --- network and services -----------------------------------------------------------------------------------------


@pytest.fixture
def services(scene: Scene) -> Generator[dict[str, str]]:
    """What listens on this machine: TCP, UDP, an abstract socket, one in a folder; each tells a secret."""
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as path,
    ):
        udp.bind(("127.0.0.1", 0))
        udp.setblocking(False)
        abstract.bind(f"\0gongfu-test-{os.getpid()}")
        path.bind(str(scene.home / "agent.sock"))
        (scene.home / "agent.sock").chmod(0o777)
        abstract.listen()
        path.listen()
        names = {"tcp": tcp, "udp": udp, "abstract": abstract, "path": path}
        scene.sockets = names  # type: ignore[attr-defined]
        yield {
            "tcp": f's=socket.create_connection(("127.0.0.1",{tcp.getsockname()[1]}),3)',
            "udp": f's=socket.socket(2,2);s.connect(("127.0.0.1",{udp.getsockname()[1]}));s.send(b"x")',
            "abstract": f's=socket.socket(socket.AF_UNIX);s.connect("\\0gongfu-test-{os.getpid()}")',
            "path": f's=socket.socket(socket.AF_UNIX);s.connect("{scene.home}/agent.sock")',
        }


def test_no_service_is_reached(scene: Scene, kind: str, services: dict[str, str]) -> None:
    lines = [f"{PYTHON} -c 'import socket;{code};print(\"connected\")'" for code in services.values()]
    told = dict(zip(services, scene.run(*lines, kind=kind), strict=True))
    reached = {name for name, done in told.items() if "connected" in done["text"]}
    assert reached - {"udp"} == (set() if kind == "bwrap" else {"path"})  # said in docs/sandbox.md
    udp: socket.socket = scene.sockets["udp"]  # type: ignore[attr-defined]
    if kind == "bwrap":
        with pytest.raises(BlockingIOError):
            udp.recv(1)
    else:
        assert udp.recv(1) == b"x"


def test_with_leave_the_network_is_there_and_the_keys_are_not(
    scene: Scene, kind: str, services: dict[str, str]
) -> None:
    line = f"{PYTHON} -c 'import socket;{services['tcp']};print(\"connected\")'; cat ~/.ssh/* ; echo x > ../beside/file"
    done = scene.one(line, kind=kind, leave={"network": True})
    assert "connected" in done["text"]
    assert KEY not in done["text"]
    assert (scene.beside / "file").read_text() == "beside"


def test_a_command_has_a_loopback_of_its_own(scene: Scene) -> None:
    code = (
        'import socket; s=socket.create_server(("127.0.0.1",0)); c=socket.create_connection(s.getsockname()); '
        's.accept()[0].send(b"own"); print(c.recv(3))'
    )
    assert "own" in scene.one(f"{PYTHON} -c '{code}'", kind="bwrap")["text"]


# --- processes ----------------------------------------------------------------------------------------------------


def test_no_process_outside_is_touched(scene: Scene, kind: str) -> None:
    victim = subprocess.Popen(["sleep", "60"], **({"user": 65534} if scene.user == "nobody" else {}))
    try:
        lines = (
            f"kill -9 {victim.pid}",
            "kill -9 $PPID; kill -9 -1; true",
            f"{PYTHON} -c 'import os,signal; os.kill(os.getppid(), signal.SIGTERM)'",
            f"{PYTHON} -c 'import ctypes; print(ctypes.CDLL(None).ptrace(16, {victim.pid}, 0, 0))'",
            f"cat /proc/{victim.pid}/environ /proc/{victim.pid}/maps /proc/{victim.pid}/mem",
            f"renice 19 {victim.pid}; ls /proc/{victim.pid}/root/ /proc/{victim.pid}/cwd/",
            "echo still here",
        )
        told = scene.run(*lines, kind=kind)
        assert told[-1]["text"] == "still here\n"
        assert told[3]["text"] == "-1\n"
        assert "PATH=" not in told[4]["text"]
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


def test_no_daemon_stays_behind(scene: Scene) -> None:
    """A daemon with a session of its own, no parent and no mark, whose outputs are closed."""
    name = f"4242.{os.getpid()}"
    code = (
        "import os,sys\n"
        "for _ in (1,2):\n"
        "    if os.fork(): os._exit(0)\n"
        "    os.setsid()\n"
        "for fd in (0,1,2): os.close(fd)\n"
        f'os.execve("/bin/sleep", ["sleep", "{name}"], {{}})\n'
    )
    done = scene.one(f"{PYTHON} -c '{code}'; sleep 0.3", kind="bwrap")
    assert done["left"]
    assert not living(name)
    assert not any_marked("GONGFU_CALL=none")


def test_nobody_becomes_more(scene: Scene, kind: str) -> None:
    lines = (
        "grep -E 'NoNewPrivs' /proc/self/status",
        "mount -t tmpfs none /mnt && echo mounted",
        "mount -o remount,rw / && echo mounted",
        "mount --bind /etc out && echo mounted",
        "unshare -m sh -c 'mount -o remount,rw,bind /' && echo mounted",
        "nsenter -t 1 -m true && cat ~/.ssh/*",
        "cp /bin/sh s; chmod 4755 s; echo ok",
        "dmesg -C && echo cleared",
        'f=/proc/sys/kernel/core_pattern; v=$(cat $f); echo "$v" > $f && echo written',
        'f=/proc/sys/vm/swappiness; v=$(cat $f); echo "$v" > $f && echo written',
        "echo h > /proc/sysrq-trigger && echo written",
        "f=/sys/kernel/mm/transparent_hugepage/defrag; echo madvise > $f && echo written",
        "hostname other && hostname",
        "mknod disk b 1 0 && echo made",
    )
    told = scene.run(*lines, kind=kind)
    assert told[0]["text"].split() == ["NoNewPrivs:", "1"]
    for line, done in zip(lines[1:], told[1:], strict=True):
        assert not {"mounted", "written", "cleared", "made", KEY} & set(done["text"].split()), (line, done)
    assert "other" not in os.uname().nodename


def test_a_plan_writes_nothing_at_all(scene: Scene, kind: str) -> None:
    told = scene.run(
        "echo x > file", "cat file && git status --short && echo 1 > $TMPDIR/y", kind=kind, leave={"write": False}
    )
    assert told[0]["code"] != 0
    assert told[1]["code"] == 0, told
    assert (scene.work / "file").read_text() == "inside"


def test_free_is_free(scene: Scene, kind: str) -> None:
    done = scene.one("cat ~/.ssh/id_ed25519 && echo x > ../beside/file", kind=kind, leave={"free": True})
    assert KEY in done["text"]
    assert (scene.beside / "file").read_text() == "x\n"


def test_further_folders(scene: Scene, kind: str) -> None:
    (scene.home / "mine").mkdir()
    (scene.home / "mine" / "diary").write_text(KEY)
    settings = {"writable": [str(scene.beside)], "hidden": [str(scene.home / "mine")]}
    done = scene.one("echo x > ../beside/file; cat ~/mine/diary", kind=kind, **settings)
    assert (scene.beside / "file").read_text() == "x\n"
    assert KEY not in done["text"]

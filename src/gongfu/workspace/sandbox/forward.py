"""Runs inside the sandbox: `forward.py SOCKET PORT COMMAND…` runs the command with 127.0.0.1:PORT led to SOCKET.

A program of its own without any import of Gongfu, for it has to start quickly and sees only what the sandbox shows.
"""

from __future__ import annotations

import _thread
import os
import signal
import socket
import sys

_CHUNK = 65536


def main() -> int:
    path, port, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    try:
        server = socket.create_server(("127.0.0.1", port), backlog=128)
    except OSError:  # commands share a network: another one has the usual port
        server = socket.create_server(("127.0.0.1", 0), backlog=128)
        _lead_to(server.getsockname()[1], port)
    usual = [signal.SIGPIPE, signal.SIGXFSZ]  # this interpreter ignores them, the command is not to
    child = os.posix_spawnp(command[0], command, os.environ, setsigdef=usual)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the command is asked itself
    _thread.start_new_thread(_accept, (server, path))
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _lead_to(port: int, usual: int) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        for spelled in (name, name.lower()):
            os.environ[spelled] = os.environ.get(spelled, "").replace(f"127.0.0.1:{usual}", f"127.0.0.1:{port}")


def _accept(server: socket.socket, path: str) -> None:
    while True:
        near, _ = server.accept()
        far = socket.socket(socket.AF_UNIX)
        try:
            far.connect(path)
        except OSError:
            near.close()
            continue
        _thread.start_new_thread(_pump, (near, far))
        _thread.start_new_thread(_pump, (far, near))


_null = os.open(os.devnull, os.O_WRONLY)


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(_CHUNK):
            target.sendall(data)
            os.write(_null, data)  # so that whoever watches the command sees it busy: bytes of sockets are not counted
        target.shutdown(socket.SHUT_WR)
    except OSError:
        source.close()
        target.close()


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)

"""Stands in for the server's program in tests: same arguments and record, answers to /health, no model."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil

from gongfu.models.local.record import KEY_VARIABLE, Record, write_record
from gongfu.models.local.serve import wait_until_idle

parser = argparse.ArgumentParser()
for name in ("--model", "--name", "--record", "--beat"):
    parser.add_argument(name)
parser.add_argument("--idle", type=float)
parser.add_argument("--how", default="serve")
asked = parser.parse_args()
print("started with", sorted(os.environ), flush=True)
if asked.how == "crash":
    print("error: the model file is broken")
    sys.exit(3)
if asked.how == "hang":
    time.sleep(60)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"status": "ok"} if self.path == "/health" else [{"is_processing": False}]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
record = Record(
    pid=os.getpid(),
    born=psutil.Process().create_time(),
    port=server.server_address[1],
    key=os.environ[KEY_VARIABLE],
    model=asked.name,
)
write_record(Path(asked.record), record)
if asked.how == "deaf":
    server.shutdown()
    server.server_close()
    time.sleep(60)
wait_until_idle(Path(asked.record), record, Path(asked.beat), asked.idle)
os._exit(0)

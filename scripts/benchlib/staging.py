"""When a `connect` reaches each of its stages, as a program of the user's inside the lab.

    staging.py SOCKET COMMAND…      prints JSON: STATE or STAGE → milliseconds since COMMAND was started, and "end"

The stages are those the worker tells whoever subscribes; `engine` comes when it has looked at the host.
"""

import json
import os
import select
import socket
import subprocess
import sys
import time


def main(path, *command):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(b'{"v":1,"id":1,"call":"subscribe"}\n')
        # The answer, and the event that tells how things stand.
        text = b""
        while text.count(b"\n") < 2:
            text += connection.recv(1 << 16)
        began = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ended = os.pidfd_open(process.pid)
        told, text = {}, b""
        while not (ready := select.select([connection, ended], [], [])[0]) or connection in ready:
            text += connection.recv(1 << 16)
            now = (time.perf_counter() - began) * 1000
            *lines, text = text.split(b"\n")
            for line in lines:
                status = json.loads(line).get("status") or {}
                told.setdefault(status.get("stage") or status.get("state"), now)
        told["end"] = (time.perf_counter() - began) * 1000
    print(json.dumps(told if process.wait() == 0 else {}))


main(*sys.argv[1:])

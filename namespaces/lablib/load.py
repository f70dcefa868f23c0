"""A busy user's programs: many short visits and a few long downloads at once; run as the user, prints one JSON object.

    load.py VISITS BYTES PORT SECONDS EXIT,… SERVER…

Visits ask a page which address they come from, which must be one of the exits; downloads must have every byte. Ends once
both numbers are reached, or with the time.
"""

import json
import socket
import sys
import threading
import time

VISITS, BYTES, PORT, SECONDS = (int(argument) for argument in sys.argv[1:5])
EXITS, SERVERS = set(sys.argv[5].split(",")), sys.argv[6:]
VISITORS, DOWNLOADERS = 12, 3
# What one download has, and how many visits begin in a second at most: ports of a connection that is over stay taken for
# a minute, on any machine.
CHUNK, PACE = 64 << 20, 300

lock = threading.Lock()
begun, end = time.monotonic(), time.monotonic() + SECONDS
told = {"visits": 0, "bytes": 0, "downloads": 0, "failures": [], "slowest_ms": 0, "exits": {}}
asked = 0


def get(server, path, take):
    """One request on a connection of its own; `take` gets the socket behind the head, and what has been read of the body."""
    with socket.create_connection((server, PORT), 20) as made:
        made.settimeout(20)
        host = f"[{server}]" if ":" in server else server
        made.sendall(f"GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n".encode())
        data = b""
        while b"\r\n\r\n" not in data:
            if not (more := made.recv(65536)):
                raise EOFError("no head")
            data += more
        head, body = data.split(b"\r\n\r\n", 1)
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise ValueError(head[:80])
        return take(made, body)


def whole(made, body):
    """The rest of a short answer."""
    while more := made.recv(65536):
        body += more
    return body.decode().strip()


def counted(made, body):
    """The number of bytes of a long answer."""
    room, count = bytearray(1 << 20), len(body)
    while count < CHUNK and (more := made.recv_into(room)):
        count += more
    return count


def failed(kind, server, problem):
    with lock:
        told["failures"].append({"at": round(time.monotonic() - begun, 1), "kind": kind, "server": server,
                                 "problem": f"{type(problem).__name__}: {problem}"})


def visit():
    global asked
    while True:
        with lock:
            if asked >= VISITS or time.monotonic() > end:
                return
            asked += 1
            number = asked
        time.sleep(max(0.0, begun + number / PACE - time.monotonic()))
        server, began = SERVERS[number % len(SERVERS)], time.monotonic()
        try:
            address = get(server, "/ip.txt", whole)
            if address not in EXITS:
                raise ValueError(f"seen as {address}")
        except (OSError, EOFError, ValueError) as problem:
            failed("visit", server, problem)
            continue
        with lock:
            told["visits"] += 1
            told["exits"][address] = told["exits"].get(address, 0) + 1
            told["slowest_ms"] = max(told["slowest_ms"], round((time.monotonic() - began) * 1000))


def download(number):
    while told["bytes"] < BYTES and time.monotonic() < end:
        number += 1
        server = SERVERS[number % len(SERVERS)]
        try:
            count = get(server, f"/bytes?n={CHUNK}", counted)
            if count != CHUNK:
                raise EOFError(f"{count} of {CHUNK} bytes")
        except (OSError, EOFError, ValueError) as problem:
            failed("download", server, problem)
            continue
        with lock:
            told["bytes"] += count
            told["downloads"] += 1


threads = [threading.Thread(target=visit) for _ in range(VISITORS)]
threads += [threading.Thread(target=download, args=(number,)) for number in range(DOWNLOADERS)]
for thread in threads:
    thread.start()
while any(thread.is_alive() for thread in threads):
    time.sleep(5)
    with lock:
        print(f"{time.monotonic() - begun:.0f} s: {told['visits']} visits, {told['bytes'] / 1e9:.1f} GB, "
              f"{len(told['failures'])} failures", file=sys.stderr, flush=True)
told["seconds"] = round(time.monotonic() - begun)
print(json.dumps(told))

"""Small requests, as a program inside the lab: a server that answers and a client that measures, one thread each.

    load.py serve ADDRESS PORT                      answers every 64 bytes with 64 bytes; "ready" when it listens
    load.py ask ADDRESS PORT SECONDS AT_ONCE        requests over AT_ONCE open connections; JSON: p50, p99 (ms), count, failed
    load.py connect ADDRESS PORT SECONDS AT_ONCE    a new connection for each request; JSON: rate (1/s), p50, p99, failed,
                                                    processor (s, this program's own)
    load.py steady ADDRESS PORT                     one new connection after the other until SIGTERM; JSON: asked, failed
"""

import errno
import json
import resource
import selectors
import signal
import socket
import sys
import time

SIZE = 64
REQUEST = b"?" * SIZE
PATIENCE = 10


def serve(address, port):
    """Answers until killed."""
    listener = socket.create_server((address, port), backlog=4096)
    listener.setblocking(False)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    print("ready", flush=True)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                try:
                    while True:
                        connection, _ = listener.accept()
                        connection.setblocking(False)
                        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        selector.register(connection, selectors.EVENT_READ)
                except BlockingIOError:
                    continue
            try:
                data = key.fileobj.recv(65536)
                if data:
                    key.fileobj.send(data)
                    continue
            except OSError:
                pass
            selector.unregister(key.fileobj)
            key.fileobj.close()


def summary(times, failed, **more):
    """What is printed at the end."""
    times.sort()
    def part(share):
        return round(times[min(len(times) - 1, int(len(times) * share))] * 1000, 4) if times else None
    print(json.dumps({"count": len(times), "failed": failed, "p50": part(0.5), "p99": part(0.99), **more}))


def ask(address, port, seconds, at_once):
    """Keeps AT_ONCE requests in flight, one a connection."""
    selector = selectors.DefaultSelector()
    for _ in range(at_once):
        connection = socket.create_connection((address, port), timeout=PATIENCE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # The first round trip opens the connection behind the tunnel, too; it is not a small request's.
        connection.sendall(REQUEST)
        received = 0
        while received < SIZE:
            received += len(connection.recv(SIZE)) or sys.exit("the connection was closed")
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ, [0, 0])
    times = []
    clock = time.perf_counter
    for key in list(selector.get_map().values()):
        key.data[0], key.data[1] = clock(), 0
        key.fileobj.send(REQUEST)
    end, failed = clock() + seconds, 0
    while clock() < end:
        for key, _ in selector.select(PATIENCE):
            try:
                data = key.fileobj.recv(SIZE)
            except OSError:
                data = b""
            if not data:
                failed += 1
                selector.unregister(key.fileobj)
                continue
            key.data[1] += len(data)
            if key.data[1] >= SIZE:
                now = clock()
                times.append(now - key.data[0])
                key.data[0], key.data[1] = now, 0
                key.fileobj.send(REQUEST)
    summary(times, failed)


def connect(address, port, seconds, at_once):
    """Keeps AT_ONCE new connections under way, each with one request: a tunnel may accept before the far end has."""
    selector = selectors.DefaultSelector()
    clock = time.perf_counter
    times, failed = [], 0

    def begin():
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setblocking(False)
        began = clock()
        if made.connect_ex((address, port)) not in (0, errno.EINPROGRESS):
            made.close()
            return False
        selector.register(made, selectors.EVENT_WRITE, began)
        return True

    for _ in range(at_once):
        failed += not begin()
    began, spent = clock(), processor()
    end = began + seconds
    while clock() < end and selector.get_map():
        for key, events in selector.select(PATIENCE):
            try:
                if events & selectors.EVENT_WRITE:
                    key.fileobj.send(REQUEST)
                    selector.modify(key.fileobj, selectors.EVENT_READ, key.data)
                    continue
                good = bool(key.fileobj.recv(SIZE))
            except OSError:
                good = False
            if good:
                times.append(clock() - key.data)
            failed += not good
            selector.unregister(key.fileobj)
            key.fileobj.close()
            failed += not begin()
    summary(times, failed, rate=round(len(times) / (clock() - began), 1), processor=processor() - spent)


def processor():
    """Processor time of this program so far, in seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def steady(address, port):
    """Asks until SIGTERM, and tells how many of the requests failed."""
    asked = failed = 0
    running = [True]
    signal.signal(signal.SIGTERM, lambda *_: running.clear())
    print("ready", flush=True)
    while running:
        asked += 1
        try:
            with socket.create_connection((address, port), timeout=PATIENCE) as connection:
                connection.sendall(REQUEST)
                failed += not connection.recv(SIZE)
        except OSError:
            failed += 1
    print(json.dumps({"asked": asked, "failed": failed}))


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    {"serve": serve, "ask": ask, "connect": connect, "steady": steady}[verb](
        rest[0], *[int(part) for part in rest[1:]])

"""A long conversation, as SSH is one: a server that echoes, and a caller that keeps asking and reports every gap.

    echo.py serve PORT                 echoes lines; writes "ready" when it listens (both families)
    echo.py hold ADDRESS PORT [MS]     sends a numbered line every MS (50) and waits for its echo; writes "ready" after the
                                       first, and on SIGTERM one JSON object: sent, received, longest_gap_ms, error
"""

import json
import selectors
import signal
import socket
import sys
import time


def serve(port):
    server = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    server.setblocking(False)
    selector = selectors.DefaultSelector()
    selector.register(server, selectors.EVENT_READ)
    print("ready", flush=True)
    while True:
        for key, _ in selector.select():
            if key.fileobj is server:
                connection, _ = server.accept()
                selector.register(connection, selectors.EVENT_READ)
                continue
            try:
                data = key.fileobj.recv(65536)
                if data:
                    key.fileobj.sendall(data)
                    continue
            except OSError:
                pass
            selector.unregister(key.fileobj)
            key.fileobj.close()


class Stop(Exception):
    """SIGTERM came."""


def hold(address, port, interval):
    sent = received = 0
    longest, error = 0.0, None

    def stop(*_):
        raise Stop

    signal.signal(signal.SIGTERM, stop)
    last = time.monotonic()
    try:
        connection = socket.create_connection((address, port), timeout=10)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = connection.makefile("rwb", buffering=0)
        last = time.monotonic()
        while True:
            stream.write(b"%d\n" % sent)
            sent += 1
            line = stream.readline()
            if line != b"%d\n" % received:
                error = f"line {received} came back as {line!r}"
                break
            received += 1
            now = time.monotonic()
            longest, last = max(longest, now - last), now
            if received == 1:
                print("ready", flush=True)
            time.sleep(interval)
    except Stop:
        longest = max(longest, time.monotonic() - last)
    except OSError as problem:
        error = str(problem)
    print(json.dumps({"sent": sent, "received": received, "longest_gap_ms": round(longest * 1000), "error": error}),
          flush=True)


if sys.argv[1] == "serve":
    serve(int(sys.argv[2]))
else:
    hold(sys.argv[2], int(sys.argv[3]), float(sys.argv[4] if len(sys.argv) > 4 else 50) / 1000)

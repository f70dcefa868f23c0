"""Connections opened before connect. One end on the user's machine, the other abroad; both keep them going.

    earlier.py hold 4=A 6=A      on the user's machine: opens one of each that `kept.py serve` takes abroad, to a quiet sink
                                 (7777, both transports) and a talkative one (7778), from a port of its own as well, writes
                                 "ready", then sends on all of them for ever
    earlier.py dam A             abroad: takes one connection (7780), reads nothing until a line comes on standard input, then
                                 writes how many bytes came and how it ended: "N end" or "N reset"
    earlier.py upload A          on the user's machine: writes to a dam until nothing more goes in, closes, writes the bytes
    earlier.py once              on the user's machine: takes one connection (4001), then waits for no other, and echoes
"""

import itertools
import socket
import sys
import time

QUIET, TALKATIVE, DAM = 7777, 7778, 7780
OWN, ONCE = 4000, 4001


def hold(targets):
    """Opens all, then sends on all."""
    opened = []
    for family, address in targets.items():
        kind = socket.AF_INET if family == "4" else socket.AF_INET6
        for port in (QUIET, TALKATIVE):
            for transport, own in itertools.product((socket.SOCK_STREAM, socket.SOCK_DGRAM), (0, OWN)):
                made = socket.socket(kind, transport)
                made.settimeout(5)
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                made.bind(("", own))
                made.connect((address, port))
                made.send(b"leak-before")
                made.setblocking(False)
                opened.append(made)
    print("ready", flush=True)
    while True:
        for made in opened:
            for action in (lambda: made.recv(65536), lambda: made.send(b"leak-before")):
                try:
                    action()
                except OSError:
                    pass
        time.sleep(0.01)


def family_of(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def dam(address):
    """Lets nothing through until it is told to."""
    listener = socket.create_server((address, DAM), family=family_of(address))
    print("ready", flush=True)
    taken, _ = listener.accept()
    sys.stdin.readline()
    count, end = 0, "end"
    try:
        while data := taken.recv(65536):
            count += len(data)
    except ConnectionResetError:
        end = "reset"
    print(count, end, flush=True)


def upload(address):
    """Leaves as much as goes to the kernel."""
    made, count = socket.socket(family_of(address)), 0
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    made.connect((address, DAM))
    # What has gone by then is what the other side has room for.
    made.settimeout(0.5)
    try:
        while True:
            count += made.send(bytes(65536))
    except TimeoutError:
        pass
    made.close()
    print(count)


def once():
    """As a server does that was stopped, but for the one it serves."""
    listener = socket.create_server(("", ONCE))
    print("ready", flush=True)
    taken, _ = listener.accept()
    listener.close()
    while data := taken.recv(65536):
        taken.sendall(data)


if sys.argv[1] == "dam":
    dam(sys.argv[2])
elif sys.argv[1] == "upload":
    upload(sys.argv[2])
elif sys.argv[1] == "once":
    once()
else:
    hold(dict(argument.split("=", 1) for argument in sys.argv[2:]))

"""Connections opened before connect. One end on the user's machine, the other abroad; both keep them going.

    earlier.py serve A4 A6       abroad: a quiet sink (7777, both transports) and a talkative one (7778), at these addresses
    earlier.py hold 4=A 6=A      on the user's machine: opens one of each, writes "ready", then sends on all of them for ever
"""

import selectors
import socket
import sys
import time

QUIET, TALKATIVE = 7777, 7778
TALK = b"from the far end "


def serve(*addresses):
    """Reads what comes; on the talkative port also talks, every 20 ms."""
    selector, streams, peers = selectors.DefaultSelector(), [], {}
    for port in (QUIET, TALKATIVE):
        listener = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
        listener.setblocking(False)
        selector.register(listener, selectors.EVENT_READ, ("listener", port))
        for address in addresses:
            # One for each, so that it answers from where it was asked.
            datagrams = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
            datagrams.bind((address, port))
            datagrams.setblocking(False)
            selector.register(datagrams, selectors.EVENT_READ, ("datagrams", port))
    print("ready", flush=True)
    while True:
        for key, _ in selector.select(0.02):
            what, port = key.data
            try:
                if what == "listener":
                    stream, _ = key.fileobj.accept()
                    stream.setblocking(False)
                    selector.register(stream, selectors.EVENT_READ, ("stream", port))
                    if port == TALKATIVE:
                        streams.append(stream)
                elif what == "datagrams":
                    _, peer = key.fileobj.recvfrom(2048)
                    if port == TALKATIVE:
                        peers[peer] = key.fileobj
                elif not key.fileobj.recv(65536):
                    raise ConnectionResetError
            except BlockingIOError:
                pass
            except OSError:
                if what == "stream":
                    selector.unregister(key.fileobj)
                    if key.fileobj in streams:
                        streams.remove(key.fileobj)
                    key.fileobj.close()
        for stream in list(streams):
            try:
                stream.send(TALK)
            except OSError:
                pass
        for peer, datagrams in list(peers.items())[-8:]:
            try:
                datagrams.sendto(TALK, peer)
            except OSError:
                pass


def hold(targets):
    """Opens all, then sends on all."""
    opened = []
    for family, address in targets.items():
        kind = socket.AF_INET if family == "4" else socket.AF_INET6
        for port in (QUIET, TALKATIVE):
            for transport in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                made = socket.socket(kind, transport)
                made.settimeout(5)
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


if sys.argv[1] == "serve":
    serve(*sys.argv[2:])
else:
    hold(dict(argument.split("=", 1) for argument in sys.argv[2:]))

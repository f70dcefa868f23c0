"""Connections that stay open. One end on the user's machine, the other abroad; both keep them going.

    kept.py serve A4 A6       abroad, at these addresses: a quiet sink (7777, both transports), a talkative one (7778), and one
                              that reads slowly (7779)
    kept.py hold 4=A 6=A      on the user's machine: opens one of each, writes "ready", then sends on all of them for ever. One
                              that has ended is opened again. To the slow sink go uploads whose program has closed the socket
                              with everything still to be sent, a new one each second.

`hold` answers lines on its standard input: "fresh" with "ready", when all have been closed and opened anew, however often that
takes; "told" with the times of its rounds since the last "told", in JSON.
"""

import errno
import json
import select
import selectors
import socket
import sys
import time

QUIET, TALKATIVE, SLOW = 7777, 7778, 7779
TALK = b"from the far end "
# What the slow sink reads at a time and how often, and what an upload leaves behind: it lasts for seconds.
SIP, SIP_EVERY, QUEUE = 2048, 0.02, 200_000


def serve(*addresses):
    """Reads what comes; on the talkative port also talks, every 20 ms."""
    selector, streams, slow, peers = selectors.DefaultSelector(), [], [], {}
    for port in (QUIET, TALKATIVE, SLOW):
        listener = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
        if port == SLOW:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * SIP)
        listener.setblocking(False)
        selector.register(listener, selectors.EVENT_READ, ("listener", port))
        for address in addresses if port != SLOW else ():
            # One for each, so that it answers from where it was asked.
            datagrams = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
            datagrams.bind((address, port))
            datagrams.setblocking(False)
            selector.register(datagrams, selectors.EVENT_READ, ("datagrams", port))
    print("ready", flush=True)
    talked = 0.0
    while True:
        for key, _ in selector.select(0.02):
            what, port = key.data
            try:
                if what == "listener":
                    stream, _ = key.fileobj.accept()
                    stream.setblocking(False)
                    if port == SLOW:
                        slow.append(stream)
                        continue
                    selector.register(stream, selectors.EVENT_READ, ("stream", port))
                    if port == TALKATIVE:
                        streams.append(stream)
                elif what == "datagrams":
                    _, peer = key.fileobj.recvfrom(2048)
                    if port == TALKATIVE:
                        peers.pop(peer, None)
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
        now = time.monotonic()
        if now - talked < SIP_EVERY:
            continue
        talked = now
        for stream in list(slow):
            try:
                if not stream.recv(SIP):
                    raise ConnectionResetError
            except BlockingIOError:
                pass
            except OSError:
                slow.remove(stream)
                stream.close()
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


# A datagram socket that was refused can go on, for a while; any other error has ended it.
REFUSED = (errno.ECONNREFUSED, errno.EPERM, errno.EACCES, errno.EAGAIN, errno.EHOSTUNREACH, errno.ENETUNREACH)


class Kept:
    """One of the connections: opened again when it has ended."""

    # Not faster than this is one opened again, and after so long without success.
    PATIENCE, GIVE_UP = 0.1, 0.5

    def __init__(self, address, port, transport):
        self.to, self.transport, self.socket, self.tried = (address, port), transport, None, 0.0
        self.family = socket.AF_INET6 if ":" in address else socket.AF_INET

    def open(self, wait=0.0):
        """Opens it, within `wait` seconds or by and by."""
        self.close()
        self.tried = self.worked = time.monotonic()
        self.socket = socket.socket(self.family, self.transport)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, QUEUE)
        self.socket.settimeout(wait)
        try:
            self.socket.connect(self.to)
        except BlockingIOError:
            pass  # on its way
        self.socket.setblocking(False)
        if wait:
            self.send()

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None

    def send(self):
        """Says something, and hears what there is."""
        self.socket.send(b"leak-kept")
        self.worked = time.monotonic()
        try:
            if not self.socket.recv(65536) and self.transport == socket.SOCK_STREAM:
                raise ConnectionResetError
        except BlockingIOError:
            pass

    def round(self):
        """Goes on with it, or opens it again."""
        try:
            if self.socket is None:
                if time.monotonic() - self.tried >= self.PATIENCE:
                    self.open()
                return
            self.send()
        except OSError as problem:
            waits = problem.errno == errno.EAGAIN
            goes_on = self.transport == socket.SOCK_DGRAM and problem.errno in REFUSED
            if not waits and not (goes_on and time.monotonic() - self.worked < self.GIVE_UP):
                self.close()


class Upload(Kept):
    """Fills the socket and closes it; what is left to send is the kernel's to deliver. Then there is another one."""

    PATIENCE = 1.0

    def open(self, wait=0.0):
        self.left = QUEUE
        super().open(wait)

    def send(self):
        """As much as the kernel takes, then nothing more."""
        while self.left > 0:
            try:
                self.left -= self.socket.send(b"leak-kept" * 400)
            except BlockingIOError:
                if self.left == QUEUE:
                    return  # not connected yet
                break
        self.close()


def open_all(kept):
    """Opens all anew. One that is refused is tried again: the tunnel before may not be gone yet."""
    for each in kept:
        patience = time.monotonic() + 60
        while True:
            try:
                each.open(5)
                break
            except OSError:
                if time.monotonic() > patience:
                    raise
                time.sleep(Kept.PATIENCE)


def hold(targets):
    """Opens all, then sends on all."""
    kept = [Kept(address, port, transport) for address in targets.values() for port in (QUIET, TALKATIVE)
            for transport in (socket.SOCK_STREAM, socket.SOCK_DGRAM)]
    kept += [Upload(address, SLOW, socket.SOCK_STREAM) for address in targets.values()]
    open_all(kept)
    print("ready", flush=True)
    listening, rounds = [sys.stdin], []
    while True:
        if select.select(listening, [], [], 0.01)[0]:
            word = sys.stdin.readline()
            listening = [sys.stdin] if word else []
            if word == "fresh\n":
                open_all(kept)
                print("ready", flush=True)
            elif word == "told\n":
                print(json.dumps(rounds), flush=True)
                rounds = []
        for each in kept:
            each.round()
        rounds.append(round(time.time(), 4))


if sys.argv[1] == "serve":
    serve(*sys.argv[2:])
else:
    hold(dict(argument.split("=", 1) for argument in sys.argv[2:]))

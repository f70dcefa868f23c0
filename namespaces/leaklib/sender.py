"""The program that keeps sending, on the user's machine, as every origin at once; started as root, each origin a process.

    sender.py SPEC       SPEC is JSON: {"device", "address4", "address6", "interval_ms", "origins": {NAME: {"uid", "probes"}}}

It writes "ready", then for every line it reads one line of JSON: {ORIGIN: {"rounds": N, "gap_ms": N}} since the last one.
"""

import ctypes
import json
import mmap
import os
import select
import signal
import socket
import struct
import sys
import time

FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}


def question(origin):
    """A DNS query for ORIGIN.leak.example.com, which names its sender on the wire."""
    name = b"".join(bytes([len(part)]) + part.encode() for part in ("leak-" + origin, "leak", "example", "com")) + b"\0"
    return struct.pack("!6H", os.getpid() & 0xFFFF, 0x0100, 1, 0, 0, 0) + name + struct.pack("!2H", 1, 1)


def echo(family, origin):
    """An ICMP echo request; the kernel fills in checksum and identifier."""
    return struct.pack("!BBHHH", 8 if family == 4 else 128, 0, 0, 0, 1) + b"leak-" + origin.encode()


class Probe:
    """One destination, tried again and again."""

    def __init__(self, spec, origin, bind, device):
        _, self.transport, self.port, self.family, self.address = spec
        self.bind, self.device = bind, device
        self.payload = question(origin) if self.port == 53 else b"leak-" + origin.encode()
        scope = socket.if_nametoindex(device or "eth0") if self.address.startswith("fe80") else 0
        self.to = (self.address, self.port) if self.family == 4 else (self.address, self.port, 0, scope)
        self.socket = None
        if self.transport == "icmp":
            self.payload = echo(self.family, origin)

    def made(self, kind, protocol=0):
        """A socket, bound as the origin wants it."""
        opened = socket.socket(FAMILIES[self.family], kind | socket.SOCK_NONBLOCK, protocol)
        try:
            if self.device:
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, self.device.encode())
            if self.bind and not self.address.startswith("fe80"):
                opened.bind((self.bind[self.family], 0))
        except OSError:
            opened.close()
            raise
        return opened

    def send(self):
        """Tries once; what the kernel says about it does not matter here."""
        try:
            if self.transport == "tcp":
                attempt = self.made(socket.SOCK_STREAM)
                # No lingering: a socket that is closed takes its place in no table.
                attempt.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                attempt.connect_ex(self.to)
                attempt.close()
                return
            if self.socket is None:
                self.socket = self.made(socket.SOCK_DGRAM, {"udp": 0}.get(
                    self.transport, socket.IPPROTO_ICMP if self.family == 4 else socket.IPPROTO_ICMPV6))
            self.socket.sendto(self.payload, self.to)
        except OSError:
            # An address that is away for a while must not end the probing.
            if self.socket is not None and self.bind:
                self.socket.close()
                self.socket = None


def live(spec, origin, counters):
    """One origin's life."""
    own = spec["origins"][origin]
    os.setgroups([])
    os.setresgid(own["uid"], own["uid"], own["uid"])
    os.setresuid(own["uid"], own["uid"], own["uid"])
    # After the change of user, for the kernel forgets it then.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
    bind = {4: spec["address4"], 6: spec["address6"]} if origin == "address" else None
    device = spec["device"] if origin == "device" else None
    probes = [Probe(probe, origin, bind, device) for probe in own["probes"]]
    # The engine answers every question; asked by everybody at full speed it would do nothing else.
    questions = [probe for probe in probes if probe.port == 53 and probe.transport == "udp"]
    others = [probe for probe in probes if probe not in questions]
    interval, last = spec["interval_ms"] / 1000, time.monotonic()
    while True:
        for probe in others:
            probe.send()
        questions[counters[0] % len(questions)].send()
        now = time.monotonic()
        counters[0] += 1
        counters[1] = max(counters[1], int((now - last) * 1e6))
        time.sleep(max(0.0, interval - (now - last)))
        last = now


def main():
    spec = json.loads(sys.argv[1])
    shared = mmap.mmap(-1, 4096)
    counters = {}
    for place, origin in enumerate(spec["origins"]):
        counters[origin] = memoryview(shared)[place * 16:place * 16 + 16].cast("Q")
        if os.fork() == 0:
            try:
                live(spec, origin, counters[origin])
            finally:
                os._exit(1)
    print("ready", flush=True)
    while select.select([sys.stdin], [], [])[0] and sys.stdin.readline():
        told = {}
        for origin, pair in counters.items():
            told[origin] = {"rounds": pair[0], "gap_ms": round(pair[1] / 1000, 1)}
            pair[0] = pair[1] = 0
        print(json.dumps(told), flush=True)


main()

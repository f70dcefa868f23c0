"""The program that keeps sending, on the user's machine, as every origin at once; started as root, each origin a process.

    sender.py SPEC       SPEC is JSON: {"device", "addresses4", "addresses6", "interval_ms", "origins": {NAME: {"uid", "probes"}}}

It writes "ready", then for every line it reads one line of JSON: {ORIGIN: {"times": [when each round ended], "turns": N}} since
the last one. In a round every probe is sent, but for those that take turns: each of them at least once in any N rounds.
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

# So many questions are sent in a round.
AT_A_TIME = 4
FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}


def question(origin):
    """A DNS query for ORIGIN.leak.example.com, which names its sender on the wire."""
    name = b"".join(bytes([len(part)]) + part.encode() for part in ("leak-" + origin, "leak", "example", "com")) + b"\0"
    return struct.pack("!6H", os.getpid() & 0xFFFF, 0x0100, 1, 0, 0, 0) + name + struct.pack("!2H", 1, 1)


def echo(family, origin):
    """An ICMP echo request; the kernel fills in checksum and identifier."""
    return struct.pack("!BBHHH", 8 if family == 4 else 128, 0, 0, 0, 1) + b"leak-" + origin.encode()


def bind_to_any(opened, addresses):
    """Binds a socket to the first of these addresses that the machine has."""
    for address in addresses:
        try:
            return opened.bind((address, 0))
        except OSError as problem:
            if address == addresses[-1]:
                raise problem


def takes_turns(probe):
    """Questions do. The engine answers every one; asked by everybody at full speed it would do nothing else."""
    return probe[2] in (53, 853)


class Probe:
    """One destination, tried again and again."""

    def __init__(self, spec, origin, bind, device):
        _, self.transport, self.port, self.family, self.address = spec
        self.takes_turns = takes_turns(spec)
        self.bind, self.device = bind, device
        self.payload = question(origin) if self.port == 53 else b"leak-" + origin.encode()
        self.socket = None
        if self.transport == "icmp":
            self.payload = echo(self.family, origin)

    def to(self):
        """The destination; a link may have another number each time."""
        if self.family == 4:
            return self.address, self.port
        scope = socket.if_nametoindex(self.device or "eth0") if self.address.startswith("fe80") else 0
        return self.address, self.port, 0, scope

    def made(self, kind, protocol=0):
        """A socket, bound as the origin wants it."""
        opened = socket.socket(FAMILIES[self.family], kind | socket.SOCK_NONBLOCK, protocol)
        try:
            if self.device:
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, self.device.encode())
            if self.bind and not self.address.startswith("fe80"):
                bind_to_any(opened, self.bind[self.family])
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
                attempt.connect_ex(self.to())
                attempt.close()
                return
            if self.socket is None:
                self.socket = self.made(socket.SOCK_DGRAM, {"udp": 0}.get(
                    self.transport, socket.IPPROTO_ICMP if self.family == 4 else socket.IPPROTO_ICMPV6))
            self.socket.sendto(self.payload, self.to())
        except OSError:
            # An address or a link that is away for a while must not end the probing.
            if self.socket is not None:
                self.socket.close()
                self.socket = None


def live(spec, origin, times):
    """One origin's life."""
    own = spec["origins"][origin]
    os.setgroups([])
    os.setresgid(own["uid"], own["uid"], own["uid"])
    os.setresuid(own["uid"], own["uid"], own["uid"])
    # After the change of user, for the kernel forgets it then.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
    bind = {4: spec["addresses4"], 6: spec["addresses6"]} if origin == "address" else None
    device = spec["device"] if origin == "device" else None
    probes = [Probe(probe, origin, bind, device) for probe in own["probes"]]
    questions, others = [[p for p in probes if p.takes_turns == wanted] for wanted in (True, False)]
    interval, last, number = spec["interval_ms"] / 1000, time.monotonic(), 0
    while True:
        for probe in others:
            probe.send()
        for turn in range(AT_A_TIME):
            questions[(number * AT_A_TIME + turn) % len(questions)].send()
        number += 1
        times[number % (len(times) - 1) + 1] = time.time()
        times[0] = number
        now = time.monotonic()
        time.sleep(max(0.0, interval - (now - last)))
        last = time.monotonic()


def main():
    spec = json.loads(sys.argv[1])
    shared = {}
    for origin in spec["origins"]:
        # How many rounds there were, then when each of the latest ended.
        shared[origin] = memoryview(mmap.mmap(-1, 8 << 14)).cast("d")
        if os.fork() == 0:
            try:
                live(spec, origin, shared[origin])
            finally:
                os._exit(1)
    print("ready", flush=True)
    seen = dict.fromkeys(shared, 0)
    while select.select([sys.stdin], [], [])[0] and sys.stdin.readline():
        told = {}
        for origin, times in shared.items():
            until = int(times[0])
            told[origin] = {"times": [round(times[n % (len(times) - 1) + 1], 4) for n in range(seen[origin] + 1, until + 1)],
                            "turns": -(-sum(takes_turns(probe) for probe in spec["origins"][origin]["probes"]) // AT_A_TIME)}
            seen[origin] = until
        print(json.dumps(told), flush=True)


main()

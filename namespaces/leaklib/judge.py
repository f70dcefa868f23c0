"""Reads what the router saw and says whose packets they were. Nothing is judged while it happens, so nothing is missed."""

import socket
import struct
from collections import Counter

from lablib import plan

from . import kinds

MAC = bytes.fromhex(plan.CLIENT_MAC.replace(":", ""))
BEFORE_PORTS = {7777: "quiet", 7778: "talkative"}


def packets(path):
    """(time, frame) of every packet of a pcap file (little-endian, microseconds or nanoseconds), a torn end left out."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < 24:
        return
    magic = struct.unpack_from("<I", data)[0]
    scale = {0xA1B2C3D4: 1e-6, 0xA1B23C4D: 1e-9}[magic]
    at = 24
    while at + 16 <= len(data):
        seconds, fraction, length, _ = struct.unpack_from("<4I", data, at)
        if at + 16 + length > len(data):
            return
        yield seconds + fraction * scale, data[at + 16:at + 16 + length]
        at += 16 + length


def transport(frame):
    """(family, source, destination, protocol, what follows the IP header) of an Ethernet frame; None for what is not IP."""
    kind = struct.unpack_from("!H", frame, 12)[0]
    if kind == 0x0800 and len(frame) >= 34:
        header = (frame[14] & 15) * 4
        return 4, frame[26:30], frame[30:34], frame[23], frame[14 + header:]
    if kind == 0x86DD and len(frame) >= 54:
        following, at = frame[20], 54
        while following in (0, 43, 60) and at + 8 <= len(frame):
            following, at = frame[at], at + 8 + frame[at + 1] * 8
        return 6, frame[22:38], frame[38:54], following, frame[at:]
    return None


def packed(text):
    """An address as bytes."""
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)


OWN = {packed(kinds.address(origin, name, family)): (origin, name, family)
       for origin in kinds.ORIGINS for name, _, _ in kinds.KINDS for family in (4, 6)}
RESOLVERS = {packed(plan.ROUTER4): ("router", 4), packed(plan.ROUTER6): ("router", 6), packed(kinds.LINK_LOCAL): ("fe80", 6)}
ORIGIN_MARKS = {f"leak-{origin}".encode(): origin for origin in kinds.ORIGINS}
# Whose packets need no explanation: the lines' servers, and the neighbourhood.
KNOWN4 = ("198.51.100.", "203.0.113.", "192.168.77.", "224.", "255.255.255.255", "239.", "10.", "172.")
KNOWN6 = ("2001:db8:2:", "2001:db8:1:", "fd", "fe80:", "ff")


class Sight:
    """What one capture saw: `cells` counts packets by (origin, name, family), `times` has when, `others` the rest."""

    def __init__(self, paths, since=0.0, until=float("inf"), resolvers=()):
        self.cells, self.before, self.others, self.times = Counter(), Counter(), Counter(), {}
        self.total = 0
        allowed = {packed(address) for address in resolvers}
        for path in paths:
            for when, frame in packets(path):
                if since <= when < until and frame[6:12] != b"":
                    self.take(when, frame, allowed)

    def take(self, when, frame, allowed):
        """Counts one packet of the user's machine."""
        found = transport(frame)
        if not found:
            return
        family, source, destination, protocol, rest = found
        if frame[6:12] != MAC and not self.from_second_uplink(frame):
            return
        self.total += 1
        cell = OWN.get(destination)
        ports = struct.unpack_from("!HH", rest) if protocol in (6, 17) and len(rest) >= 4 else (0, 0)
        if cell:
            self.count(cell, when)
        elif destination in RESOLVERS and protocol in (6, 17) and ports[1] in (53, 853):
            where, family = RESOLVERS[destination]
            name = f"{where} {'DoT' if ports[1] == 853 else 'DNS/TCP' if protocol == 6 else 'DNS'}"
            marks = [origin for mark, origin in ORIGIN_MARKS.items() if mark in rest]
            self.count((marks[0] if marks else "any", name, family), when)
        elif protocol in (6, 17) and ports[1] in BEFORE_PORTS:
            label = ("TCP" if protocol == 6 else "UDP") + " " + BEFORE_PORTS[ports[1]]
            self.before[label, family] += 1
            self.times.setdefault(("before", label, family), []).append(when)
        elif destination not in allowed:
            text = socket.inet_ntop(socket.AF_INET if family == 4 else socket.AF_INET6, destination)
            answers = protocol in (1, 58) or (protocol == 6 and ports[0] == plan.SSH_PORT)
            if not text.startswith(KNOWN4 if family == 4 else KNOWN6) and not answers:
                self.others[f"{text} {({6: 'tcp', 17: 'udp'}.get(protocol, protocol))}/{ports[1]}"] += 1

    @staticmethod
    def from_second_uplink(frame):
        """True for a frame on the wire between the user's machine and its neighbour, in that direction."""
        found = transport(frame)
        return bool(found) and found[1] in (packed(plan.LAN_CLIENT4), packed(plan.LAN_CLIENT6))

    def count(self, cell, when):
        self.cells[cell] += 1
        self.times.setdefault(cell, []).append(when)

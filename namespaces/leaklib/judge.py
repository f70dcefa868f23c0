"""Reads what the router saw and says whose packets they were. Nothing is judged while it happens, so nothing is missed."""

import socket
import struct
from collections import Counter

from lablib import plan

from . import kinds

# What the bench has the machine write into the DSCP of every packet of a program that is not the engine.
MARK = 0x2A
# "Nobody listens there" and "forwarded too often", by the protocol's number.
ICMP_ERRORS = {1: (3, 11), 58: (1, 3)}
# Router and neighbour solicitation and advertisement, multicast listener reports.
NEIGHBOUR_TALK = (131, 132, 133, 135, 136, 143)


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


def mac(text):
    """A hardware address as bytes."""
    return bytes.fromhex(text.replace(":", ""))


def dscp(frame, family):
    """The six bits in which the bench marks what is not the engine's."""
    return frame[15] >> 2 if family == 4 else (frame[14] & 15) << 2 | frame[15] >> 6


OWN = {packed(kinds.address(origin, name, family)): (origin, name, family)
       for origin in kinds.ORIGINS for name, _, _ in kinds.KINDS + kinds.DOMESTIC for family in (4, 6)}
RESOLVERS = {packed(plan.ROUTER4): ("router", 4), packed(plan.ROUTER6): ("router", 6), packed(kinds.LINK_LOCAL): ("fe80", 6)}
ORIGIN_MARKS = {f"leak-{origin}".encode(): origin for origin in kinds.ORIGINS}
FORMER = {packed(address) for address in (plan.CLIENT4, plan.CLIENT6, kinds.OTHER4, kinds.OTHER6)}
# Where the engine has business of its own: the lines' servers, and the domestic resolvers.
ENGINES = {packed(address) for address in plan.HOME4 + plan.HOME6} | {
    packed(pattern.format(number)) for pattern in (plan.ABROAD4, plan.ABROAD6) for number in (*range(11, 20), 90, 91)}


class Sight:
    """What was seen in a window: `cells` counts packets by (origin, name, family), `times` has when, `before` counts those of
    connections that are kept open, `others` is what nobody has an explanation for, `seen_flags` has the flags of TCP by cell."""

    def __init__(self, is_carried=False):
        self.cells, self.before, self.others, self.times = Counter(), Counter(), Counter(), {}
        self.flags, self.seen_flags = "", {}
        # Whether another client on the machine carries what the engine sends.
        self.is_carried = is_carried

    def take(self, when, frame, own):
        """Counts one packet, if it comes from the machine: `own` is its hardware address on that wire."""
        if frame[6:12] != own:
            return
        found = transport(frame)
        if not found:
            return
        family, _, destination, protocol, rest = found
        is_marked = dscp(frame, family) == MARK
        self.flags = "".join(letter for bit, letter in enumerate("FSRPA") if rest[13] & 1 << bit) if protocol == 6 and len(
            rest) > 13 else ""
        if self.flags == "R" or "R" in self.flags and not is_marked:
            return  # the answer to what came in, or of no socket: the end of a connection that was reset
        cell = OWN.get(destination)
        ports = struct.unpack_from("!HH", rest) if protocol in (6, 17) and len(rest) >= 4 else (0, 0)
        if cell:
            if cell[1].startswith("CN") and not is_marked:
                # A question by TLS or QUIC which the engine passes on is its own by then, like anything else domestic.
                cell = (cell[0], kinds.BY_ENGINE, family)
            self.count(cell, when)
        elif destination in RESOLVERS and protocol in (6, 17) and ports[1] in (53, 853):
            where, family = RESOLVERS[destination]
            name = f"{where} " + ({53: "DNS", 853: "DoQ"} if protocol == 17 else {53: "DNS/TCP", 853: "DoT"})[ports[1]]
            marks = [origin for mark, origin in ORIGIN_MARKS.items() if mark in rest]
            self.count((marks[0] if marks else "any", name, family), when)
        elif protocol in (6, 17) and ports[1] in kinds.KEPT:
            label = ("TCP" if protocol == 6 else "UDP") + " " + kinds.KEPT[ports[1]]
            self.before[label, family] += 1
            self.times.setdefault(("before", label, family), []).append(when)
        elif not self.is_explained(destination, protocol, ports, rest, is_marked):
            text = socket.inet_ntop(socket.AF_INET if family == 4 else socket.AF_INET6, destination)
            what = f"type {rest[0]}" if protocol in (1, 58) and rest else ports[1]
            self.others[f"{text} {({1: 'icmp', 6: 'tcp', 17: 'udp', 58: 'icmp'}.get(protocol, protocol))}/{what}"
                        f"{' (not the engine)' if is_marked else ''}"] += 1

    def is_explained(self, destination, protocol, ports, rest, is_marked):
        """True for what may be sent at any time: the engine's own, the answer to who came in, and what keeps a link going."""
        if destination in ENGINES and (self.is_carried or not is_marked):
            return True
        # Replies to the other client's own TUN, when that is gone: private destinations stay on the line.
        if destination[:4] == packed("fdfe:dcba::")[:4] or destination[:3] == packed("172.19.0.0")[:3] and len(destination) == 4:
            return True
        # What comes in for an address the machine had is forwarded, as it forwards for its container.
        if destination in FORMER and not is_marked:
            return True
        if protocol == 58 and rest and rest[0] in NEIGHBOUR_TALK:
            return True
        # To whom it says so knows already where we are. Other answers (echo) are nobody's here.
        if protocol in ICMP_ERRORS and rest and rest[0] in ICMP_ERRORS[protocol]:
            return quoted_source(rest, protocol) == destination
        return protocol == 6 and ports[0] == plan.SSH_PORT

    def count(self, cell, when):
        self.cells[cell] += 1
        if self.flags:
            self.seen_flags.setdefault(cell, set()).add(self.flags)
        self.times.setdefault(cell, []).append(when)


def quoted_source(rest, protocol):
    """Whose packet an ICMP error is about."""
    return rest[20:24] if protocol == 1 else rest[16:32]

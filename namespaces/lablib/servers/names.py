"""A small DNS server: UDP, TCP, TLS (DoT), and the answers for HTTPS (DoH), with a domestic or a foreign view."""

import asyncio
import struct

from .. import plan

A, TXT, AAAA = 1, 16, 28
LINE_HOSTS = ("hk", "jp", "sg", "us", "tw", "kr", "uk", "de")


def below(name, patterns):
    """True when `name` is one of the patterns; a leading dot stands for the name itself and all below it."""
    return any(name == p.lstrip(".") or (p.startswith(".") and name.endswith(p)) for p in patterns)


def addresses(name, view):
    """The IPv4 and IPv6 address of a name as seen at home or abroad; None when there is no such name."""
    if name == plan.SUB_NAME:
        return plan.SUB4, plan.SUB6
    if name == plan.SELF_SIGNED_NAME:
        return plan.SELF_SIGNED4, None
    if name.endswith("." + plan.LINE_DOMAIN) and name.split(".")[0] in LINE_HOSTS:
        return plan.ABROAD4.format(11 + LINE_HOSTS.index(name.split(".")[0])), None
    if name in plan.DOMESTIC_RESOLVER_NAMES:
        return plan.DOMESTIC_RESOLVER_NAMES[name]
    if below(name, plan.DOMESTIC_NAMES):
        return (plan.CN4, plan.CN6) if view == "home" else (plan.OVERSEAS4, plan.OVERSEAS6)
    if name in plan.RESOLVER_NAMES:
        return plan.RESOLVER_NAMES[name] if view != "home" else (plan.POISON4, plan.POISON6)
    if below(name, plan.FOREIGN_NAMES):
        return (plan.WEB4, plan.WEB6) if view != "home" else (plan.POISON4, plan.POISON6)
    return None


def parse_question(message):
    """Reads (id, flags, name, type, offset behind the question) or raises ValueError."""
    if len(message) < 17:
        raise ValueError("too short")
    number, flags, count = struct.unpack_from("!HHH", message)
    if count != 1 or flags & 0x8000:
        raise ValueError("not one question")
    labels, at = [], 12
    while (size := message[at]) != 0:
        if size > 63:
            raise ValueError("bad label")
        labels.append(message[at + 1 : at + 1 + size].decode("ascii").lower())
        at += 1 + size
    kind, _ = struct.unpack_from("!HH", message, at + 1)
    return number, flags, ".".join(labels), kind, at + 5


def pack_address(text):
    """An address as it stands in an A or AAAA record."""
    import ipaddress

    return ipaddress.ip_address(text).packed


class NameServer:
    """Answers questions and records each one, so that a test can see who was asked what by whom, and how."""

    def __init__(self, view, record):
        self.view, self.record = view, record

    def answer(self, message, transport, source, destination):
        """The reply to one message, or None for what is no question. `whoami.*` answers the asker's own address."""
        try:
            number, flags, name, kind, end = parse_question(message)
        except (ValueError, IndexError, UnicodeDecodeError, struct.error):
            return None
        known = addresses(name, self.view)
        data, code = [], 0
        if name.startswith("whoami."):
            if kind == TXT:
                data.append(bytes([len(source)]) + source.encode())
            elif kind in (A, AAAA) and (":" in source) == (kind == AAAA):
                data.append(pack_address(source))
        elif known is None:
            code = 3
        elif kind == A and known[0]:
            data.append(pack_address(known[0]))
        elif kind == AAAA and known[1]:
            data.append(pack_address(known[1]))
        self.record({"dns": name, "type": kind, "via": transport, "from": source, "to": destination,
                     "answered": len(data), "code": code})
        header = struct.pack("!HHHHHH", number, 0x8180 | (flags & 0x0100) | code, 1, len(data), 0, 0)
        records = b"".join(struct.pack("!HHHIH", 0xC00C, kind, 1, 30, len(d)) + d for d in data)
        return header + message[12:end] + records

    async def serve_stream(self, reader, writer, transport):
        """DNS over TCP or TLS: messages with a two-byte length in front."""
        source = writer.get_extra_info("peername")[0]
        destination = writer.get_extra_info("sockname")[0]
        try:
            while True:
                (size,) = struct.unpack("!H", await asyncio.wait_for(reader.readexactly(2), 30))
                reply = self.answer(await reader.readexactly(size), transport, plain(source), plain(destination))
                if reply is None:
                    break
                writer.write(struct.pack("!H", len(reply)) + reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.TimeoutError, ConnectionError, OSError):
            pass
        finally:
            writer.close()


class Datagrams(asyncio.DatagramProtocol):
    """DNS over UDP on one address; a socket an address, so that the answer leaves from where it was asked."""

    def __init__(self, server, destination):
        self.server, self.destination, self.transport = server, destination, None

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        reply = self.server.answer(data, "udp", addr[0].split("%")[0], self.destination)
        if reply is not None:
            self.transport.sendto(reply, addr)


class Mirror(asyncio.DatagramProtocol):
    """Answers every datagram with the address it came from, as text, and records it."""

    def __init__(self, record, destination, port):
        self.record, self.destination, self.port, self.transport = record, destination, port, None

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        self.record({"udp": self.port, "from": addr[0], "to": self.destination, "bytes": len(data)})
        self.transport.sendto(addr[0].encode(), addr)


def plain(address):
    """An IPv4 address out of a dual-stack socket without its ::ffff: prefix."""
    return address.removeprefix("::ffff:").split("%")[0]

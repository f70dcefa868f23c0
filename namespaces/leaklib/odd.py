"""Every odd way to send a packet: odd.py UID DEVICE ADDRESS4 ADDRESS6. Each way has destinations of its own, 20.0.99.N and
2a00:1450::99:N (hexadecimal), so that the wire tells which one got out. Prints {N: name} of the ways this kernel knows."""

import json
import os
import socket
import struct
import sys

UID, DEVICE, ADDRESS4, ADDRESS6 = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
INDEX = socket.if_nametoindex(DEVICE)
FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}
MPTCP, UDPLITE, SCTP = 262, 136, 132
IP_PKTINFO = 8
IP_UNICAST_IF, IPV6_UNICAST_IF, IP_FREEBIND, IPV6_FREEBIND, MSG_FASTOPEN = 50, 76, 15, 78, 0x20000000


def made(family, kind=socket.SOCK_DGRAM, protocol=0, device=False, address=False):
    """A socket of a family, bound or not."""
    opened = socket.socket(FAMILIES[family], kind | socket.SOCK_NONBLOCK, protocol)
    if device:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, DEVICE.encode())
    if address:
        opened.bind((ADDRESS4 if family == 4 else ADDRESS6, 0))
    return opened


def control(family, index, source):
    """IP_PKTINFO or IPV6_PKTINFO with a link, a source address, or both."""
    if family == 4:
        return [(socket.IPPROTO_IP, IP_PKTINFO, struct.pack("i4s4x", index, socket.inet_aton(ADDRESS4) if source else b""))]
    packed = socket.inet_pton(socket.AF_INET6, ADDRESS6) if source else bytes(16)
    return [(socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, packed + struct.pack("i", index))]


def by_pktinfo(index, source):
    return lambda family, to: made(family).sendmsg([b"odd"], control(family, index, source), 0, to)


def without_route(family, to):
    made(family).sendto(b"odd", socket.MSG_DONTROUTE, to)


def without_route_bound(family, to):
    made(family, device=True).sendto(b"odd", socket.MSG_DONTROUTE, to)


def by_unicast_link(family, to):
    opened = made(family)
    if family == 4:
        opened.setsockopt(socket.IPPROTO_IP, IP_UNICAST_IF, struct.pack("!I", INDEX))
    else:
        opened.setsockopt(socket.IPPROTO_IPV6, IPV6_UNICAST_IF, struct.pack("!I", INDEX))
    opened.sendto(b"odd", to)


def mapped(**bound):
    """IPv4 out of an IPv6 socket."""
    def send(family, to):
        opened = made(6, **bound)
        if family == 6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        opened.sendto(b"odd", (f"::ffff:{to[0]}", to[1]) if family == 4 else to)
    return send


def foreign_source(family, to):
    """From an address this machine does not have."""
    opened = made(family)
    if family == 4:
        opened.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
    else:
        opened.setsockopt(socket.IPPROTO_IPV6, IPV6_FREEBIND, 1)
    opened.bind(("203.0.113.77" if family == 4 else "2001:db8:1::77", 0))
    opened.sendto(b"odd", to)


def in_pieces(family, to):
    made(family, device=True).sendto(b"odd" * 1500, to)


def great_ping(family, to):
    protocol = socket.IPPROTO_ICMP if family == 4 else socket.IPPROTO_ICMPV6
    made(family, protocol=protocol, device=True).sendto(struct.pack("!BBHHH", 8 if family == 4 else 128, 0, 0, 0, 1) + b"o" * 4000, to)


def connecting(protocol, **bound):
    return lambda family, to: made(family, socket.SOCK_STREAM, protocol, **bound).connect_ex(to)


def fast_open(family, to):
    made(family, socket.SOCK_STREAM, device=True).sendto(b"odd", MSG_FASTOPEN, to)


def lite(family, to):
    made(family, protocol=UDPLITE, address=True).sendto(b"odd", to)


def raw(number, **bound):
    """Any protocol, as root may."""
    return lambda family, to: made(family, socket.SOCK_RAW, number, **bound).sendto(b"odd" * 20, (to[0], 0))


def marked(mark):
    """With another VPN's mark."""
    def send(family, to):
        opened = made(family)
        opened.setsockopt(socket.SOL_SOCKET, 36, struct.pack("I", mark))
        opened.sendto(b"odd", to)
    return send


def dhcp_like(source, target):
    """As a lease is asked for, but for a server abroad."""
    def send(family, to):
        opened = made(family)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(("" if family == 4 else "::", source))
        opened.sendto(b"odd", (to[0], target))
    return send


USERS = {
    "pktinfo: link": by_pktinfo(INDEX, False), "pktinfo: source": by_pktinfo(0, True), "pktinfo: both": by_pktinfo(INDEX, True),
    "dontroute": without_route, "dontroute, bound to the device": without_route_bound, "unicast link": by_unicast_link,
    "mapped": mapped(), "mapped, bound to the device": mapped(device=True), "a source that is not ours": foreign_source,
    "in pieces, bound to the device": in_pieces, "a great ping, bound to the device": great_ping,
    "MPTCP, bound to the address": connecting(MPTCP, address=True), "MPTCP, bound to the device": connecting(MPTCP, device=True),
    "SCTP, bound to the address": connecting(SCTP, address=True), "fast open, bound to the device": fast_open,
    "UDP-Lite, bound to the address": lite, "TCP, bound to the address": connecting(0, address=True),
}
ROOTS = {
    **{f"raw protocol {number}{', bound to the device' if device else ''}": raw(number, device=device)
       for number in (1, 2, 4, 17, 41, 47, 50, 89, 132, 253) for device in (False, True)},
    "wg-quick's mark": marked(51820), "another mark": marked(0x1234), "a mark of all bits": marked(0xFFFFFFFF),
    "NTP's port": dhcp_like(123, 123), "from DHCP's port to another": dhcp_like(68, 9),
}

if UID:
    os.setgroups([])
    os.setresgid(UID, UID, UID)
    os.setresuid(UID, UID, UID)
told = {}
for number, (name, way) in enumerate((USERS if UID else ROOTS).items(), 1 if UID else 101):
    for family in (4, 6):
        to = (f"20.0.99.{number}" if family == 4 else f"2a00:1450::99:{number:x}", 443)
        for _ in range(3):
            try:
                way(family, to)
            except OSError as problem:
                told[f"{number} IPv{family}"] = f"{name}: {problem}"
                continue
            told.setdefault(f"{number} IPv{family}", name)
print(json.dumps(told))

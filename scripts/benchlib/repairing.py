"""What others remove of the tunnel, and how long it is away, as the kernel tells everybody; runs as root on the user's machine.

    repairing.py      prints one line of JSON: removed {WHAT: milliseconds or null}, domestic (milliseconds or null)

From the kernel's word that it has gone to its word that it is back for good: whoever flushes a table comes back for what was
put back meanwhile.
"""

import ctypes
import json
import select
import socket
import struct
import subprocess
import time

LINK, TABLES = "trocket0", (7100, 7101)
# The rule that takes everything else into the tunnel. IPv6 has another for what has the tunnel's own address.
RULES = {socket.AF_INET: 7130, socket.AF_INET6: 7132}
FAMILIES = {socket.AF_INET: "IPv4", socket.AF_INET6: "IPv6"}


def cases():
    """(what, the command that removes it, what is gone then, what has to be back) of everything that is removed."""
    for family, name in FAMILIES.items():
        ip = ["ip", "-4" if family == socket.AF_INET else "-6"]
        yield f"{name} rule", [*ip, "rule", "delete", "priority", str(RULES[family])], f"rule {family}", {f"rule {family}"}
        for table in TABLES:
            route = f"default {family} {table}"
            yield f"{name} route of table {table}", [*ip, "route", "delete", "default", "table", str(table)], route, {route}
            yield f"{name} table {table}", [*ip, "route", "flush", "table", str(table)], route, {route}
    yield "link", ["ip", "link", "delete", LINK], "link", {f"default {family} {table}" for family in FAMILIES for table in TABLES}


# So long without a word, in seconds, and it is over: more than the worker takes to its later look at everything.
QUIET, PATIENCE = 1.5, 30.0
# RTM_NEWLINK, RTM_NEWROUTE, RTM_NEWRULE; the number after each is that of the removal. The length of what is in front of the
# attributes.
HEADS = {16: 16, 24: 12, 32: 12}
IFLA_IFNAME, RTA_DST, RTA_TABLE, FRA_PRIORITY, RTN_THROW = 3, 1, 15, 6, 9


def attributes(data):
    """The attributes of a message by number."""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        found[kind & 0x3FFF] = data[4:length]
        data = data[max(4, length + 3 & ~3):]
    return found


def number(data):
    """An attribute that is a number."""
    return struct.unpack("=I", data)[0] if data else None


def messages(data):
    """(what, whether it has gone) of every message that concerns us."""
    while len(data) >= 16:
        length, kind = struct.unpack_from("=IH", data)
        body, data = data[16:length], data[max(16, length + 3 & ~3):]
        new = kind & ~1
        if new not in HEADS:
            continue
        told, family = attributes(body[HEADS[new]:]), body[0]
        if new == 16 and told.get(IFLA_IFNAME, b"").rstrip(b"\0").decode() == LINK:
            yield "link", kind != new
        elif new == 32 and number(told.get(FRA_PRIORITY)) == RULES.get(family):
            yield f"rule {family}", kind != new
        elif new == 24 and (table := number(told.get(RTA_TABLE))) in TABLES:
            if body[7] == RTN_THROW:
                yield "thrown", kind != new
            elif body[1] == 0:
                yield f"default {family} {table}", kind != new


def listening(thrown):
    """A socket that hears either of thrown prefixes or of all else: those are thousands, and what is read after them is read
    late."""
    heard = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    # The type of a route is byte 23 of its message, where those of links and rules never have this value.
    whole = 0xFFFFFFFF
    program = struct.pack("HBBI" * 4, 0x30, 0, 0, 23, 0x15, 0, 1, RTN_THROW, 6, 0, 0, whole * thrown, 6, 0, 0, whole * (not thrown))
    buffer = ctypes.create_string_buffer(program)
    # SO_ATTACH_FILTER, SO_RCVBUFFORCE
    heard.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HP", 4, ctypes.addressof(buffer)))
    heard.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)
    # RTMGRP_LINK, RTMGRP_IPV4_ROUTE, RTMGRP_IPV4_RULE, RTMGRP_IPV6_ROUTE, and of the group RTNLGRP_IPV6_RULE
    heard.bind((0, 0x1 | 0x40 | 0x80 | 0x400 | 1 << 19 - 1))
    return heard


def removed(sockets, command, lost, wanted):
    """Removes something and waits until it is back: milliseconds, and those of the domestic prefixes or None."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    gone, back, balance = {}, {}, 0
    began = last = time.monotonic()
    while time.monotonic() - began < PATIENCE:
        if ready := select.select(sockets, [], [], 0.1)[0]:
            data = ready[0].recv(1 << 20)
            now = time.monotonic()
            for what, is_gone in messages(data):
                last = now
                balance += (what == "thrown") * (-1 if is_gone else 1)
                (gone if is_gone else back)[what] = now
                if is_gone:
                    back.pop(what, None)
        elif lost in gone and wanted <= back.keys() and balance == 0 and time.monotonic() - last > QUIET:
            break
    process.wait()
    away = max(back[what] for what in wanted) - gone[lost] if lost in gone and wanted <= back.keys() else None
    thrown = back["thrown"] - gone["thrown"] if balance == 0 and {"thrown"} <= back.keys() & gone.keys() else None
    return [seconds and seconds * 1000 for seconds in (away, thrown)]


def main():
    sockets = [listening(thrown=False), listening(thrown=True)]
    told, domestic = {}, []
    for what, *case in cases():
        told[what], thrown = removed(sockets, *case)
        if thrown is not None:
            domestic.append(thrown)
    print(json.dumps({"removed": told, "domestic": max(domestic, default=None)}))


main()

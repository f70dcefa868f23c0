"""The guard's comings and goings as the kernel tells them, and a way to take it away by force.

    guard.py            writes "ready", then a line each time it was made ("up") or removed ("down"): when, and which
    guard.py away PID   takes it away from the worker PID, which is stopped
"""

import ctypes
import os
import socket
import struct
import sys
import time

TABLE = b"trocket_guard\0"
NETLINK_NETFILTER, GROUP_NFTABLES, SUBSYSTEM = 12, 7, 10
NEW_TABLE, GET_TABLE, DELETE_TABLE, NEW_RULE, NEW_GENERATION = 0, 1, 2, 6, 15
BATCH_BEGIN, BATCH_END, REQUEST, NFPROTO_INET = 16, 17, 1, 1
NAME_OF_TABLE, OWNER_OF_TABLE = 1, 7  # the name is the first attribute of a rule, too
SYS_PIDFD_GETFD = 438


def messages(data):
    """(type, body) of every netlink message."""
    at = 0
    while at + 16 <= len(data):
        length, kind = struct.unpack_from("=IH", data, at)
        if length < 16:
            return
        yield kind, data[at + 16:at + length]
        at += (length + 3) & ~3


def names_guard(body):
    """True when the first attributes of a message name the guard's table."""
    at = 4
    while at + 4 <= len(body):
        length, kind = struct.unpack_from("=HH", body, at)
        if kind & 0x3FFF == NAME_OF_TABLE:
            return body[at + 4:at + length] == TABLE
        at += max(4, (length + 3) & ~3)
    return False


def watch():
    """A table counts as up from the end of the transaction that gave it rules."""
    try:
        # What is written is a moment: it must not be that of a busy machine's next free one.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    except OSError as problem:
        print(f"guard.py: no real-time class, so moments may come late: {problem}", file=sys.stderr)
    heard = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER)
    heard.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
    heard.setsockopt(270, 5, 1)  # SOL_NETLINK, NETLINK_NO_ENOBUFS
    heard.bind((0, 1 << (GROUP_NFTABLES - 1)))
    print("ready", flush=True)
    was_up = is_up = is_made = False
    while True:
        data = heard.recv(1 << 20)
        now = time.time()
        for kind, body in messages(data):
            kind &= 0xFF
            if kind in (NEW_TABLE, DELETE_TABLE) and names_guard(body):
                is_up = is_up and kind == NEW_TABLE
            elif kind == NEW_RULE and names_guard(body):
                is_up = is_made = True
            elif kind == NEW_GENERATION:
                # Of a table that went with its owner nothing is told.
                if is_made or is_up != was_up:
                    print(now, "up" if is_up else "down", flush=True)
                was_up, is_made = is_up, False


def message(kind, body, flags=REQUEST):
    """A netlink message."""
    return struct.pack("=IHHII", 16 + len(body), kind, flags, 0, 0) + body


def named(kind):
    """A message about the guard's table."""
    attribute = struct.pack("=HH", 4 + len(TABLE), NAME_OF_TABLE) + TABLE + b"\0" * (-len(TABLE) % 4)
    return message(SUBSYSTEM << 8 | kind, struct.pack(">BBH", NFPROTO_INET, 0, 0) + attribute)


def owner():
    """The address of the netlink socket that the table belongs to; asked in the network namespace of the one who asks."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER) as asked:
        asked.settimeout(2)
        asked.sendto(named(GET_TABLE), (0, 0))
        for _, body in messages(asked.recv(65536)):
            at = 4
            while at + 4 <= len(body):
                length, kind = struct.unpack_from("=HH", body, at)
                if kind & 0x3FFF == OWNER_OF_TABLE:
                    return struct.unpack_from(">I", body, at + 4)[0]
                at += max(4, (length + 3) & ~3)
    raise OSError("the guard has no owner")


def take_away(worker):
    """Deletes the guard of a worker that is stopped, through the worker's own socket: nobody else may. Raises OSError."""
    batch = message(BATCH_BEGIN, struct.pack(">BBH", 0, 0, SUBSYSTEM)) + named(DELETE_TABLE) + message(
        BATCH_END, struct.pack(">BBH", 0, 0, SUBSYSTEM))
    wanted = owner()
    libc = ctypes.CDLL(None, use_errno=True)
    process = os.pidfd_open(worker)
    for entry in os.listdir(f"/proc/{worker}/fd"):
        if not os.readlink(f"/proc/{worker}/fd/{entry}").startswith("socket:"):
            continue
        number = libc.syscall(SYS_PIDFD_GETFD, process, int(entry), 0)
        if number < 0:
            raise OSError(ctypes.get_errno(), "pidfd_getfd")
        with socket.socket(fileno=number) as theirs:
            is_netfilter = theirs.family == socket.AF_NETLINK and theirs.proto == NETLINK_NETFILTER
            if is_netfilter and theirs.getsockname()[0] == wanted:
                theirs.sendto(batch, (0, 0))
                return
    raise OSError("the worker has no such socket")


if __name__ == "__main__":
    if sys.argv[1:2] == ["away"]:
        take_away(int(sys.argv[2]))
    else:
        watch()

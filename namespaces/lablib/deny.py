"""Runs a program on a machine that lacks something: nftables, user namespaces, /dev/net/tun.

    deny.py nftables PROGRAM…     sockets of NETLINK_NETFILTER cannot be made (a seccomp filter, inherited by all children)
    deny.py tun PROGRAM…          there is no /dev/net/tun
    deny.py userns PROGRAM…       in a child user namespace (all ids mapped) with a network of its own, where
                                  user.max_user_namespaces is 0, as hardened machines set it
"""

import ctypes
import os
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
EPROTONOSUPPORT = 93
AF_NETLINK, NETLINK_NETFILTER = 16, 12
# The number of socket(2) by machine; AUDIT_ARCH is checked so that another ABI's numbers are not misread.
MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}


def check(result, what):
    """Raises OSError for a failed libc call."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def without_nftables():
    """Installs the filter: socket(AF_NETLINK, …, NETLINK_NETFILTER) fails as on a kernel without it."""
    architecture, number = MACHINES[os.uname().machine]

    def load(offset):
        return 0x20, 0, 0, offset

    def equal(value, yes, no):
        return 0x15, yes, no, value

    program = [
        load(4), equal(architecture, 0, 7),
        load(0), equal(number, 0, 5),
        load(16), equal(AF_NETLINK, 0, 3),
        load(32), equal(NETLINK_NETFILTER, 0, 1),
        (0x06, 0, 0, ERRNO | EPROTONOSUPPORT),
        (0x06, 0, 0, ALLOW),
    ]
    code = b"".join(struct.pack("HBBI", *line) for line in program)
    buffer = ctypes.create_string_buffer(code)
    header = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    check(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(header), 0, 0), "seccomp")


def without_tun():
    """Lays an empty directory over /dev/net in a mount namespace of its own."""
    check(libc.unshare(CLONE_NEWNS), "unshare")
    check(libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None), "make mounts private")
    check(libc.mount(b"none", b"/dev/net", b"tmpfs", 0, b"size=4k"), "hide /dev/net")


def without_user_namespaces():
    """Enters a user namespace with every id mapped to itself, forbids further ones in it, and takes a network along."""
    mine = os.getpid()
    reader, writer = os.pipe()
    mapper = os.fork()
    if mapper == 0:
        os.read(reader, 1)
        for kind in ("uid_map", "gid_map"):
            with open(f"/proc/{mine}/{kind}", "w", encoding="ascii") as file:
                file.write("0 0 65536")
        os._exit(0)
    check(libc.unshare(CLONE_NEWUSER), "unshare")
    os.write(writer, b"x")
    _, status = os.waitpid(mapper, 0)
    if status:
        sys.exit("deny: the ids could not be mapped")
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    check(libc.unshare(CLONE_NEWNET | CLONE_NEWNS), "unshare the network")
    with open("/proc/sys/user/max_user_namespaces", "w", encoding="ascii") as file:
        file.write("0")


{"nftables": without_nftables, "tun": without_tun, "userns": without_user_namespaces}[sys.argv[1]]()
os.execvp(sys.argv[2], sys.argv[2:])

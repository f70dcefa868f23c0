"""What each process of the product may do: read from /proc, and tried from inside it."""

import errno
import os
import pwd
import socket
import struct

import pytest

from lablib import lines, plan
from lablib.inside import inside
from lablib.product import NET_ADMIN, capabilities, children, process_status

AT_FDCWD = -100


def own_namespace(pid, kind):
    return os.stat(f"/proc/{pid}/ns/{kind}").st_ino


def engine_host(product):
    """The worker's only child."""
    return children(product.worker.pid)[0]


def test_worker_has_net_admin_and_nothing_else(connected):
    pid = connected.worker.pid
    status, caps = process_status(pid), capabilities(pid)
    user = pwd.getpwnam("trocket")
    assert status["Name"].strip() == "trocket-tunnel"
    assert caps["Eff"] == caps["Prm"] == NET_ADMIN
    assert caps["Bnd"] & ~NET_ADMIN == 0 and caps["Inh"] & ~NET_ADMIN == 0 and caps["Amb"] == 0
    assert status["Uid"].split() == [str(user.pw_uid)] * 4 and status["Gid"].split() == [str(user.pw_gid)] * 4
    assert not status["Groups"].split() and status["NoNewPrivs"].strip() == "1" and status["Threads"].strip() == "1"


def test_engine_and_its_host_have_nothing(connected):
    user = pwd.getpwnam("trocket-engine")
    pid = connected.status()["engine"]["pid"]
    family = [child for child in children(connected.worker.pid)] + [pid]
    assert pid in children(family[0]) or pid in family
    for member in family:
        status, caps = process_status(member), capabilities(member)
        assert status["Uid"].split() == [str(user.pw_uid)] * 4, status["Name"]
        assert not (caps["Eff"] | caps["Prm"] | caps["Amb"]), status["Name"]
        assert not status["Groups"].split() and status["NoNewPrivs"].strip() == "1"


def opened(process, path, flags, mode=0):
    """What it says to a process of ours that opens a path; 0 when it lets it."""
    told = process.call("openat", AT_FDCWD, path.encode() + b"\0", flags | os.O_CLOEXEC, mode)
    if told >= 0:
        process.call("close", told)
    return min(told, 0)


@pytest.mark.parametrize("name", ["worker", "engine host"])
def test_worker_and_engine_host_are_confined(connected, name):
    """Landlock cannot be read from /proc, and a filter there tells not what it refuses: so the process tries for itself."""
    pid = connected.worker.pid if name == "worker" else engine_host(connected)
    planted = "/tmp/trocket-planted"
    try:
        with inside(pid) as process:
            assert opened(process, "/etc/passwd", os.O_RDONLY) == 0, "it makes calls, and opens what it may"
            # Every user may do these.
            assert opened(process, "/", os.O_RDONLY | os.O_DIRECTORY) == -errno.EACCES
            assert opened(process, planted, os.O_WRONLY | os.O_CREAT, 0o600) == -errno.EACCES
            assert process.call("personality", 0xFFFFFFFF) == -errno.EPERM
            if name == "worker":
                assert process.call("unshare", 0) == -errno.EPERM
                stream = process.call("socket", socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_CLOEXEC, 0)
                nobody = struct.pack("=HHI8x", socket.AF_INET, socket.htons(1), socket.htonl(socket.INADDR_LOOPBACK))
                refused = process.call("connect", stream, nobody, len(nobody))
                process.call("close", stream)
                assert refused == -errno.EACCES, "it connects nowhere"
    finally:
        if os.path.exists(planted):
            os.unlink(planted)
    assert connected.status()["verified"], "and goes on"


def test_worker_engine_host_and_engine_are_under_seccomp(connected):
    for pid in (connected.worker.pid, engine_host(connected), connected.status()["engine"]["pid"]):
        assert process_status(pid)["Seccomp"].strip() == "2", process_status(pid)["Name"]


def test_engine_goes_before_the_worker_when_memory_runs_out(connected):
    def offered(pid):
        with open(f"/proc/{pid}/oom_score_adj", encoding="ascii") as file:
            return int(file.read())

    assert offered(connected.status()["engine"]["pid"]) == 500 > offered(connected.worker.pid)


def test_engine_helpers_hold_capabilities_only_in_their_own_user_namespace(connected):
    pid = connected.status()["engine"]["pid"]
    outer = own_namespace("self", "user")
    helpers = children(pid)
    assert helpers
    for helper in helpers:
        if capabilities(helper)["Eff"]:
            assert own_namespace(helper, "user") != outer


def test_engine_gets_no_descriptor_it_has_no_use_for(connected):
    pid = connected.status()["engine"]["pid"]
    targets = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    assert not [t for t in targets if "command.sock" in t or "subscription.json" in t or "worker" in t]
    command = open(f"/proc/{pid}/cmdline", "rb").read()
    environment = open(f"/proc/{pid}/environ", "rb").read()
    for secret in (lines.password("shadowsocks"), plan.TOKEN, lines.identity("vless")):
        assert secret.encode() not in command + environment

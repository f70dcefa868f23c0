"""A hostile program inside the sandbox: what it sends out of its end of the link changes nothing on the host and goes nowhere."""

import os
import subprocess

import pytest

from lablib import lines, netns, plan
from lablib.capture import Capture
from lablib.lab import wait_until

FIRST = lines.LINES[0][1]
HELPERS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "leaklib")
# 20 is nobody's in the lab; 9 is the discard port.
SPOOFED = """
import socket, struct, sys
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
for target in sys.argv[1:]:
    body = struct.pack("!4H", 9, 9, 13, 0) + b"smuggled"[:5]
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 7, 0, 64, 17, 0,
                       socket.inet_aton("20.0.0.9"), socket.inet_aton(target))
    raw.sendto(head + body, (target, 0))
"""


def inside(lab, *command):
    """Runs something in the sandbox, as root there: more than a compromised engine can do."""
    with open(lab.path("run", "engine", "holder.pid"), encoding="ascii") as file:
        holder = file.read().strip()
    return subprocess.run(["nsenter", f"--net=/proc/{holder}/ns/net", *command], capture_output=True, text=True, check=True)


@pytest.fixture
def ordinary(product, lab):
    """A machine that takes routes from routers, as most do, and forwards, as those with containers do."""
    # Forwarding changes the last two by itself.
    names = ("net.ipv4.ip_forward", "net.ipv6.conf.default.accept_ra", "net.ipv4.conf.all.accept_redirects",
             "net.ipv4.conf.default.accept_redirects")
    before = {name: lab.exec("client", "sysctl", "-n", name).stdout.strip() for name in names}
    lab.exec("client", "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.default.accept_ra=2")
    product.connect(FIRST)
    yield product
    product.controller("disconnect")
    lab.exec("client", "sysctl", "-qw", *[f"{name}={value}" for name, value in before.items()])


def network(lab):
    """What a router's word could change, but for the test's own link."""
    text = lab.ip_text("client", "-6", "route") + lab.ip_text("client", "-6", "address", "show", "dev", "trocket0")
    return [line for line in text.splitlines() if "heard" not in line]


@pytest.mark.parametrize("repaired", [False, True], ids=["new", "repaired"])
def test_a_router_in_the_sandbox_is_not_listened_to(ordinary, lab, repaired):
    if repaired:
        # Below IPv6's least MTU the kernel forgets all that was said about IPv6 on a link.
        lab.exec("client", "ip", "link", "set", "trocket0", "mtu", "1200")
        wait_until(lambda: "default" in lab.exec("client", "ip", "-6", "route", "show", "table", "7100", check=False).stdout, 5,
                   "it is repaired")
    # The machine itself does listen to routers: without that the silence would mean nothing.
    before = network(lab)
    netns.ip_batch(lab.name, "client", ["link add heard0 type veth peer name heard1", "link set heard1 up", "link set heard0 up"])
    try:
        script = os.path.join(HELPERS, "advertise.py")
        inside(lab, "/usr/bin/python3", "-I", script, "uplink0", "2001:db8:1::")

        def listened_to():
            lab.exec("client", "/usr/bin/python3", "-I", script, "heard1", "2001:db8:99::")
            return "2001:db8:99::" in lab.ip_text("client", "-6", "route")

        wait_until(listened_to, 5, "another link's router is listened to", interval=0.1)
        assert network(lab) == before
    finally:
        lab.exec("client", "ip", "link", "delete", "heard0")


def test_packets_from_the_sandbox_go_no_further_than_the_host(ordinary, lab):
    with Capture(lab) as router, Capture(lab, host="lan", link="eth1") as neighbour, \
            Capture(lab, host="client", link="trocket0") as host:
        inside(lab, "/usr/bin/python3", "-I", "-c", SPOOFED, plan.ROUTER4, plan.LAN_HOST4, plan.WEB4)
        wait_until(lambda: len(host.lines("src host 20.0.0.9")) == 3, 5, "the host was sent all of them")
        router.barrier()
        for capture in (router, neighbour):
            capture.stop()
            assert capture.lines("host 20.0.0.9") == []

"""The way out goes, comes back, moves, or changes its address, and the machine sleeps: pages load again.

How soon, `scripts/bench connect` measures.
"""

import contextlib
import json
import os
import signal
import subprocess
import time

import pytest

from lablib import lines, netns, plan, snapshot, wayout
from lablib.capture import Capture
from lablib.lab import REPOSITORY, wait_until
from lablib.product import children

FIRST = lines.LINES[0][1]
# Patience for a busy machine.
SOON = 20.0


@pytest.fixture
def uplink(lab):
    """The lab, whose uplink is as before afterwards."""
    yield lab
    wayout.restore_addresses(lab)


def page_loads(lab):
    """A page comes through the line, tried again as a person would."""
    for family, address in ((plan.WEB4, lines.exit4(FIRST)), (f"[{plan.WEB6}]", lines.exit6(FIRST))):
        wait_until(lambda: (lab.page(f"http://{family}/ip", "-g", "--max-time", "3", check=False) or {}).get("address") == address,
                   SOON, f"a page of {family}")


@contextlib.contextmanager
def connected(product):
    """Connected; the same engine goes on whatever happens to the uplink."""
    product.connect(FIRST, "--kill-switch", "--mode", "rule")
    try:
        engine = product.status()["engine"]
        yield
        status = product.status()
        assert status["state"] == "connected" and status["verified"] and status["engine"]["pid"] == engine["pid"]
        assert status["engine"]["restarts"] == 0
    finally:
        product.controller("disconnect", check=False)


@pytest.fixture
def steady(uplink, product):
    """Connected during the test; afterwards everything has to go on."""
    with connected(product):
        yield product


def test_link_down_and_up(steady, lab):
    wayout.down(lab)
    assert lab.page(f"http://{plan.WEB4}/ip", "--max-time", "1", check=False) is None
    wayout.up(lab)
    page_loads(lab)


def test_asleep_while_the_link_was_down(steady, lab):
    asleep = [steady.worker.pid]
    for member in asleep:
        asleep += children(member)
    for member in asleep:
        os.kill(member, signal.SIGSTOP)
    wayout.down(lab)
    time.sleep(1)  # asleep
    wayout.up(lab)
    for member in asleep:
        os.kill(member, signal.SIGCONT)
    page_loads(lab)


def test_default_route_gone_and_back(steady, lab):
    wayout.lose_default_routes(lab)
    assert lab.page(f"http://{plan.WEB4}/ip", "--max-time", "1", check=False) is None
    wayout.up(lab)
    page_loads(lab)


def test_default_route_moves_to_another_device(steady, lab):
    wayout.move(lab)
    page_loads(lab)


def test_another_address_and_what_went_from_the_old_one_is_reset(steady, lab):
    slow = lab.user_popen("curl", "-sSN", "--max-time", "20", f"http://{plan.WEB4}/ticks?n=300&ms=100",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert slow.stdout.readline() == "0\n"
    wayout.readdress(lab)
    page_loads(lab)
    slow.wait(timeout=60)
    assert slow.returncode not in (0, 28), "it was cut off, and did not wait for its time to be over"


# MARK: another link

# Whoever asks, bound to a link by either name or to none: each time with a new socket, as the old one's link has gone.
ASKING = """
import socket, sys, time
while True:
    for device in ("", *sys.argv[3:]):
        for family, address in ((socket.AF_INET, sys.argv[1]), (socket.AF_INET6, sys.argv[2])):
            with socket.socket(family, socket.SOCK_DGRAM) as asking:
                try:
                    if device: asking.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
                    asking.sendto(b"x", (address, 9))
                except OSError: pass
    time.sleep(0.005)
"""


def replace_link(lab, name, new, mac, numbers):
    """Takes the uplink away, pulled out, and puts another in its place."""
    wayout.pull_out(lab, name)
    wayout.plug_in(lab, new, mac, numbers)

    def is_ready():
        link = lab.ip("client", "address", "show", "dev", new)[0]
        return link["operstate"] == "UP" and any(
            address["scope"] == "link" and not address.get("tentative") for address in link["addr_info"])

    wait_until(is_ready, SOON, "the link is up, with the address it gives itself")


@pytest.mark.parametrize("new", ["eth0", "enp9s0"])
def test_another_link_in_place_of_the_uplink(product, lab, new):
    first = wayout.indices(lab)
    try:
        replace_link(lab, "eth0", new, wayout.OTHER_MAC, wayout.OTHER_INDICES)
        without_us = snapshot.take(lab)
        replace_link(lab, new, "eth0", plan.CLIENT_MAC, first)
        # The bridge hears everybody, whatever comes and goes at its ports.
        around = f"(ether src {plan.CLIENT_MAC} or ether src {wayout.OTHER_MAC}) and (dst host {plan.WEB4} or dst host {plan.WEB6})"
        asking = lab.user_popen("/usr/bin/python3", "-I", "-c", ASKING, plan.WEB4, plan.WEB6, "eth0", "enp9s0")
        with Capture(lab, link="br0") as capture:
            for address in (plan.WEB4, plan.WEB6):
                wait_until(lambda: capture.lines(f"({around}) and dst host {address}"), 5, "without a tunnel it is seen")
        with connected(product), Capture(lab, link="br0") as capture:
            replace_link(lab, "eth0", new, wayout.OTHER_MAC, wayout.OTHER_INDICES)
            page_loads(lab)
            capture.barrier()
            assert capture.lines(around) == []
            assert asking.poll() is None
        assert snapshot.differences(without_us, snapshot.take(lab)) == []
    finally:
        asking.kill()
        there = {link["ifname"] for link in lab.ip("client", "link", "show")} & {"eth0", "enp9s0"}
        replace_link(lab, *there, "eth0", plan.CLIENT_MAC, first)


# MARK: another network

MOVED4, MOVED_ROUTER4, MOVED_LAN4 = "5.6.7.10", "5.6.7.1", "5.6.7.20"
MOVED_NET6, MOVED_ROUTER6, MOVED_LAN6 = "2001:db8:9::", "2001:db8:9::1", "2001:db8:9::20"
ADVERTISE = os.path.join(REPOSITORY, "namespaces", "leaklib", "advertise.py")


@pytest.fixture
def moving(uplink, lab):
    """The router and the neighbour have addresses of another network, too, and the uplink heeds routers."""
    others = {"isp": [f"{MOVED_ROUTER4}/24 dev br0", f"{MOVED_ROUTER6}/64 dev br0"],
              "lan": [f"{MOVED_LAN4}/24 dev eth0", f"{MOVED_LAN6}/64 dev eth0"]}
    for host, addresses in others.items():
        netns.ip_batch(lab.name, host, [f"address add {address} nodad" if ":" in address else f"address add {address}"
                                        for address in addresses])
    lab.exec("client", "sysctl", "-qw", "net.ipv6.conf.eth0.accept_ra=1")
    yield
    lab.exec("client", "sysctl", "-qw", "net.ipv6.conf.eth0.accept_ra=0")
    wayout.change(lab, f"address flush dev eth0 to {MOVED_NET6}/64", f"address flush dev eth0 to {MOVED4}/24")
    lab.exec("client", "ip", "-6", "route", "flush", "dev", "eth0", "proto", "ra")
    for host, addresses in others.items():
        netns.ip_batch(lab.name, host, [f"address delete {address}" for address in addresses])


def reached(lab, address):
    """Whether the neighbour is reached directly: by where the kernel leads, and by one who insists on the uplink."""
    insisting = lab.user("ping", "-n", "-c", "1", "-W", "1", "-I", "eth0", address, check=False).returncode == 0
    return snapshot.route_device(lab, address) == "eth0", insisting


def test_another_prefix_and_another_subnet(moving, steady, lab):
    old, new = (plan.LAN4, plan.LAN6), (MOVED_LAN4, MOVED_LAN6)
    for address in old:
        wait_until(lambda: reached(lab, address) == (True, True), SOON, f"{address} directly")
    assert [reached(lab, address) for address in new] == [(False, False)] * 2
    lab.exec("isp", "/usr/bin/python3", "-I", ADVERTISE, "br0", MOVED_NET6, "router")
    wait_until(lambda: lab.ip("client", "-6", "address", "show", "dev", "eth0", "to", f"{MOVED_NET6}/64"), 5, "its address")
    wayout.change(lab, f"address add {MOVED4}/24 broadcast + dev eth0", f"route replace default via {MOVED_ROUTER4} dev eth0",
                  f"address delete {plan.CLIENT4}/24 dev eth0", f"address delete {plan.CLIENT6}/64 dev eth0",
                  f"route delete default via {plan.ROUTER6} dev eth0")
    page_loads(lab)
    for address in new:
        wait_until(lambda: reached(lab, address) == (True, True), SOON, f"{address} directly")
    for address in old:
        wait_until(lambda: reached(lab, address) == (False, False), SOON, f"{address} no more")


# MARK: without a network

def test_a_proof_from_before_the_way_out_went_is_taken_anew(steady, lab):
    assert steady.status()["proof"]["ok"]
    watching = lab.user_popen(*steady.controller_command("status", "--watch", "--json"), stdout=subprocess.PIPE)

    def is_shown(answers):
        # A line a second at least: the rates.
        for line, _ in zip(watching.stdout, range(60)):
            if (json.loads(line).get("proof") or {}).get("ok") is answers:
                return True
        return False

    try:
        assert is_shown(True)
        wayout.lose_default_routes(lab)
        assert steady.status()["proof"]["ok"] is False, "asked at once"
        assert is_shown(False)
        wayout.up(lab)
        assert is_shown(True), "nobody has asked"
        wait_until(lambda: (steady.status().get("proof") or {}).get("ok"), SOON, "and told who asks")
        # The link is made anew, and the inside of the sandbox wired again.
        lab.ip_text("client", "link", "delete", "trocket0")
        assert steady.status()["verified"] and is_shown(True)
    finally:
        watching.kill()
        watching.wait()


def test_connected_without_a_network_and_then_there_is_one(uplink, product):
    wayout.down(uplink)
    done = product.controller("connect", FIRST, "--kill-switch", "--wait", "20", "--json", check=False)
    try:
        assert done.returncode == 1 and '"line-not-answering"' in done.stdout, done.stdout
        assert product.status()["state"] == "connected"
        wayout.up(uplink)
        page_loads(uplink)
        assert product.status()["engine"]["restarts"] == 0
    finally:
        product.controller("disconnect", check=False)


def test_a_conversation_with_another_address_does_not_hold_up_the_link(product, lab):
    """Of a packet with the uplink's address, which is led into the tunnel before anything else, nobody on the link can be
    asked for the sandbox's hardware address; what is already known need not be asked for."""
    sender = lab.popen("client", "/usr/bin/python3", "-I", "-c", (
        "import socket, time\n"
        "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.bind(('%s', 0))\n"
        "while True:\n"
        "    try: s.sendto(b'x', ('%s', 53))\n"
        "    except OSError: pass\n"
        "    time.sleep(0.002)\n") % (plan.CLIENT6, plan.WEB6))
    try:
        product.connect(FIRST)
        known = lab.exec("client", "ip", "neighbour", "show", "dev", "trocket0", "nud", "permanent").stdout.split()
        assert "198.19.77.2" in known and "fd74:726f:636b:6574::2" in known
        assert lab.page(f"https://[{plan.WEB6}]/ip", "-g", "-k")["address"] == lines.exit6(FIRST)
    finally:
        sender.kill()
        product.controller("disconnect")

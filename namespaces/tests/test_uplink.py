"""The way out goes, comes back, moves, or changes its address, and the machine sleeps: pages load again within two seconds."""

import os
import signal
import subprocess
import time

import pytest

from lablib import lines, netns, plan
from lablib.lab import wait_until
from lablib.product import children

FIRST = lines.LINES[0][1]
OTHER4, OTHER6 = "203.0.113.11", "2001:db8:1::11"
SOON = 2.0


def change(lab, *commands):
    """Changes the user's machine, all at once."""
    netns.ip_batch(lab.name, "client", commands)


def link_down(lab):
    change(lab, "link set eth0 down")


def link_up(lab):
    """What the kernel forgot with the link is put back, as a network manager does."""
    change(lab, "link set eth0 up", f"address replace {plan.CLIENT6}/64 dev eth0 nodad",
           f"route replace default via {plan.ROUTER4} dev eth0", f"route replace default via {plan.ROUTER6} dev eth0")


@pytest.fixture
def uplink(lab):
    """The lab, whose uplink is as before afterwards."""
    yield lab
    # With the first address of a network the kernel takes the others, so the one that stays is put back last.
    for address in (f"{OTHER4}/24", f"{OTHER6}/64"):
        lab.exec("client", "ip", "address", "delete", address, "dev", "eth0", check=False)
    change(lab, f"address replace {plan.CLIENT4}/24 broadcast + dev eth0")
    link_up(lab)


def page_loads(lab, since):
    """A page comes through the line before it is too late, tried again as a person would."""
    for family, address in ((plan.WEB4, lines.exit4(FIRST)), (f"[{plan.WEB6}]", lines.exit6(FIRST))):
        wait_until(lambda: (lab.page(f"http://{family}/ip", "-g", "--max-time", "1", check=False) or {}).get("address") == address,
                   SOON, f"a page of {family}")
    took = time.monotonic() - since
    assert took < SOON, f"{took:.1f} s"


@pytest.fixture
def steady(uplink, product):
    """Connected; the same engine goes on whatever happens to the uplink."""
    product.connect(FIRST, "--kill-switch", "--mode", "rule")
    engine = product.status()["engine"]
    yield product
    status = product.status()
    try:
        assert status["state"] == "connected" and status["verified"] and status["engine"]["pid"] == engine["pid"]
        assert status["engine"]["restarts"] == 0
    finally:
        product.controller("disconnect", check=False)


def test_link_down_and_up(steady, lab):
    link_down(lab)
    assert lab.page(f"http://{plan.WEB4}/ip", "--max-time", "1", check=False) is None
    began = time.monotonic()
    link_up(lab)
    page_loads(lab, began)


def test_asleep_while_the_link_was_down(steady, lab):
    asleep = [steady.worker.pid]
    for member in asleep:
        asleep += children(member)
    for member in asleep:
        os.kill(member, signal.SIGSTOP)
    link_down(lab)
    time.sleep(1)  # asleep
    link_up(lab)
    began = time.monotonic()
    for member in asleep:
        os.kill(member, signal.SIGCONT)
    page_loads(lab, began)


def test_default_route_gone_and_back(steady, lab):
    change(lab, f"route delete default via {plan.ROUTER4}", f"route delete default via {plan.ROUTER6}")
    assert lab.page(f"http://{plan.WEB4}/ip", "--max-time", "1", check=False) is None
    began = time.monotonic()
    link_up(lab)
    page_loads(lab, began)


def test_default_route_moves_to_another_device(steady, lab):
    began = time.monotonic()
    change(lab, f"route replace default via {plan.LAN_HOST4} dev eth1", f"route replace default via {plan.LAN_HOST6} dev eth1")
    page_loads(lab, began)


def test_another_address_and_what_went_from_the_old_one_is_reset(steady, lab):
    slow = lab.user_popen("curl", "-sSN", "--max-time", "20", f"http://{plan.WEB4}/ticks?n=300&ms=100",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert slow.stdout.readline() == "0\n"
    began = time.monotonic()
    change(lab, f"address add {OTHER4}/24 dev eth0", f"address add {OTHER6}/64 dev eth0 nodad",
           f"address delete {plan.CLIENT4}/24 dev eth0", f"address delete {plan.CLIENT6}/64 dev eth0",
           f"address replace {OTHER4}/24 dev eth0", f"route replace default via {plan.ROUTER4} dev eth0",
           f"route replace default via {plan.ROUTER6} dev eth0")
    page_loads(lab, began)
    slow.wait(timeout=5)
    assert slow.returncode not in (0, 28), "it was cut off, and did not wait for its time to be over"


def test_connected_without_a_network_and_then_there_is_one(uplink, product):
    link_down(uplink)
    done = product.controller("connect", FIRST, "--kill-switch", "--wait", "3", "--json", check=False, timeout=30)
    try:
        assert done.returncode == 1 and '"line-not-answering"' in done.stdout, done.stdout
        assert product.status()["state"] == "connected"
        began = time.monotonic()
        link_up(uplink)
        page_loads(uplink, began)
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
        assert lab.page(f"https://[{plan.WEB6}]/ip", "-g", "-k", "--max-time", "5")["address"] == lines.exit6(FIRST)
    finally:
        sender.kill()
        product.controller("disconnect")

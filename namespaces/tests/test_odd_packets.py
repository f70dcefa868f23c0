"""Sockets and packets of every odd kind: first proven visible without a tunnel, then silence is wanted."""

import json
import os
import re

import pytest

from lablib import lines, plan
from lablib.capture import Capture
from lablib.lab import wait_until
from lablib.product import children

FIRST = lines.LINES[0][1]
SCRIPT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "leaklib", "odd.py")
OURS = "net 20.0.99.0/24 or net 2a00:1450::99:0/112"


def sent_and_seen(lab):
    """What was tried, {number and family: name}, and which of it the router saw."""
    tried = {}
    # Who asked for a neighbour a moment ago goes on asking.
    lab.exec("client", "ip", "neigh", "flush", "to", "20.0.99.0/24", check=False)
    with Capture(lab) as capture:
        for uid in (plan.USER, 0):
            done = lab.exec("client", "/usr/bin/python3", "-I", SCRIPT, uid, "eth0", plan.CLIENT4, plan.CLIENT6)
            tried.update(json.loads(done.stdout))
        capture.barrier()
        capture.stop()
        text = "\n".join(capture.lines(OURS))
    seen = {f"{number} IPv4" for number in re.findall(r"\b20\.0\.99\.(\d+)", text)}
    return tried, seen | {f"{int(number, 16)} IPv6" for number in re.findall(r"\b2a00:1450::99:([0-9a-f]+)", text)}


@pytest.fixture(scope="module")
def visible(product, lab):
    """What is seen without a tunnel, so that silence means something."""
    tried, seen = sent_and_seen(lab)
    unseen = {number: name for number, name in tried.items() if number not in seen}
    # No neighbour to ask without a link, an address another has, protocols this kernel may lack.
    assert all(re.search("dontroute|not ours|SCTP|MPTCP|not supported", name) for name in unseen.values()), unseen
    assert len(seen) >= 70
    return seen


@pytest.mark.parametrize("switch", ["--kill-switch", "--no-kill-switch"])
def test_none_leaves(product, lab, visible, switch):
    product.connect(FIRST, switch)
    try:
        tried, seen = sent_and_seen(lab)
        assert visible <= set(tried)
        assert {number: tried[number] for number in seen} == {}
    finally:
        product.controller("disconnect")


def test_none_leaves_while_blocked(product, lab, visible):
    product.connect(FIRST, "--kill-switch")
    host = children(product.worker.pid)[0]
    lab.exec("client", "kill", "-9", host)
    try:
        wait_until(lambda: product.status().get("state") == "blocked", 10, "blocked")
        tried, seen = sent_and_seen(lab)
        assert {number: tried[number] for number in seen} == {}
    finally:
        product.controller("disconnect")
        product.worker.wait(timeout=60)
        product.start()


LEASES = """
import socket
for family, source, address, port in ((socket.AF_INET, 68, "255.255.255.255", 67), (socket.AF_INET, 68, "203.0.113.1", 67),
                                      (socket.AF_INET6, 546, "ff02::1:2", 547)):
    made = socket.socket(family, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth0")
    made.bind(("" if family == socket.AF_INET else "::", source))
    made.sendto(b"a lease, please", (address, port))
"""


@pytest.mark.parametrize("switch", ["--kill-switch", "--no-kill-switch"])
def test_leases_are_asked_for(product, lab, switch):
    product.connect(FIRST, switch)
    try:
        with Capture(lab) as capture:
            lab.exec("client", "/usr/bin/python3", "-I", "-c", LEASES)
            capture.barrier()
            capture.stop()
            for sought in ("dst host 255.255.255.255 and udp dst port 67", f"dst host {plan.ROUTER4} and udp dst port 67",
                           "dst host ff02::1:2 and udp dst port 547"):
                assert capture.lines(sought), sought
    finally:
        product.controller("disconnect")

"""What passes in each state, kill switch off and on: the table of spec.md, row by row. Under load and packet by packet,
`namespaces/leaktest` judges the same."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess

import pytest

from lablib import lines, plan, snapshot
from lablib.lab import REPOSITORY, wait_until
from lablib.product import children, runs

FIRST = lines.LINES[0][1]
SPEC = os.path.join(REPOSITORY, "specs", "001-linux-vpn-client", "spec.md")
EVERYTHING, TUNNEL, PAST, NOTHING = ("direct", "direct"), ("line", "direct"), ("no", "direct"), ("no", "no")
# By state: for each position of the switch how the table's cell begins, and what it means for the world abroad and for Chinese
# addresses. The local network and what comes in from outside pass always.
TABLE = {
    "disconnected": (("everything, as without Trocket", EVERYTHING), ("everything (the kill switch is released by", EVERYTHING)),
    "connecting": (("as before, until the host plan is in force", EVERYTHING),
                   ("LAN, DHCP, neighbour discovery, replies to inbound connections", NOTHING)),
    "connected": (("through the line; LAN and other on-link prefixes directly; CN directly in Rule mode", TUNNEL),
                  ("the same", TUNNEL)),
    "reconnecting": (("LAN and inbound replies; CN directly where it went past the engine; the rest is refused", PAST),
                     ("the same", PAST)),
    "first connection failed": (("everything, as before", EVERYTHING), ("as blocked, from the moment an engine was started", NOTHING)),
    "blocked": (("LAN and inbound replies; the rest is refused", NOTHING), ("the same", NOTHING)),
    "worker killed": (("everything, directly", EVERYTHING), ("LAN, DHCP, inbound replies; nothing else until", NOTHING)),
}
# Over before anything could be asked; the leak table has its two halves.
NOT_HELD = {"disconnecting"}

PROBES = r"""
import json, socket, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

def page(address):
    try:
        with socket.create_connection((address, 80), 6) as made:
            made.settimeout(6)
            made.sendall(b"GET /ip HTTP/1.1\r\nhost: ip.example.com\r\nconnection: close\r\n\r\n")
            return json.loads(made.makefile("rb").read().split(b"\r\n\r\n", 1)[1])["address"]
    except (OSError, ValueError, IndexError):
        return None

def ping(address):
    return subprocess.run(["ping", "-c", "1", "-W", "6", address], stdout=subprocess.DEVNULL).returncode == 0

pages, pings = (argument.split(",") for argument in sys.argv[1:])
with ThreadPoolExecutor(16) as pool:
    told = [list(pool.map(page, pages)), list(pool.map(ping, pings))]
print(json.dumps(told))
"""


def rows():
    """The table of the specification: {state: (cell for off, cell for on)}."""
    with open(SPEC, encoding="utf-8") as file:
        section = file.read().split("\n## What may pass in each state\n", 1)[1].split("\n## ", 1)[0]
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("| ")]
    assert found[0] == ["state", "kill switch off", "kill switch on"]
    return {state: (off, on) for state, off, on in found[1:]}


def test_the_table_is_the_specifications():
    told = rows()
    assert told.keys() == TABLE.keys() | NOT_HELD
    for state, cells in TABLE.items():
        for told_cell, (begins, _) in zip(told[state], cells):
            assert told_cell.startswith(begins), f"{state}: the specification says something else now"


# MARK: the states, each held for as long as it is looked at

def switched(kill_switch):
    return "--kill-switch" if kill_switch else "--no-kill-switch"


def below(pid):
    """All that descend from a process."""
    found = children(pid)
    for member in found:
        found += children(member)
    return found


def connect(product, kill_switch):
    """Connected in Rule mode, the domestic prefixes past the engine."""
    product.connect(FIRST, "--mode", "rule", switched(kill_switch))
    wait_until(lambda: product.status().get("domesticFastPath"), 20, "the domestic prefixes are settled")


@contextlib.contextmanager
def engine_held_at_birth(host, than=()):
    """The next engine that the engine host starts, stopped before it does anything."""
    born = wait_until(lambda: [child for child in children(host) if child not in than], 20, "an engine starts", interval=0.001)[0]
    descriptor = os.pidfd_open(born)
    signal.pidfd_send_signal(descriptor, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGCONT)
        os.close(descriptor)


@contextlib.contextmanager
def disconnected(product, lab, kill_switch):
    connect(product, kill_switch)
    product.controller("disconnect")
    yield "disconnected"


@contextlib.contextmanager
def connecting(product, lab, kill_switch):
    host = children(product.worker.pid)[0]
    arguments = product.controller_command("connect", FIRST, "--mode", "rule", switched(kill_switch))
    command = subprocess.Popen(lab.user_command(*arguments), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        with engine_held_at_birth(host):
            yield "connecting"
    finally:
        command.kill()
        command.wait()


@contextlib.contextmanager
def connected(product, lab, kill_switch):
    connect(product, kill_switch)
    yield "connected"


@contextlib.contextmanager
def reconnecting(product, lab, kill_switch):
    connect(product, kill_switch)
    host = children(product.worker.pid)[0]
    # With its helpers, which become the engine host's children when it dies.
    before = below(host)
    os.kill(product.status()["engine"]["pid"], signal.SIGKILL)
    with engine_held_at_birth(host, before):
        yield "reconnecting"


@contextlib.contextmanager
def first_connection_failed(product, lab, kill_switch):
    """With an engine that is started and ends at once."""
    false = lab.path("bin", "false")
    shutil.copy("/bin/false", false)
    product.stop()
    product.start(engine=false)
    try:
        assert product.controller("connect", FIRST, switched(kill_switch), check=False).returncode != 0
        yield "blocked" if kill_switch else "disconnected"
    finally:
        product.controller("disconnect")
        product.stop()
        os.unlink(false)
        product.start()


@contextlib.contextmanager
def blocked(product, lab, kill_switch):
    connect(product, kill_switch)
    os.kill(children(product.worker.pid)[0], signal.SIGKILL)
    product.wait_for("blocked")
    yield "blocked"
    product.controller("disconnect")
    assert product.worker.wait(timeout=60) == 0
    product.start()


@contextlib.contextmanager
def worker_killed(product, lab, kill_switch):
    connect(product, kill_switch)
    others = below(product.worker.pid)
    product.kill()
    wait_until(lambda: not [member for member in others if runs(member)], 10, "the engine ends with the worker")
    if not kill_switch:
        # It goes with the worker's socket, which the kernel closes some moments after the process.
        wait_until(lambda: "trocket" not in lab.exec("client", "nft", "list", "tables").stdout, 10, "the guard goes with the worker")
    try:
        yield None
    finally:
        product.start()


def seen_as(address, own, of_line):
    """How a far end saw this machine."""
    return {own: "direct", of_line: "line", None: "no"}.get(address, address)


@pytest.mark.parametrize("kill_switch", [False, True], ids=["off", "on"])
@pytest.mark.parametrize("state", TABLE)
def test_what_passes(product, lab, state, kill_switch):
    before = snapshot.take(lab)
    hold = globals()[re.sub(r"\W", "_", state)]
    pages = (plan.WEB4, plan.WEB6, plan.CN4, plan.CN6)
    near = (plan.LAN4, plan.LAN6, plan.LAN_HOST4, plan.LAN_HOST6, plan.ROUTER4)
    try:
        with hold(product, lab, kill_switch) as name:
            if name:
                assert product.status()["state"] == name
            told = lab.user("/usr/bin/python3", "-I", "-c", PROBES, ",".join(pages), ",".join(near)).stdout
            visited, reached = json.loads(told)
            # All at once, for a state is not held for long.
            comers = [(host, address, lab.hold_conversation(host, address, interval_ms=5)) for host, address in (
                ("world", plan.CLIENT4), ("world", plan.CLIENT6), ("lan", plan.LAN_CLIENT4), ("lan", plan.CLIENT6))]
            for host, address, conversation in comers:
                came_in = conversation.end()
                assert came_in["error"] is None and came_in["received"] > 0, f"from {host} to {address}"
            if name:
                assert product.status()["state"] == name, "it was held"
    finally:
        product.controller("disconnect", check=False)
    families = zip(visited, (plan.CLIENT4, plan.CLIENT6) * 2, (lines.exit4(FIRST), lines.exit6(FIRST)) * 2)
    abroad4, abroad6, domestic4, domestic6 = (seen_as(*one) for one in families)
    wanted = TABLE[state][kill_switch][1]
    assert {"abroad": (abroad4, abroad6), "domestic": (domestic4, domestic6)} == {
        "abroad": (wanted[0], wanted[0]), "domestic": (wanted[1], wanted[1])}
    assert reached == [True] * len(near), "the neighbourhood is always reached"
    assert snapshot.differences(before, snapshot.take(lab)) == []

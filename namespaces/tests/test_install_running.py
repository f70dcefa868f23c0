"""The installed product under systemd: started by its socket, upgraded while connected, blocked and connected at boot, removed.

systemd runs as the first process of a machine made of an overlay, so its units, fences and restarts are the real ones.
"""

import json
import os
import shutil
import subprocess

import pytest

from lablib import netns
from lablib.installing import cleared, packages, user_directory, wait
from lablib.machine import Machine, Unavailable

# Refused at once, where the line would let a proof wait for its timeout.
PROBE = {"TROCKET_PROBE_URL": "https://127.0.0.1:9/"}


@pytest.fixture(scope="module")
def booted():
    """A machine with the package installed, alice a member with a subscription."""
    try:
        made = Machine(systemd=True).start()
    except Unavailable as reason:
        pytest.skip(str(reason))
    cleared(made)
    for package in packages():
        shutil.copy(package, made.share)
    made.run("dpkg", "--no-triggers", "--install", "/share/old.deb")
    made.run("usermod", "-aG", "trocket", "alice")
    wait(lambda: user_directory(made, "alice"), "the directory of a new member")
    link = "ss://YWVzLTEyOC1nY206cGFzcw@198.51.100.1:8388#first\nss://YWVzLTEyOC1nY206cGFzcw@198.51.100.1:8389#second\n"
    made.run("trocket-controller", "import", "-", user="alice", input=link)
    yield made
    made.stop()


def status(machine):
    """The `status` object alice sees."""
    return json.loads(
        machine.run("trocket-controller", "status", "--json", user="alice", environment=PROBE, check=False).stdout)


def worker_pid(machine):
    """The worker's process id inside the machine; 0 when it does not run."""
    return int(machine.run("systemctl", "show", "--value", "--property=MainPID", "trocket-tunnel.service").stdout)


def connect(machine, *more):
    """Connects as alice. The line leads nowhere, so the tunnel stands and its proof fails."""
    machine.run("trocket-controller", "connect", "--wait", "5", *more, user="alice", environment=PROBE, check=False)
    wait(lambda: status(machine).get("state") == "connected", "connected")


def host(machine):
    """What there is on the machine's network."""
    return [machine.run(*command).stdout for command in (
        ("ip", "-o", "link"), ("ip", "rule"), ("ip", "-6", "rule"), ("ip", "route", "show", "table", "all"),
        ("nft", "list", "ruleset"))]


def disconnected(machine):
    machine.run("trocket-controller", "disconnect", user="alice", check=False)
    machine.run("systemctl", "stop", "trocket-tunnel.service")


def test_the_socket_starts_a_worker_with_one_capability(booted):
    assert machine_state(booted, "trocket-tunnel.socket") == "active"
    assert status(booted)["state"] == "disconnected"
    pid = worker_pid(booted)
    fields = dict(line.split(":\t", 1) for line in booted.run("cat", f"/proc/{pid}/status").stdout.splitlines() if ":\t" in line)
    assert {fields[name] for name in ("CapPrm", "CapEff", "CapBnd")} == {f"{1 << 12:016x}"}
    assert {fields[name] for name in ("CapInh", "CapAmb")} == {"0" * 16}
    assert fields["NoNewPrivs"].strip() == "1" and fields["Seccomp"].strip() == "2"
    assert fields["Uid"].split() == [booted.run("id", "-u", "trocket").stdout.strip()] * 4


def machine_state(machine, unit):
    return machine.run("systemctl", "is-active", unit, check=False).stdout.strip()


def test_a_tunnel_stands_inside_the_hardened_service(booted):
    before = host(booted)
    connect(booted, "first", "--no-kill-switch")
    told = status(booted)
    assert told["verified"] and told["dataPath"] == "redirect" and told["line"] == "first", told
    assert "trocket0" in booted.run("ip", "-o", "link").stdout
    booted.run("trocket-controller", "disconnect", user="alice")
    assert host(booted) == before


def test_an_upgrade_replaces_an_idle_worker(booted):
    status(booted)
    before = worker_pid(booted)
    booted.run("dpkg", "--no-triggers", "--install", "/share/new.deb")
    wait(lambda: worker_pid(booted) not in (0, before), "another worker")
    assert status(booted)["state"] == "disconnected"
    booted.run("dpkg", "--no-triggers", "--install", "/share/old.deb")


def test_an_upgrade_leaves_a_tunnel_without_kill_switch_alone(booted):
    connect(booted, "second", "--no-kill-switch")
    before, link = worker_pid(booted), booted.run("ip", "-o", "link", "show", "trocket0").stdout
    said = booted.run("dpkg", "--no-triggers", "--install", "/share/new.deb")
    assert "systemctl restart trocket-tunnel" in said.stderr
    assert worker_pid(booted) == before and booted.run("ip", "-o", "link", "show", "trocket0").stdout == link
    told = status(booted)
    assert (told["state"], told["line"]) == ("connected", "second")
    disconnected(booted)
    booted.run("dpkg", "--no-triggers", "--install", "/share/old.deb")


def test_an_upgrade_with_kill_switch_never_opens_it_and_keeps_the_line(booted):
    connect(booted, "second", "--kill-switch")
    before = worker_pid(booted)
    # Every few milliseconds: is there a chain at the output hook that rejects?
    watch = subprocess.Popen(
        booted.command("sh", "-c", "while [ ! -e /run/seen-enough ]; do nft list ruleset >/run/rules; grep -q 'hook output' /run/rules && "
                       "grep -q reject /run/rules && echo shut || echo open; sleep 0.01; done"),
        stdout=subprocess.PIPE, text=True, preexec_fn=netns.die_with_parent)
    try:
        booted.run("dpkg", "--no-triggers", "--install", "/share/new.deb")
        wait(lambda: worker_pid(booted) not in (0, before), "another worker")
        wait(lambda: status(booted).get("state") == "connected", "connected again")
    finally:
        booted.run("touch", "/run/seen-enough")
        seen = watch.communicate(timeout=60)[0].split()
    assert seen.count("shut") >= 3 and "open" not in seen, seen
    told = status(booted)
    assert (told["line"], told["killSwitch"]) == ("second", True)
    disconnected(booted)
    booted.run("dpkg", "--no-triggers", "--install", "/share/old.deb")


def test_the_early_block_lets_only_the_engine_out(booted):
    attempt = "import socket\ntry: socket.create_connection(('203.0.113.7', 80), 1)\nexcept OSError as e: print(e.errno)"

    def tried(user):
        return booted.run("python3", "-c", attempt, user=user, environment={"PATH": "/usr/bin:/bin"}).stdout.strip()

    # A gateway that is there and silent: what gets out times out, what is refused has an errno.
    gateway = ("198.51.100.1", "lladdr", "02:00:00:00:00:01", "dev", "eth0")
    booted.run("ip", "neigh", "replace", *gateway, "nud", "permanent")
    try:
        assert tried("alice") == "None"
        booted.run("systemctl", "start", "trocket-block.service")
        assert tried("alice") in ("13", "111", "113")
        assert tried("trocket-engine") == "None"
        booted.run("systemctl", "stop", "trocket-block.service")
        assert tried("alice") == "None"
    finally:
        booted.run("systemctl", "stop", "trocket-block.service")
        booted.run("ip", "neigh", "del", *gateway)


def test_reconnecting_at_boot(booted):
    booted.run("systemctl", "start", "trocket-block.service")
    connect(booted, "second", "--kill-switch")
    disconnected(booted)
    booted.run("systemctl", "start", "--no-block", "trocket-reconnect@alice.service")
    told = wait(lambda: (now := status(booted)).get("state") == "connected" and now, "connected at boot", 30)
    assert (told["line"], told["killSwitch"]) == ("second", True)
    booted.run("systemctl", "stop", "trocket-reconnect@alice.service", "trocket-block.service")
    disconnected(booted)


def test_removing_while_connected_opens_the_network_again(booted):
    disconnected(booted)
    before = host(booted)
    connect(booted, "first", "--kill-switch")
    assert host(booted) != before
    booted.run("dpkg", "--purge", "trocket")
    assert host(booted) == before
    for path in ("/var/lib/trocket", "/run/trocket", "/usr/lib/trocket", "/usr/bin/trocket-controller"):
        assert not os.path.exists(booted.path(path)), path
    assert booted.run("sh", "-c", "ps -eo args | grep -c '[s]ing-box run'", check=False).stdout.strip() == "0"
    assert "trocket" not in booted.run("getent", "group").stdout

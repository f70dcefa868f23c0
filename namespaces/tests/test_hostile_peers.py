"""Hostile peers on the command socket: the worker survives all of them and serves the honest user meanwhile."""

import json
import os
import pwd
import signal
import subprocess

import pytest

from lablib import lines, plan, snapshot
from lablib.lab import REPOSITORY, wait_until
from lablib.product import process_status

PEERS = os.path.join(REPOSITORY, "namespaces", "leaklib", "peers.py")
ATTACKER = 61009
FIRST = lines.LINES[0][1]


def command(product, *arguments, uid=ATTACKER, in_group=True):
    return product.lab.user_command("/usr/bin/python3", "-I", PEERS, product.socket, *arguments, uid=uid, in_group=in_group)


@pytest.fixture
def attack(product):
    """Starts attackers who hold what they have; they end with the test."""
    started = []

    def start(*arguments, **options):
        process = subprocess.Popen(command(product, *arguments, **options), stdout=subprocess.PIPE, text=True)
        started.append(process)
        for line in process.stdout:
            if line == "ready\n":
                return process
        raise AssertionError(f"the attacker ended with {process.wait()}")

    yield start
    for process in started:
        process.kill()
        process.wait()


def ask(product, call, **options):
    done = subprocess.run(command(product, "ask", call, **options), capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout) if done.stdout.strip() else {"refused": done.stderr.splitlines()[-1]}


def descriptors(product):
    return len(os.listdir(f"/proc/{product.worker.pid}/fd"))


def serves(product):
    """The worker is the one it was and answers the honest user."""
    pid = product.worker.pid
    for _ in range(5):
        told = ask(product, "status", uid=plan.USER)
        assert "ok" in told, told
    assert product.worker.poll() is None and product.worker.pid == pid
    return True


@pytest.fixture(autouse=True)
def unharmed(product):
    """Whatever a test does: the same worker, and no descriptor or memory kept for those who are gone."""
    held, memory = descriptors(product), int(process_status(product.worker.pid)["VmRSS"].split()[0])
    yield
    wait_until(lambda: descriptors(product) <= held, 10, "the descriptors of those who are gone are closed")
    assert serves(product)
    assert int(process_status(product.worker.pid)["VmRSS"].split()[0]) - memory <= 4096


def test_a_thousand_connections(product, attack):
    attack("crowd", "1000")
    assert serves(product)
    product.connect(FIRST)
    assert product.status()["state"] == "connected"
    product.controller("disconnect")


def test_a_thousand_connections_of_strangers(product):
    done = subprocess.run(command(product, "ask", "status", in_group=False), capture_output=True, text=True, timeout=60)
    assert "Permission denied" in done.stderr
    strangers = subprocess.Popen(command(product, "crowd", "1000", in_group=False), stdout=subprocess.PIPE, text=True)
    try:
        assert serves(product), "meanwhile"
        assert strangers.stdout.readline() == "0\n", "of a thousand none was let in"
    finally:
        strangers.kill()
        strangers.wait()
    assert serves(product)


def test_peers_that_never_read(product, attack):
    attack("deaf", "60")
    product.connect(FIRST)
    assert serves(product)
    product.controller("disconnect")


def test_half_frames(product, attack):
    attack("partial", "63")
    assert serves(product)


def test_a_frame_without_an_end(product):
    done = subprocess.run(command(product, "giant"), capture_output=True, text=True, timeout=60)
    told = json.loads(done.stdout)
    assert told["sent"] < 8 << 20, "it was cut off"
    assert serves(product)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_broken_frames(product, seed):
    done = subprocess.run(command(product, "fuzz", "600", str(seed)), capture_output=True, text=True, timeout=120)
    told = json.loads(done.stdout)
    assert told["answers"] >= 20, "it talked back"
    assert product.status()["state"] == "disconnected"


def test_descriptors_nobody_asked_for(product, attack):
    held = descriptors(product)
    attack("descriptors", "40")
    assert serves(product)
    # Forty connections and not one descriptor of the eight thousand they sent along.
    assert descriptors(product) <= held + 41


@pytest.mark.parametrize("call", ["logs", "connect"])
def test_an_owner_who_asks_without_reading(product, attack, call):
    product.connect(FIRST)
    engine = product.status()["engine"]["pid"]
    attack("flood", call, "20", "400", uid=plan.USER)
    assert serves(product)
    status = product.status()
    assert status["state"] == "connected" and status["engine"]["pid"] == engine
    product.controller("disconnect")
    assert serves(product)


def test_callers_that_hang_up_at_once(product):
    for _ in range(30):
        process = subprocess.Popen(command(product, "crowd", "50"), stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert serves(product)


def test_the_engines_user_is_refused_even_in_the_group(product):
    engine = pwd.getpwnam("trocket-engine").pw_uid
    told = ask(product, "status", uid=engine)
    assert told["error"]["code"] == "not-permitted"


def test_a_tunnel_belongs_to_its_user(product):
    product.connect(FIRST)
    for call in ("disconnect", "connect", "confirm"):
        assert ask(product, call)["error"]["code"] == "not-owner"
    told = ask(product, "status")["ok"]
    assert told["state"] == "connected" and told["mine"] is False and told["api"] is None
    assert ask(product, "status", uid=plan.USER)["ok"]["api"]
    product.controller("disconnect")


def test_attacks_leave_the_host_as_it_was(product, lab):
    assert snapshot.own_objects(lab) == []

"""What dies and what a crash left: the next worker finds its way, and `disconnect` gives the machine back as it was."""

import json
import os
import shutil
import signal
import subprocess

import pytest

from lablib import lines, plan, snapshot
from lablib.lab import wait_until
from lablib.product import Product, children

FIRST, SECOND = lines.LINES[0][1], lines.LINES[1][1]


def kill_process(pid):
    """kill -9 that does not mind coming late."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def test_engine_that_keeps_dying_is_given_up_with_the_cause(product, lab):
    before = snapshot.take(lab)
    product.connect(FIRST)

    def given_up():
        status = product.status()
        if status.get("engine"):
            kill_process(status["engine"]["pid"])
        return status.get("state") == "blocked"

    wait_until(given_up, 90, "the engine is given up", interval=0.1)
    reason = product.status()["reason"]
    assert reason["code"] == "engine-exited" and "signal 9" in reason["message"] and reason["remedy"]
    assert lab.page(f"https://{plan.WEB4}/ip", "--max-time", "2", check=False) is None
    assert lab.exec("client", "ping", "-c", "1", "-W", "10", plan.LAN4, check=False).returncode == 0
    product.connect(FIRST)
    assert lab.page(f"https://{plan.WEB4}/ip")["address"] == lines.exit4(FIRST)
    product.controller("disconnect")
    assert snapshot.differences(before, snapshot.take(lab)) == []


def test_unconfirmed_connection_is_undone_though_the_engine_died_meanwhile(product, lab):
    before = snapshot.take(lab)
    conversation = lab.hold_conversation("world", plan.CLIENT4)
    product.connect(FIRST, "--confirm", "15")
    kill_process(product.status()["engine"]["pid"])
    product.wait_for("disconnected", 60)
    assert product.status()["reason"]["code"] == "not-confirmed"
    assert lab.page(f"https://{plan.WEB4}/ip")["address"] == plan.CLIENT4
    told = conversation.end()
    assert told["error"] is None and told["received"] > 0
    assert snapshot.differences(before, snapshot.take(lab)) == []


def test_without_its_engine_host_the_worker_says_so_and_ends_with_disconnect(product, lab):
    before = snapshot.take(lab)
    product.connect(FIRST, "--kill-switch")
    kill_process(children(product.worker.pid)[0])
    product.wait_for("blocked", 10)
    assert lab.page(f"https://{plan.WEB4}/ip", "--max-time", "2", check=False) is None
    done = product.controller("connect", FIRST, "--kill-switch", "--json", check=False)
    assert json.loads(done.stdout)["error"]["code"] == "engine-host-gone"
    product.controller("disconnect")
    assert snapshot.differences(before, snapshot.take(lab)) == []
    assert product.worker.wait(timeout=60) == 0
    product.start()


# MARK: a worker that died, and the one after it

def test_behind_the_kill_switch_the_next_worker_connects_again(product, lab):
    before = snapshot.take(lab)
    product.connect(FIRST, "--kill-switch")
    product.kill()
    product.start()
    status = product.wait_for("connected", 15)
    assert status["killSwitch"] and status["owner"] == plan.USER
    assert lab.page(f"https://{plan.WEB4}/ip")["address"] == lines.exit4(FIRST)
    product.controller("disconnect")
    assert snapshot.differences(before, snapshot.take(lab)) == []


def test_a_kill_switch_removed_behind_a_dead_worker_is_closed_again_by_the_next(product, lab):
    def is_closed():
        return "trocket_guard" in lab.exec("client", "nft", "list", "tables").stdout

    before = snapshot.take(lab)
    product.connect(FIRST, "--kill-switch")
    product.kill()
    # As nftables.service and firewalld do when they are reloaded: the table has no owner any more.
    lab.exec("client", "nft", "flush", "ruleset")
    product.start()
    product.status()
    assert is_closed(), "before there is an engine"
    status = product.wait_for("connected", 15)
    assert status["killSwitch"] and status["verified"] and status["owner"] == plan.USER
    assert lab.page(f"https://{plan.WEB4}/ip")["address"] == lines.exit4(FIRST)
    # One that was asked to end left it closed, too.
    product.stop()
    assert is_closed() and lab.page(f"https://{plan.WEB4}/ip", "--max-time", "2", check=False) is None
    lab.exec("client", "nft", "flush", "ruleset")
    product.start()
    product.wait_for("connected", 15)
    product.controller("disconnect")
    assert snapshot.differences(before, snapshot.take(lab)) == []
    # What `disconnect` has opened stays open.
    product.kill()
    product.start()
    assert product.status()["state"] == "disconnected" and not is_closed()


def test_without_the_kill_switch_the_next_worker_waits_to_be_asked(product, lab):
    before = snapshot.take(lab)
    product.connect(FIRST, "--no-kill-switch")
    product.kill()
    product.start()
    assert product.status()["state"] == "disconnected"
    assert snapshot.differences(before, snapshot.take(lab)) == []


def test_workers_that_keep_dying_leave_the_host_blocked_with_the_cause(product, lab):
    before = snapshot.take(lab)
    product.connect(FIRST, "--kill-switch")
    for _ in range(7):
        product.kill()
        product.start()
        status = product.status()
    assert status["state"] == "blocked" and status["reason"]["code"] == "worker-died" and status["reason"]["remedy"]
    assert not children(children(product.worker.pid)[0]), "no engine is started any more"
    assert lab.page(f"https://{plan.WEB4}/ip", "--max-time", "2", check=False) is None
    product.connect(FIRST)
    product.kill()
    product.start()
    product.wait_for("connected", 15)
    product.controller("disconnect")
    assert snapshot.differences(before, snapshot.take(lab)) == []


def test_a_connection_nobody_confirmed_is_undone_by_the_next_worker(product, lab):
    before = snapshot.take(lab)
    product.connect(FIRST, "--kill-switch", "--confirm", "15")
    product.kill()
    product.start()
    product.wait_for("disconnected", 60)
    assert product.status()["reason"]["code"] == "not-confirmed"
    assert snapshot.differences(before, snapshot.take(lab)) == []


# MARK: connections that can only hang

def quiet_connection(lab):
    """A program that waits for a server's word over a connection which is open, and says how that ended."""
    program = ("import socket, sys\n"
               f"s = socket.create_connection(('{plan.WEB4}', 443), 5)\n"
               "print('open', flush=True)\n"
               "s.settimeout(50)\n"
               "try: print('read', len(s.recv(1)))\n"
               "except OSError as problem: print(type(problem).__name__)\n")
    waiting = subprocess.Popen(lab.user_command("/usr/bin/python3", "-I", "-c", program), stdout=subprocess.PIPE, text=True)
    assert waiting.stdout.readline() == "open\n"
    return waiting


@pytest.mark.parametrize("end", ["engine killed", "disconnect"])
def test_programs_learn_that_their_connections_are_gone(product, lab, end):
    product.connect(FIRST)
    waiting = quiet_connection(lab)
    if end == "disconnect":
        product.controller("disconnect")
    else:
        kill_process(product.status()["engine"]["pid"])
    told, _ = waiting.communicate(timeout=60)
    assert told.strip() in ("ConnectionAbortedError", "ConnectionResetError", "read 0"), told
    product.controller("disconnect")


# MARK: two workers

def test_second_worker_names_the_first_and_harms_nothing(connected, lab):
    second = Product(lab)
    folders = {name: lab.path(f"second-{name}") for name in ("state", "run")}
    second.worker_command = lambda *more, engine=None: lab.command(
        "client", lab.path("bin", "trocket-tunnel"), "--state-root", folders["state"], "--run-dir", folders["run"],
        "--engine", lab.engine, "--rule-sets", lab.path("rule-sets"), "--user", plan.USER)
    second.socket = os.path.join(folders["run"], "command.sock")
    shown = connected.controller("status", "--json").stdout
    second.start(wait=False)
    try:
        code = second.worker.wait(timeout=60)
        assert code not in (0, -11)
        assert str(connected.worker.pid) in second.worker_log().splitlines()[-1]
        status = connected.status()
        assert status["state"] == "connected" and status["verified"]
        assert status["engine"]["pid"] == json.loads(shown)["engine"]["pid"]
        assert lab.page(f"https://{plan.WEB4}/ip")["address"] == lines.exit4(FIRST)
    finally:
        second.stop()
        for folder in folders.values():
            shutil.rmtree(folder, ignore_errors=True)


# MARK: what was left

def test_disconnect_removes_what_a_crash_left_without_a_ledger(product, lab):
    before = snapshot.take(lab)
    product.connect(FIRST, "--kill-switch")
    product.kill()
    ledger = lab.path("run", "worker", "ledger.json")
    os.unlink(ledger)
    product.start()
    told = product.json("disconnect")
    assert snapshot.differences(before, snapshot.take(lab)) == [] and isinstance(told["repaired"], list)


def test_disconnect_names_what_it_repaired(product, lab):
    before = snapshot.take(lab)
    product.connect(FIRST, "--no-kill-switch")
    product.kill()
    lab.ip_text("client", "rule", "add", "priority", "100", "to", "192.0.2.0/24", "lookup", "main")
    try:
        product.start()
        product.controller("disconnect")
        rules = {rule["priority"] for rule in lab.ip("client", "rule", "show")}
        assert 100 in rules, "another program's rule stays"
    finally:
        lab.ip_text("client", "rule", "delete", "priority", "100")
    assert snapshot.differences(before, snapshot.take(lab)) == []


def test_another_programs_rule_with_our_number_is_named_and_kept(product, lab):
    lab.ip_text("client", "rule", "add", "priority", "7150", "from", "10.9.9.9", "lookup", "99")
    try:
        done = product.controller("connect", FIRST, "--json", check=False)
        told = json.loads(done.stdout)["error"]
        assert done.returncode != 0 and "7150" in told["message"] + told["remedy"]
        product.controller("disconnect", check=False)
        assert 7150 in {rule["priority"] for rule in lab.ip("client", "rule", "show")}
    finally:
        lab.ip_text("client", "rule", "delete", "priority", "7150")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"version": 99}', b"x" * 2_000_000],
                         ids=["empty", "torn", "not-text", "newer", "huge"])
def test_corrupt_ledger_is_named_and_what_was_left_is_found_anyway(product, lab, content):
    before = snapshot.take(lab)
    product.connect(FIRST, "--kill-switch")
    product.kill()
    ledger = lab.path("run", "worker", "ledger.json")
    owner = os.stat(ledger)
    with open(ledger, "wb") as file:
        file.write(content)
    os.chown(ledger, owner.st_uid, owner.st_gid)
    product.start()
    log = product.controller("logs", "--source", "worker").stdout
    assert "ledger.json cannot be used" in log.split("serving")[-2], log[-2000:]
    product.controller("disconnect")
    assert snapshot.differences(before, snapshot.take(lab)) == []


def test_ledger_that_belongs_to_another_is_not_believed(product, lab):
    before = snapshot.take(lab)
    product.connect(FIRST)
    product.kill()
    ledger = lab.path("run", "worker", "ledger.json")
    os.chown(ledger, plan.USER, plan.USER)
    product.start(wait=False)
    assert product.worker.wait(timeout=60) not in (0, -11)
    assert any(ledger in line for line in product.worker_log().splitlines()[-3:]), "it says which file is in the way"
    os.unlink(ledger)
    product.start()
    product.controller("disconnect")
    assert snapshot.differences(before, snapshot.take(lab)) == []

"""The states and events of the table: what is done to a tunnel while everybody keeps sending, and what may be seen then."""

import json
import os
import re
import signal
import sys
import time

from lablib import plan
from lablib.lab import wait_until

from .bench import BRIEF, DIRECT, FIRST, HERE, OTHERS, SECOND, SEEN, SILENT, Bench, Part, on
from .connecting import connecting, failed_connect, restart, without_tunnel
from .ends import ask, disconnecting, engine_fails, engine_host_killed, upgraded, worker_killed, worker_restarted
from .uplinks import (hostile_routes, move_back, move_uplink, no_default_route, prefix_changed, second_client, suspended, uplink_bounced,
                      uplink_moved, uplink_replaced)

# What picks its own way, so that only the guard holds it: it shows how long the guard was away.
BOUND = ("address", "device", "any")
REPAIR_MS = 250


def patiently(bench, *verb):
    """A verb for the engine, which everybody's probes keep busy: on a loaded machine it may need to be asked again."""
    wait_until(lambda: bench.product.controller(*verb, check=False).returncode == 0, 30, " ".join(verb))


def steady(bench, kill_switch):
    bench.window(on(kill_switch), "connected", least=1.2)


def switching(bench, kill_switch):
    def act():
        for line in (SECOND, FIRST):
            patiently(bench, "select", line)
            bench.lab.page(f"https://{plan.WEB4}/ip", check=False)

    bench.window(on(kill_switch), "switching lines", act)


def modes(bench, kill_switch):
    def act():
        patiently(bench, "mode", "global")
        there = time.time()
        bench.everybody()
        back = time.time()
        patiently(bench, "mode", "rule")
        return [there, back]

    bench.phases(on(kill_switch), act, [Part("changing to Global mode"), Part("Global mode", SILENT, {"domestic": OTHERS}),
                                        Part("changing to Rule mode")])


def engine_killed(bench, kill_switch):
    def act():
        engine = bench.engine()
        os.kill(engine, signal.SIGKILL)
        bench.wait_connected(other_than=engine)

    bench.window(on(kill_switch), "engine killed", act)


def new_profile(bench, kill_switch):
    """The subscription is fetched anew and the engine started again with what came."""
    def act():
        engine = bench.engine()
        os.chmod(profile, 0o640)
        with open(profile, encoding="utf-8") as file:
            document = json.load(file)
        document["outbounds"].append({"type": "direct", "tag": f"again-{time.monotonic_ns()}"})
        with open(profile, "w", encoding="utf-8") as file:
            json.dump(document, file)
        # Of the worker itself: the controller would first make the profile anew, for it is not its subscription's.
        ask(bench, "connect")
        bench.wait_connected(other_than=engine)

    profile = os.path.join(bench.product.state_directory, "profile.json")
    bench.window(on(kill_switch), "engine restarted with a new profile", act)


def rules_flushed(bench, kill_switch):
    def act():
        for family in ("-4", "-6"):
            bench.client("ip", family, "rule", "flush")
            bench.client("ip", family, "rule", "add", "priority", "32766", "table", "main")
            if family == "-4":
                bench.client("ip", family, "rule", "add", "priority", "32767", "table", "default")
        time.sleep(0.5)

    bench.window(on(kill_switch), "all rules flushed", act)


def tables_flushed(bench, kill_switch):
    def act():
        for family in ("-4", "-6"):
            for table in ("7100", "7101"):
                bench.client("ip", family, "route", "flush", "table", table, check=False)
        time.sleep(0.5)

    bench.window(on(kill_switch), "our tables flushed", act)


def link_deleted(bench, kill_switch):
    def act():
        bench.client("ip", "link", "delete", "trocket0")
        time.sleep(0.6)

    bench.window(on(kill_switch), "our link deleted", act)


def guard_deleted(bench, kill_switch):
    """The table has an owner and the kernel refuses; with the switch on only since Linux 6.9, before that it is put back within
    the interval."""
    is_held = not kill_switch or tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= (6, 9)

    def act():
        bench.client("nft", "flush", "ruleset", check=False)
        bench.track(bench.tracked)
        bench.mark()
        if is_held:
            assert bench.client("nft", "delete", "table", "inet", "trocket_guard", check=False).returncode != 0
        time.sleep(0.5)

    brief = {origin: BRIEF for origin in (*BOUND, "before")}
    bench.window(on(kill_switch), "nft flushed, guard deleted", act, exceptions=None if is_held else brief, brief_ms=REPAIR_MS,
                 note="the kernel refuses others: the table has an owner" if is_held else
                 f"bound sockets only, until repaired: {REPAIR_MS} ms")


def guard_away(bench, kill_switch):
    """The proof that the bound rows would show it: the worker is stopped, and its guard deleted through its own socket."""
    def act():
        began = time.time()
        bench.product.worker.send_signal(signal.SIGSTOP)
        try:
            bench.client(sys.executable, "-I", os.path.join(HERE, "guard.py"), "away", str(bench.product.worker.pid))
            down = bench.guard("down", began)
            bench.everybody()
            move_uplink(bench)
            moved = time.time()
            bench.everybody()
            still = time.time()
            move_back(bench)
        finally:
            bench.product.worker.send_signal(signal.SIGCONT)
        return [down, moved, still, bench.guard("up", still)]

    gone = {"address": SEEN, "device": SEEN, "any": DIRECT, "before": DIRECT}
    note = "bound sockets are seen, so their silence means something; the worker is stopped and its guard deleted through its socket"
    bench.phases(on(kill_switch), act, [
        Part("about to lose the guard"), Part("no guard", SILENT, gone, note=note),
        Part("no guard, way out by another uplink", SILENT, gone, note=note),
        Part("worker goes on", DIRECT, note="until the guard is back: the worker was stopped and its guard deleted"),
        Part("guard is back")], least=0.5)


SHORT = (steady, modes, engine_killed, rules_flushed, tables_flushed, link_deleted, guard_deleted, guard_away, no_default_route,
         hostile_routes, uplink_moved)
FULL = (steady, switching, modes, engine_killed, new_profile, rules_flushed, tables_flushed, link_deleted, guard_deleted, guard_away,
        no_default_route, hostile_routes, uplink_bounced, uplink_replaced, prefix_changed, uplink_moved, suspended,
        second_client("sing-box"), second_client("mihomo"), engine_fails, engine_host_killed, upgraded, worker_restarted)


def run(bench: Bench, full=False, switches=(False, True), only=()):
    """Goes through everything (or the events named), once for each position of the kill switch, in one of which the kernel
    tracks connections already."""
    without_tunnel(bench)
    chosen = [event for event in (FULL if full else SHORT) if not only or event.__name__ in only]
    for kill_switch in switches:
        bench.track((bench.rp_filter + kill_switch) % 2 == 0)
        for event in (failed_connect, connecting, *chosen, worker_killed, disconnecting):
            try:
                event(bench, kill_switch)
            except Exception as problem:  # one event that goes wrong must not hide what the others would show
                bench.broken.append(f"kill switch {on(kill_switch)}, {event.__name__}: {type(problem).__name__}: {problem}")
                recover(bench, kill_switch, event not in (failed_connect, disconnecting))
    return bench.judge()


def recover(bench, kill_switch, connected=True):
    """Gets back to a tunnel that is up, or to none, after an event went wrong."""
    try:
        restart(bench)
        if connected:
            bench.connect(kill_switch)
    except Exception as problem:
        bench.broken.append(f"and then: {problem}")

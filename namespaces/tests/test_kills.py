"""Whatever dies, in whatever state: `disconnect` gives the machine back as it was. Longer with --kills."""

import collections
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import time

from lablib import lines, snapshot
from lablib.lab import REPOSITORY, wait_until
from lablib.product import children, process_status

FIRST, SECOND = lines.LINES[0][1], lines.LINES[1][1]

# Every state, and whom to kill in it at least once: of whom there is somebody, and the controller where it does something.
KILLS = [(state, victim) for state, everybody in {
    "connecting": ("controller", "worker", "engine host", "engine"),
    "connected": ("worker", "engine host", "engine"),
    "switching": ("controller", "worker", "engine host", "engine"),
    "reconnecting": ("worker", "engine host", "engine"),
    "blocked": ("worker", "engine host"),
    "disconnecting": ("controller", "worker", "engine host", "engine"),
}.items() for victim in everybody]
# The controller's name in its own process, which until then is what starts it in the lab. The kernel keeps fifteen letters.
CONTROLLER = "trocket-controller"[:15]
# What the controller does meanwhile, where it is not just asked how things are.
DOES = {"switching": ["select", SECOND], "disconnecting": ["disconnect"]}


def kill_process(pid):
    """kill -9 that does not mind coming late."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Listener:
    """Hears of every change of a worker's state, as root."""

    def __init__(self, product):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.connect(product.socket)
        self.connection.sendall(b'{"v":1,"id":1,"call":"subscribe"}\n{"v":1,"id":2,"call":"status"}\n')
        self.connection.setblocking(False)
        self.heard, self.last = b"", None

    def state(self):
        """The state it was in when it last spoke."""
        try:
            while told := self.connection.recv(65536):
                self.heard += told
        except (BlockingIOError, ConnectionResetError):
            pass
        *lines, self.heard = self.heard.split(b"\n")
        for told in map(json.loads, lines):
            self.last = (told.get("status") or told.get("ok") or {}).get("state", self.last)
        return self.last

    def close(self):
        self.connection.close()


def victims(product, command):
    """The processes that may be killed now, by name."""
    found = {"worker": product.worker.pid}
    # What has ended is nobody's victim, but still there until it is waited for.
    if command.returncode is None and process_status(command.pid)["Name"].strip() == CONTROLLER and command.poll() is None:
        found["controller"] = command.pid
    host = children(product.worker.pid)[:1]
    if host:
        found["engine host"] = host[0]
        if below := children(host[0]):
            found["engine"] = below[0]
    return found


@contextlib.contextmanager
def brought_to(product, lab, state, kill_switch):
    """Has a state come about; gives the controller's process that brings it about, or is there meanwhile."""
    connect = ["connect", FIRST, kill_switch, "--wait", "20"]
    aside = lab.engine + ".aside"
    if state != "connecting":
        product.controller(*connect)
    if state in ("reconnecting", "blocked"):
        if state == "blocked":
            os.rename(lab.engine, aside)
        kill_process(product.status()["engine"]["pid"])
    command = None
    try:
        if state == "blocked":
            # Asked to connect, it does not wait before it tries once more, and counts no failure less.
            def is_blocked():
                peer = os.path.join(REPOSITORY, "namespaces", "leaklib", "peers.py")
                lab.user("/usr/bin/python3", "-I", peer, product.socket, "say", "connect")
                return product.status().get("state") == "blocked"

            wait_until(is_blocked, 20, "the engine is given up")
        command = subprocess.Popen(
            lab.user_command(*product.controller_command(*(connect if state == "connecting" else DOES.get(state, ["status"])))),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        yield command
    finally:
        if command:
            command.kill()
            command.wait()
        if os.path.exists(aside):
            os.rename(aside, lab.engine)


def bring_down(product, killed):
    """Disconnects as a user would after a crash: starts a worker if there is none, then disconnects."""
    if product.worker.poll() is not None:
        product.start()
        killed = []
    done = product.controller("disconnect", "--json", check=False)
    if done.returncode:
        # It was on its way out already; that the tunnel is down all the same, the snapshot shows before there is another worker.
        assert json.loads(done.stdout)["error"]["code"] in ("worker-gone", "worker-not-running"), done.stdout
        assert "engine host" in killed, "no other worker ends by itself"
    if "engine host" in killed:
        assert product.worker.wait(timeout=60) == 0, "it has no engine host, and ends once the tunnel is down"


def test_random_kills_leave_no_trace(product, lab, request):
    dice = random.Random(request.config.getoption("--seed"))
    kills, before, seen = request.config.getoption("--kills"), snapshot.take(lab), collections.Counter()
    # First each of them as soon as the state is reached, then by lot; what was missed is tried again.
    due = dice.sample(KILLS, k=min(kills, len(KILLS)))
    wanted, number = list(due), 0
    while number < kills or (due and number < kills + len(KILLS)):
        state, victim = due.pop(0) if due else (dice.choice(KILLS)[0], None)
        shown = {"switching": "connected"}.get(state, state)
        kill_switch = dice.choice(("--kill-switch", "--no-kill-switch"))
        told, killed = f"kill {number}: {state}, {kill_switch}", []
        number += 1
        listener = Listener(product)
        with brought_to(product, lab, state, kill_switch) as command:
            if victim:
                def is_there():
                    is_over = command.poll() is not None and state in (*DOES, "connecting")
                    return is_over or (listener.state() == shown and victim in victims(product, command))

                wait_until(is_there, 20, f"{told}, {victim} is there", interval=0.001)
            else:
                time.sleep(dice.choice((0.2, 0.8)) * dice.random())  # the moment is what is drawn by lot
            chosen = victims(product, command)
            is_reached = listener.state() == shown and (state != "switching" or command.poll() is None)
            for name in [victim] if victim else dice.sample(sorted(chosen), k=min(len(chosen), dice.choice((1, 1, 2)))):
                if name not in chosen:
                    continue
                told += f", {name} killed"
                kill_process(chosen[name])
                killed.append(name)
                if name == "worker":
                    product.worker.wait(timeout=60)
                if is_reached:
                    seen[state, name] += 1
            time.sleep(dice.choice((0, 0.1, 0.4)))
        listener.close()
        if victim and not seen[state, victim]:
            due.append((state, victim))
        try:
            bring_down(product, killed)
            assert snapshot.differences(before, snapshot.take(lab)) == []
        except (AssertionError, subprocess.TimeoutExpired) as problem:
            raise AssertionError(told) from problem
        if product.worker.poll() is not None:
            product.start()
    print(f"{number} kills:", dict(seen))
    assert not [pair for pair in wanted if not seen[pair]], "never reached"
    product.controller("select", FIRST, check=False)

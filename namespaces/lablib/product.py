"""The product in the lab: its two programs installed as root's own, the worker started as init would, the controller run
as the user."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time

from . import keeper, netns, plan
from .lab import PATIENCE, REPOSITORY, Lab, wait_until

NET_ADMIN = 1 << 12
PROGRAMS = ("trocket-tunnel", "trocket-controller")


def build_directory():
    """Where the programs were built: TROCKET_BUILD, else the release build, else the debug build."""
    candidates = [os.environ.get("TROCKET_BUILD", ""), os.path.join(REPOSITORY, ".build", "release"),
                  os.path.join(REPOSITORY, ".build", "debug")]
    for candidate in candidates:
        if candidate and all(os.access(os.path.join(candidate, program), os.X_OK) for program in PROGRAMS):
            return candidate
    raise netns.CommandFailed("the programs are not built; run: swift build -c release --static-swift-stdlib")


class Product:
    """Trocket on the lab's user's machine."""

    def __init__(self, lab: Lab):
        self.lab = lab
        self.worker = None
        self.socket = lab.path("run", "command.sock")
        self.state_directory = lab.path("state", "users", str(plan.USER))
        for program in PROGRAMS:
            keeper.copy(os.path.realpath(os.path.join(build_directory(), program)), lab.path("bin", program))

    # MARK: the worker

    def worker_command(self, *more, engine=None):
        """The command line of the worker as root starts it on the user's machine."""
        return self.lab.command(
            "client", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", self.lab.path("bin", "trocket-tunnel"),
            "--state-root", self.lab.path("state"), "--run-dir", self.lab.path("run"),
            "--engine", engine or self.lab.engine, "--rule-sets", self.lab.path("rule-sets"),
            "--user", plan.USER, *more)

    def start(self, *more, engine=None, wait=True):
        """Starts the worker and returns when it serves: it has removed what the one before left."""
        log = open(self.lab.path("log", "worker.log"), "a", encoding="utf-8")
        self.worker = subprocess.Popen(self.worker_command(*more, engine=engine), stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log, preexec_fn=netns.die_with_parent)
        log.close()
        if wait:
            wait_until(self.serves, PATIENCE, "the worker serves", interval=0.002)

    def serves(self):
        """True when the worker takes requests, which is later than its socket takes connections; raises when it has ended."""
        log = self.lab.path("run", "worker", "worker.log")
        if not self.answers() or not os.path.exists(log):
            return False
        with open(log, encoding="utf-8", errors="replace") as file:
            return f"serving pid={self.worker.pid} " in file.read()

    def answers(self):
        """True when the worker's socket takes a connection; raises when the worker has ended."""
        if self.worker.poll() is not None:
            raise netns.CommandFailed(f"the worker ended with {self.worker.returncode}: {self.worker_log()[-2000:]}")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(self.socket)
            except OSError:
                return False
        return True

    def worker_log(self):
        """What the worker has said on its standard error."""
        with open(self.lab.path("log", "worker.log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self):
        """Asks the worker to end as init would, and waits; a worker that does not end is killed."""
        if self.worker is None or self.worker.poll() is not None:
            return
        self.worker.terminate()
        try:
            self.worker.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.worker.kill()
            self.worker.wait()

    def kill(self):
        """Kills the worker as a crash would."""
        self.worker.send_signal(signal.SIGKILL)
        self.worker.wait()

    # MARK: the controller

    def controller_command(self, *arguments):
        """A controller's command line, for the user."""
        return [self.lab.path("bin", "trocket-controller"), *arguments, "--state-dir", self.state_directory]

    def controller(self, *arguments, check=True, timeout=60, **options):
        """Runs the controller as the user; returns the CompletedProcess."""
        return self.lab.user(*self.controller_command(*arguments), check=check, timeout=timeout, **options)

    def json(self, *arguments, check=True, **options):
        """Runs the controller with --json and returns the object it printed."""
        done = self.controller(*arguments, "--json", check=check, **options)
        try:
            return json.loads(done.stdout)
        except ValueError as problem:
            raise netns.CommandFailed(
                f"{' '.join(map(str, arguments))} --json exited {done.returncode} and printed no JSON: {done.stdout[:500]!r} "
                f"{done.stderr[:500]!r}") from problem

    def status(self):
        """The object of `status --json`."""
        return self.json("status", check=False)

    def lines(self):
        """The objects of `lines --json`, by name."""
        listed = self.json("lines")
        return {line["name"]: line for line in (listed["lines"] if isinstance(listed, dict) else listed)}

    def connect(self, *arguments, wait=40):
        """Connects and returns (seconds it took, the object it printed)."""
        began = time.monotonic()
        told = self.json("connect", *arguments, "--wait", str(wait), timeout=wait + PATIENCE)
        return time.monotonic() - began, told

    def wait_for(self, state, seconds=20):
        """Waits until `status` names a state and returns that status."""
        def reached():
            status = self.status()
            return status if status.get("state") == state else None

        return wait_until(reached, seconds, f"state {state}", interval=0.1)


# MARK: what /proc says

def process_status(pid):
    """/proc/PID/status as a dictionary."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def runs(pid):
    """Whether a process is there and not merely waiting to be reaped."""
    try:
        return process_status(pid)["State"][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def capabilities(pid):
    """The capability sets of a process as integers, by name: Inh Prm Eff Bnd Amb."""
    status = process_status(pid)
    return {name: int(status["Cap" + name], 16) for name in ("Inh", "Prm", "Eff", "Bnd", "Amb")}


def children(pid):
    """The ids of a process's children, whichever of its threads started them."""
    found = []
    # Of what has ended meanwhile there is nothing more to see.
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                    found += [int(child) for child in file.read().split()]
    return found

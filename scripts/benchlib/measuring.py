"""What several verbs measure alike: iperf3, small requests, processor time, memory, a program's way to its first answer."""

import contextlib
import json
import os
import subprocess
import time

from lablib import plan
from lablib.product import children, process_status

LOAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "load.py")
LOAD_PORT = 5301
PYTHON = ("/usr/bin/python3", "-I")
CONNECTIONS, CONNECTIONS_P99 = "new connections, 16 at once", "p99 of new connections"
CONNECTIONS_COST = "processor time, new connections"
TICKS = os.sysconf("SC_CLK_TCK")


# MARK: traffic

def iperf(contender, seconds, *arguments, to=plan.WEB4):
    """What iperf3 reports at its end, or None when it failed."""
    address, port = contender.way(to, plan.IPERF_PORT)
    try:
        done = contender.lab.exec(
            "client", "iperf3", "-c", address, "-p", port, "-J", "-t", seconds, "--connect-timeout", "3000", *arguments,
            check=False, timeout=seconds + 8)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout)["end"] if done.returncode == 0 else None


def tcp_rate(end):
    """Gbit/s that arrived."""
    return end["sum_received"]["bits_per_second"] / 1e9 if end else None


@contextlib.contextmanager
def answering(lab, host, address):
    """The server of small requests, on one host of the lab. Whoever closes a connection keeps its port for a minute, and
    28,000 ports for one destination are soon used up; so here, for every contender alike, a port may be taken again after
    a second (on the user's machine and the proxy server, the two that connect)."""
    for side in ("client", "abroad"):
        lab.exec(side, "sysctl", "-q", "-w", "net.ipv4.tcp_tw_reuse=1")
    server = lab.popen(host, *PYTHON, LOAD, "serve", address, LOAD_PORT, stdout=subprocess.PIPE)
    try:
        if server.stdout.readline() != "ready\n":
            raise RuntimeError(f"the server of small requests did not start on {host}")
        yield
    finally:
        server.kill()
        server.wait()


def small(contender, verb, seconds, at_once, to=plan.WEB4):
    """What load.py measured, or None when it failed."""
    address, port = contender.way(to, LOAD_PORT)
    try:
        done = contender.lab.exec("client", *PYTHON, LOAD, verb, address, port, seconds, at_once, check=False,
                                  timeout=seconds + 30)
    except subprocess.TimeoutExpired:
        return None
    told = json.loads(done.stdout) if done.returncode == 0 else None
    return told if told and told["count"] and not told["failed"] else None


CONNECTIONS_NOTES = [
    "New connections: 16 under way at a time, each with one request of 64 bytes, closed by the asking side. For every contender a",
    "port may be taken again after a second (tcp_tw_reuse on the two hosts that connect), and all but the engine alone log at info.",
    "Their processor time is the contender's, all its processes, and the asking program's, for a thousand of them.",
]


def connections(report, contender, seconds, to=plan.WEB4):
    """New connections, one small request each: how many a second, and what a thousand cost: the processor time of the
    contender and of the program that asks, as the kernel charges packets now to one, now to the other."""
    processes = contender.processes()
    before = processor_seconds(processes)
    told = small(contender, "connect", seconds, 16, to) or {}
    used = processor_seconds(processes) - before
    report.add(CONNECTIONS, contender.name, told.get("rate"), "1/s")
    report.add(CONNECTIONS_P99, contender.name, told.get("p99"), "ms")
    report.add(CONNECTIONS_COST, contender.name, (used + told["processor"]) / told["count"] * 1000 if told else None, "s/1,000")


# MARK: processes

def family(pid):
    """A process and everything below it."""
    found = [pid]
    for child in children(pid):
        found += family(child)
    return found


def processor_seconds(pids):
    """Processor time of these processes so far, in seconds."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def wakeups(pids):
    """How often the threads of these processes have gone to sleep of their own accord, which is how often they woke."""
    total = 0
    for pid in pids:
        for thread in os.listdir(f"/proc/{pid}/task"):
            total += int(process_status(f"{pid}/task/{thread}")["voluntary_ctxt_switches"])
    return total


def resident(pid):
    """Resident memory in MiB, shared pages included."""
    return int(process_status(pid)["VmRSS"].split()[0]) / 1024


def proportional(pid):
    """Proportional memory in MiB: a page that N processes share counts 1/N in each."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        for line in file:
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return None


TIMER = """
import json, os, sys, time
quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
for _ in range(int(sys.argv[1])):
    began = time.perf_counter()
    _, status, used = os.wait4(os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ, file_actions=quiet), 0)
    print(json.dumps([(time.perf_counter() - began) * 1000, used.ru_maxrss / 1024, status]))
"""


def runs(lab, command, count=1):
    """How long a user's program runs from its start to its end, in milliseconds, without the way into the lab, and its peak
    memory in MiB (never less than the 10 of the Python that starts it); None for a run that failed."""
    done = lab.user("/usr/bin/python3", "-I", "-c", TIMER, count, *command, timeout=60 * count)
    return [(took, peak) if status == 0 else None for took, peak, status in map(json.loads, done.stdout.splitlines())]


def run_times(lab, command, count=1):
    """Of `runs`, the milliseconds."""
    return [run and run[0] for run in runs(lab, command, count)]


def seconds_of(action):
    """How long something took, and what it returned."""
    began = time.monotonic()
    result = action()
    return time.monotonic() - began, result

"""Nothing grows, however often the tunnel comes and goes, and nothing of a dead engine is kept. Longer with --cycles."""

import os
import signal
import subprocess
import time

from lablib import lines
from lablib.lab import wait_until
from lablib.product import children, process_status

FIRST = lines.LINES[0][1]

CYCLES = """
import json, socket, sys
path, count = sys.argv[1], int(sys.argv[2])
stream = socket.socket(socket.AF_UNIX)
stream.connect(path)
lines = stream.makefile("rwb", buffering=0)
for number in range(count):
    # With the kill switch every other time: a guard that stays is made, and removed, in another way.
    for call in ({"call": "connect", "domesticAllowed": True, "killSwitch": number % 2 == 0}, {"call": "domestic", "on": True},
                 {"call": "disconnect"}):
        lines.write(json.dumps({"v": 1, "id": number, **call}).encode() + b"\\n")
        told = json.loads(lines.readline())
        assert "ok" in told, told
        if call["call"] == "domestic":
            lines.write(json.dumps({"v": 1, "id": number, "call": "status"}).encode() + b"\\n")
            told = json.loads(lines.readline())["ok"]
            assert told["domesticFastPath"], "the prefixes are in force"
            assert told["killSwitch"] == (number % 2 == 0)
"""


def usage(product, lab):
    """What a worker and its engine host hold, and what the kernel holds for them."""
    pids = [product.worker.pid, children(product.worker.pid)[0]]
    return {
        "descriptors": [len(os.listdir(f"/proc/{pid}/fd")) for pid in pids],
        "children": [len(children(pid)) for pid in pids],
        "links": len(lab.ip("client", "link", "show")),
        "rules": [len(lab.ip("client", family, "rule", "show")) for family in ("-4", "-6")],
        "routes": [len(lab.ip("client", family, "route", "show", "table", "all")) for family in ("-4", "-6")],
        "nft": lab.exec("client", "nft", "list", "ruleset").stdout,
        "files": [sorted(os.listdir(lab.path(*directory)))
                  for directory in (("run", "worker"), ("run", "engine"), ("state", "engine"))],
    }


# What may have come to each of what `resident` tells, however many cycles there were: noise of the allocator, and code that is
# run late.
NOISE = (768, 768, 256, 256)


def resident(product):
    """What worker and engine host hold in memory, in KiB: all of it, and what is theirs alone, which code that is run for the
    first time is no part of."""
    pids = (product.worker.pid, children(product.worker.pid)[0])
    return [int(process_status(pid)[kind].split()[0]) for kind in ("VmRSS", "RssAnon") for pid in pids]


def usage_at_rest(product, lab):
    """What is held once it is no longer changing: the last caller's socket and the last engine's descriptors are closed a
    moment after the last answer."""
    readings = [usage(product, lab)]

    def same_again():
        time.sleep(0.3)  # nothing tells that something will still be closed
        readings.append(usage(product, lab))
        return readings[-3:].count(readings[-1]) == 3

    wait_until(same_again, 5, "what is held is no longer changing")
    return readings[-1]


def test_cycles_do_not_grow(product, lab, request):
    def cycle(count):
        lab.user("/usr/bin/python3", "-I", "-c", CYCLES, product.socket, count, timeout=60 + count * 5)

    cycle(5)  # what is allocated once is allocated now
    count = request.config.getoption("--cycles")
    before, memory = usage_at_rest(product, lab), resident(product)
    for _ in range(4):
        cycle(max(count // 4, 1))
        after, grown = usage_at_rest(product, lab), resident(product)
        print("resident KiB before and after", memory, grown)
    wait_until(lambda: usage(product, lab) == before, 5, f"no more is held than before: {before} and {after}", interval=0.3)
    assert all(now - then <= noise for now, then, noise in zip(grown, memory, NOISE)), (memory, grown)


def test_namespaces_of_dead_engines_are_let_go(product, lab):
    def namespaces():
        listed = subprocess.run(["lsns", "-t", "net", "-n", "-o", "NS"], capture_output=True, text=True, check=True).stdout
        return set(listed.split())

    product.connect(FIRST)
    engine = product.status()["engine"]["pid"]
    with open(lab.path("run", "engine", "holder.pid"), encoding="ascii") as file:
        sandbox = str(os.stat(f"/proc/{int(file.read())}/ns/net").st_ino)
    assert sandbox in namespaces()
    os.kill(engine, signal.SIGKILL)
    wait_until(lambda: (product.status().get("engine") or {}).get("pid") not in (None, engine)
               and product.status().get("state") == "connected", 30, "another engine")
    wait_until(lambda: sandbox not in namespaces(), 5, "the first sandbox is gone")
    product.controller("disconnect")

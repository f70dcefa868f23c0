"""The bench: a lab with the product in it, every origin sending all the time, and windows of time that are judged afterwards."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

from lablib import lines, netns, plan
from lablib.capture import Capture
from lablib.lab import REPOSITORY, Lab, wait_until
from lablib.product import Product, children

from . import judge, kinds

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST, SECOND = lines.LINES[0][1], lines.LINES[1][1]
CONTAINER4, CONTAINER6 = "172.17.0.2", "fd17::2"
# What the engine itself may ask directly: the domestic resolvers.
RESOLVERS = plan.HOME4 + plan.HOME6

SILENT, DIRECT, BRIEF, VISIBLE = "silent", "direct", "brief", "visible"


@dataclass
class Window:
    """One row of the table: what went on between two moments, and what may have been seen of whom."""

    kill_switch: str
    name: str
    expected: dict
    since: float = 0.0
    until: float = 0.0
    event: float = 0.0
    note: str = ""
    brief_ms: int = 0
    senders: dict = field(default_factory=dict)
    sight: judge.Sight = None


class Bench:
    """A lab, the product, the senders and the captures."""

    def __init__(self, name, rp_filter=2, interval_ms=20, progress=None):
        self.lab = Lab.up(name, owner=os.getpid(), rp_filter=rp_filter)
        self.interval_ms, self.windows, self.progress = interval_ms, [], progress
        self.started, self.broken = [], []
        try:
            self.product = Product(self.lab)
            self.container()
            self.captures = [Capture(self.lab), Capture(self.lab, host="lan", link="eth1")]
            sink = self.popen("world", "earlier.py", "serve", plan.WEB4, plan.WEB6)
            assert sink.stdout.readline() == "ready\n"
            self.senders = [self.sender("client", kinds.ORIGINS[:-1]), self.sender("container", kinds.ORIGINS[-1:])]
            self.earlier = None
            self.product.start()
            self.product.controller("import", self.lab.subscription)
        except BaseException:
            self.lab.down()
            raise

    def close(self):
        """Ends everything."""
        for process in self.started:
            process.kill()
            process.wait()
        self.lab.down()

    def popen(self, host, script, *arguments):
        """Starts one of this folder's programs in a host."""
        command = ["/usr/bin/python3", "-I", os.path.join(HERE, script), *arguments]
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "preexec_fn": netns.die_with_parent}
        if host == "container":
            command = ["nsenter", f"--net=/proc/{self.box.pid}/ns/net", *command]
        else:
            command = self.lab.command(host, *command)
        process = subprocess.Popen(command, **options)
        self.started.append(process)
        return process

    def container(self):
        """A container as Docker makes one: a bridge, a veth, masquerading, forwarding."""
        lab = self.lab
        self.box = lab.popen("client", "unshare", "--net", "sh", "-c", "echo ready; exec sleep infinity",
                             stdout=subprocess.PIPE)
        self.started.append(self.box)
        assert self.box.stdout.readline() == "ready\n"
        netns.ip_batch(lab.name, "client", [
            "link add docker0 type bridge", "address add 172.17.0.1/16 dev docker0", "address add fd17::1/64 dev docker0 nodad",
            "link set docker0 up", f"link add veth1 type veth peer name eth0 netns {self.box.pid}",
            "link set veth1 master docker0", "link set veth1 up"])
        inside = ["nsenter", f"--net=/proc/{self.box.pid}/ns/net"]
        netns.run([*inside, "ip", "-batch", "-"], input="\n".join([
            "link set lo up", "link set eth0 up", f"address add {CONTAINER4}/16 dev eth0",
            f"address add {CONTAINER6}/64 dev eth0 nodad", "route add default via 172.17.0.1",
            "route add default via fd17::1"]) + "\n")
        netns.run([*inside, "sysctl", "-q", "-w", "net.ipv4.ping_group_range=0 2147483647"])
        lab.exec("client", "sysctl", "-q", "-w", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        netns.nft(lab.name, "client", 'table inet docker { chain out { type nat hook postrouting priority srcnat; '
                  'iifname "docker0" oifname != "docker0" masquerade; }; }')

    def sender(self, host, origins):
        """Starts the senders of some origins."""
        spec = {"device": "eth0", "address4": plan.CLIENT4, "address6": plan.CLIENT6, "interval_ms": self.interval_ms,
                "origins": {o: {"uid": kinds.UIDS[o], "probes": kinds.probes(o)} for o in origins}}
        process = self.popen(host, "sender.py", json.dumps(spec))
        assert process.stdout.readline() == "ready\n"
        return process

    def open_earlier(self):
        """Opens connections which the next connect finds open."""
        if self.earlier:
            self.earlier.kill()
            self.earlier.wait()
        self.earlier = self.popen("client", "earlier.py", "hold", f"4={plan.WEB4}", f"6={plan.WEB6}")
        assert self.earlier.stdout.readline() == "ready\n"

    def rates(self):
        """What every origin has done since the last time: {origin: {"rounds", "gap_ms"}}."""
        told = {}
        for process in self.senders:
            process.stdin.write("\n")
            process.stdin.flush()
            told.update(json.loads(process.stdout.readline()))
        return told

    # MARK: windows

    def window(self, kill_switch, name, action, expected=SILENT, exceptions=None, note="", brief_ms=0, least=0.3):
        """Does something and records the time it took (`least` seconds at least) as one row.

        `expected` goes for every origin but the container (always direct) and those in `exceptions`. The action may return a
        moment from which on silence is wanted.
        """
        wanted = {origin: expected for origin in kinds.ORIGINS}
        wanted["container"] = VISIBLE if expected == VISIBLE else DIRECT
        wanted.update(exceptions or {})
        row = Window(kill_switch, name, wanted, note=note, brief_ms=brief_ms)
        self.rates()
        row.since = row.event = time.time()
        try:
            returned = action()
            if isinstance(returned, float):
                row.since = row.event = returned
            time.sleep(max(0.0, least - (time.time() - row.since)))
        finally:
            row.until = time.time()
            row.senders = self.rates()
            self.windows.append(row)
        if self.progress:
            self.progress(row)
        return row

    def judge(self):
        """Reads the captures and fills in what each window saw."""
        self.captures[0].barrier()
        time.sleep(0.2)
        for capture in self.captures:
            capture.stop()
        for row in self.windows:
            row.sight = judge.Sight([], row.since, row.until)
        allowed = {judge.packed(address) for address in RESOLVERS}
        ordered = sorted(self.windows, key=lambda row: row.since)
        for capture in self.captures:
            place = 0
            for when, frame in judge.packets(capture.file):
                while place < len(ordered) and when >= ordered[place].until:
                    place += 1
                if place == len(ordered):
                    break
                if when >= ordered[place].since:
                    ordered[place].sight.take(when, frame, allowed)
        return self.windows

    # MARK: what the events need

    def engine(self):
        """The engine's process."""
        return self.product.status()["engine"]["pid"]

    def engine_host(self):
        """The engine host's process."""
        return children(self.product.worker.pid)[0]

    def client(self, *command, check=True):
        """Runs something as root on the user's machine."""
        return self.lab.exec("client", *command, check=check)

    def wait_connected(self, other_than=None, seconds=40):
        """Waits until the tunnel is up, with another engine where asked."""
        def reached():
            status = self.product.status()
            return status.get("state") == "connected" and (status.get("engine") or {}).get("pid") not in (None, other_than)
        wait_until(reached, seconds, "connected again", interval=0.1)

    def connect(self, kill_switch, *more):
        """Connects through the first line."""
        return self.product.connect(FIRST, "--mode", "rule", "--kill-switch" if kill_switch else "--no-kill-switch", *more,
                                    wait=40)

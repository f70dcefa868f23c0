"""The bench: a lab with the product in it, every origin sending all the time, and windows of time that are judged afterwards."""

import json
import os
import pwd
import subprocess
import threading
import time
from dataclasses import dataclass, field

from lablib import lines, netns, plan
from lablib.capture import Capture
from lablib.lab import Lab, wait_until
from lablib.product import Product, children

from . import judge, kinds

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST, SECOND = lines.LINES[0][1], lines.LINES[1][1]
CONTAINER4, CONTAINER6 = "172.17.0.2", "fd17::2"
# From a change of the guard to the news of it, on a busy machine: the kernel takes it out of the way, then tells. So long
# before the news packets are not judged.
NEWS = 0.1

# What is wanted of a cell. VISIBLE: all its probes are seen. SEEN: those are that nothing but the guard would hold back.
# OTHERS: domestic traffic of nobody but the engine.
SILENT, DIRECT, BRIEF, VISIBLE, SEEN, OTHERS = "silent", "direct", "brief", "visible", "seen", "others"


def on(kill_switch):
    """The kill switch as the table writes it."""
    return "on" if kill_switch else "off"


@dataclass
class Part:
    """What is wanted between two moments. `expected` goes for every origin but the container (which is always direct) and those
    in `exceptions`; "before" stands for connections opened before, "domestic" for what is sent to Chinese addresses.
    `is_carried`: another client on the machine carries what the engine sends."""

    name: str
    expected: str = SILENT
    exceptions: dict = field(default_factory=dict)
    note: str = ""
    brief_ms: int = 0
    is_carried: bool = False

    def wanted(self):
        """{origin: what is expected}."""
        made = {origin: self.expected for origin in (*kinds.ORIGINS, "before", "domestic")}
        made["container"] = VISIBLE if self.expected == VISIBLE else DIRECT
        # In Rule mode domestic traffic goes directly while there is an engine that would do nothing else with it.
        if self.expected == SILENT:
            made["domestic"] = DIRECT
        return {**made, **self.exceptions}


@dataclass
class Window:
    """One row of the table: what went on between two moments, and what may have been seen of whom."""

    kill_switch: str
    tracked: bool
    part: Part
    since: float = 0.0
    until: float = 0.0
    sent: dict = field(default_factory=dict)
    sight: judge.Sight = None

    @property
    def name(self):
        return self.part.name

    @property
    def expected(self):
        return self.part.wanted()


class Bench:
    """A lab, the product, the senders and the captures."""

    def __init__(self, name, rp_filter=2, interval_ms=20, progress=None):
        self.lab = Lab.up(name, owner=os.getpid(), rp_filter=rp_filter)
        self.rp_filter, self.interval_ms, self.windows, self.progress = rp_filter, interval_ms, [], progress
        self.started, self.broken, self.guards = [], [], []
        # {origin: when each of its rounds ended}, and how many rounds it takes until every probe was sent.
        self.times, self.turns = {}, {}
        try:
            self.product = Product(self.lab)
            self.container()
            self.mark()
            self.tracked = False
            self.far_ends()
            # Each wire by the hardware address the machine has on it.
            self.captures = [(Capture(self.lab), plan.CLIENT_MAC),
                             (Capture(self.lab, host="lan", link="eth1"), self.lab.ip("client", "link", "show", "eth1")[0]["address"])]
            threading.Thread(target=self.hear, args=(self.ready("client", "guard.py"),), daemon=True).start()
            self.ready("world", "kept.py", "serve", plan.WEB4, plan.WEB6)
            self.senders = [self.sender("client", kinds.ORIGINS[:-1]), self.sender("container", kinds.ORIGINS[-1:])]
            self.kept = self.ready("client", "kept.py", "hold", f"4={plan.WEB4}", f"6={plan.WEB6}")
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

    def ready(self, host, script, *arguments):
        """Starts one of them and returns when it says that it is ready."""
        process = self.popen(host, script, *arguments)
        assert process.stdout.readline() == "ready\n"
        return process

    def container(self):
        """A container as Docker makes one: a bridge, a veth, forwarding."""
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

    def far_ends(self):
        """The router knows another network on the user's wire, and the probes' destinations answer that nobody listens there:
        what stays without an answer is tried again and again by whoever passes it on."""
        name = self.lab.name
        domestic4, domestic6 = kinds.NETWORKS[True]
        netns.ip_batch(name, "isp", [
            f"address add {kinds.OTHER_ROUTER4}/24 dev br0", f"address add {kinds.OTHER_ROUTER6}/64 dev br0 nodad",
            f"route add {domestic4} via 100.100.0.2 dev home", f"route add {domestic6} via 2001:db8:4::2 dev home"])
        for host, networks in (("home", kinds.NETWORKS[True]), ("world", kinds.NETWORKS[False])):
            netns.ip_batch(name, host, [f"route add local {network} dev lo" for network in networks])

    def track(self, is_on):
        """Masquerades the container's packets, as Docker does, or not. With it the kernel tracks connections before there is a
        guard; without, nothing has it do so."""
        self.tracked = is_on
        rules = "table inet docker; delete table inet docker;"
        if is_on:
            rules += ('table inet docker { chain out { type nat hook postrouting priority srcnat; '
                      'iifname "docker0" oifname != "docker0" masquerade; }; }')
        netns.nft(self.lab.name, "client", rules)

    def mark(self):
        """Has the machine mark what programs other than the engine send: on the wire nothing else tells them apart."""
        others = f"meta skuid != {pwd.getpwnam('trocket-engine').pw_uid}"
        netns.nft(self.lab.name, "client", "table inet leakmark { chain out { type filter hook output priority 300; "
                  f"{others} ip dscp set {judge.MARK}; {others} ip6 dscp set {judge.MARK}; }}; }}")

    def sender(self, host, origins):
        """Starts the senders of some origins."""
        spec = {"device": "eth0", "addresses4": [plan.CLIENT4, kinds.OTHER4], "addresses6": [plan.CLIENT6, kinds.OTHER6],
                "interval_ms": self.interval_ms,
                "origins": {o: {"uid": kinds.UIDS[o], "probes": kinds.probes(o)} for o in origins}}
        return self.ready(host, "sender.py", json.dumps(spec))

    def fresh(self):
        """Opens anew all connections that are kept open: what comes next finds them opened before."""
        self.kept.stdin.write("fresh\n")
        self.kept.stdin.flush()
        assert self.kept.stdout.readline() == "ready\n"

    def hear(self, process):
        """Takes down when the guard came and went."""
        for line in process.stdout:
            when, what = line.split()
            self.guards.append((float(when), what))

    def guard(self, what, since, seconds=20):
        """The first moment after another at which the guard came ("up") or went ("down"); waits for it."""
        return wait_until(lambda: next((when for when, change in self.guards if change == what and when >= since), None),
                          seconds, f"the guard goes {what}", interval=0.002)

    def collect(self):
        """Asks all senders what they have done."""
        def told(process, question):
            process.stdin.write(question + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())
        for process in self.senders:
            for origin, did in told(process, "").items():
                self.times.setdefault(origin, []).extend(did["times"])
                self.turns[origin] = did["turns"]
        self.times.setdefault("before", []).extend(told(self.kept, "told"))
        self.turns["before"] = 1

    def everybody(self):
        """Waits until everybody has sent everything once more, however slow the machine, and that counts: see `NEWS`."""
        since = time.time()

        def have_sent():
            self.collect()
            # One more: the first may have begun before.
            return all(sum(when >= since for when in self.times[origin][-2000:]) > turns for origin, turns in self.turns.items())

        wait_until(have_sent, 60, "everybody has sent everything", interval=0.05)
        time.sleep(NEWS)

    # MARK: windows

    def window(self, kill_switch, name, action=None, expected=SILENT, exceptions=None, note="", brief_ms=0, least=0.3):
        """Does something and records the time it took (`least` seconds at least) as one row."""
        return self.phases(kill_switch, action, [Part(name, expected, exceptions or {}, note, brief_ms)], least=least)[0]

    def phases(self, kill_switch, action, parts, least=0.3):
        """Does something and records the time as several rows: the action returns the moments that part them. Everybody sends
        everything in the first before the action, and in the last after it, which lasts for `least` seconds at least."""
        began = time.time()
        cuts = []
        try:
            if len(parts) > 1:
                self.everybody()
            cuts = action() if action else []
            cuts = list(cuts or [])
            time.sleep(max(0.0, least - (time.time() - max(cuts, default=began))))
            self.everybody()
        finally:
            ends = [*(cut - NEWS for cut in cuts), time.time()]
            rows = [Window(kill_switch, self.tracked, part, since, until)
                    for part, since, until in zip(parts, [began, *cuts], ends)]
            self.windows += rows
            self.collect()
        assert len(rows) == len(parts), f"{len(cuts)} moments for {len(parts)} rows"
        for row in rows if self.progress else ():
            self.progress(row)
        return rows

    def judge(self):
        """Reads the captures and fills in what each window saw, and what was sent in it."""
        self.captures[0][0].barrier()
        time.sleep(0.2)
        for capture, _ in self.captures:
            capture.stop()
        for row in self.windows:
            row.sight = judge.Sight(row.part.is_carried)
            for origin, times in self.times.items():
                inside = [when for when in times if row.since <= when < row.until]
                edges = [row.since, *inside, row.until]
                row.sent[origin] = {"rounds": len(inside) // self.turns[origin],
                                    "gap_ms": max(0, *((b - a) * 1000 for a, b in zip(edges, edges[1:])))}
        ordered = sorted(self.windows, key=lambda row: row.since)
        for capture, address in self.captures:
            place, own = 0, judge.mac(address)
            for when, frame in judge.packets(capture.file):
                while place < len(ordered) and when >= ordered[place].until:
                    place += 1
                if place == len(ordered):
                    break
                if when >= ordered[place].since:
                    ordered[place].sight.take(when, frame, own)
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

"""`bench test`: the latency of 500 lines, 60 % good (20–900 ms), 20 % refused, 20 % silent, disconnected and connected."""

import contextlib
import json
import os
import statistics
import subprocess
import time
import urllib.parse

from lablib import lines, plan
from lablib.lab import wait_until

from .contenders import API_PORT, Contender, MihomoRoot, shadowsocks
from .measuring import PYTHON
from .report import Report
from .stage import raised

HERE = os.path.dirname(os.path.abspath(__file__))
URL = "https://www.gstatic.com/generate_204"
RELAY, FIRST_PORT = plan.ABROAD4.format(19), 30000
GOOD, REFUSED, SILENT = 300, 100, 100
TIMEOUT = 3
# A test is two round trips: the line's and TLS's greetings together, then the request.
DELAYS = [(20 + 880 * number / (GOOD - 1)) / 2 for number in range(GOOD)]
GIVE_UP = 30


def outbounds():
    """The 500 lines, good ones, refused ones and silent ones mixed as in a real list."""
    made = []
    kinds = {"good": iter(range(GOOD)), "refused": iter(range(REFUSED)), "silent": iter(range(SILENT))}
    for number in range(GOOD + REFUSED + SILENT):
        kind = ("good", "refused", "good", "silent", "good")[number % 5]
        index = next(kinds[kind])
        server, port = {"good": (RELAY, FIRST_PORT + index), "refused": (plan.REFUSED4, 20000 + index),
                        "silent": (plan.SILENT4, 20000 + index)}[kind]
        made.append({"type": "shadowsocks", "tag": f"{kind} {index:03}", "server": server, "server_port": port,
                     "method": lines.METHOD, "password": lines.password("shadowsocks")})
    return made


def run(options):
    """Rounds of the product, disconnected and connected, and its rivals."""
    report = Report("test", f"The latency of {GOOD + REFUSED + SILENT} lines, time-out {TIMEOUT} s")
    made = outbounds()
    with raised("bench", imported=False) as (lab, product), relay(lab):
        source = lab.path("home", str(plan.USER), "lines.json")
        with open(source, "w", encoding="utf-8") as file:
            json.dump({"outbounds": made}, file)
        os.chmod(source, 0o644)
        product.controller("import", source)
        rivals = [] if options.quick else [SingBoxDelays(lab, made), MihomoDelays(lab, made)]
        for _ in range(options.rounds):
            product_round(report, product, "Trocket, disconnected")
            product.controller("connect", "good 000", "--mode", "rule")
            product_round(report, product, "Trocket, connected")
            product.controller("disconnect")
            for rival in rivals:
                rival.start()
                try:
                    rival.measure(report)
                finally:
                    rival.stop()
            for metric, limit in (("first result", 0.5), ("whole round", TIMEOUT + 2)):
                report.add(metric, "limit", limit, "s")
            report.add("good lines found", "limit", GOOD, "lines")
    for contender in ("Trocket, disconnected", "Trocket, connected"):
        report.target("first result", contender, "limit", at_most=1.0)
        report.target("whole round", contender, "limit", at_most=1.0)
        report.target("good lines found", contender, "limit", at_least=1.0)
        for rival in ("sing-box", "mihomo"):
            report.target("first result", contender, rival, at_most=0.2)
            report.target("all good lines known", contender, rival, at_most=0.2)
            report.target("whole round", contender, rival, at_most=0.2)
    report.notes += ["The rivals' group calls say nothing before they end, so their first result is the end of the first call.",
                     f"They are repeated until every good line is known, for {GIVE_UP} s at most, which is what counts then."]
    return report


@contextlib.contextmanager
def relay(lab):
    """The relay that makes the good lines slow."""
    server = lab.popen("abroad", *PYTHON, os.path.join(HERE, "delaying.py"), RELAY, FIRST_PORT, plan.ABROAD4.format(11), 8388,
                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        server.stdin.write(json.dumps(DELAYS))
        server.stdin.close()
        if server.stdout.readline() != "ready\n":
            raise RuntimeError("the relay did not start")
        yield
    finally:
        server.kill()
        server.wait()


def product_round(report, product, name):
    """One `test` of all lines, read as its results come."""
    began = time.monotonic()
    process = product.lab.user_popen(
        *product.controller_command("test", "--timeout", f"{TIMEOUT}s", "--json", "--stream"),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    first = last = None
    good = wrong = 0
    above = []
    for line in process.stdout:
        told = json.loads(line)
        if told["latency"]["ms"] is None:
            continue
        last = time.monotonic() - began
        first = first or last
        good += told["name"].startswith("good")
        wrong += not told["name"].startswith("good")
        above += above_own(told["name"], told["latency"]["ms"])
    process.wait()
    report.add("first result", name, first, "s")
    report.add("all good lines known", name, last if good == GOOD else None, "s")
    report.add("whole round", name, time.monotonic() - began, "s")
    report.add("good lines found", name, good, "lines")
    report.add("above the line's own latency", name, statistics.median(above) if above else None, "ms")
    if wrong:
        report.notes.append(f"{name}: {wrong} dead lines were given a latency.")


def above_own(name, milliseconds):
    """How much a good line's latency is above what the relay makes it: what measuring many at once adds."""
    return [milliseconds - 2 * DELAYS[int(name.split()[1])]] if name.startswith("good") else []


class GroupDelays(Contender):
    """A rival's own call which measures a whole group, without any tunnel."""

    # The longest time-out, in seconds, worth asking for when the call is repeated.
    longest = TIMEOUT

    def start(self):
        self.popen(*self.command(), config=self.config())

        def answers():
            return self.lab.exec("client", "curl", "-s", "--max-time", "2", f"http://127.0.0.1:{API_PORT}/version",
                                 check=False).returncode == 0
        wait_until(answers, 30, f"{self.name}'s API answers")

    def measure(self, report):
        """Calls until all good lines are known."""
        patience = TIMEOUT
        began = time.monotonic()
        found, first, known = set(), None, None
        while known is None and time.monotonic() - began < GIVE_UP:
            query = urllib.parse.urlencode({"url": URL, "timeout": patience * 1000})
            done = self.lab.exec("client", "curl", "-s", "--max-time", "60",
                                 f"http://127.0.0.1:{API_PORT}/group/lines/delay?{query}", check=False, timeout=70)
            try:
                told = json.loads(done.stdout)
            except ValueError:
                told = {}
            found |= {name for name, delay in told.items() if name.startswith("good") and isinstance(delay, int) and delay}
            if first is None:
                first = time.monotonic() - began
                report.add("first result", self.name, first, "s")
                report.add("whole round", self.name, first, "s")
                report.add("good lines found", self.name, len(found), "lines")
                above = [value for each in found for value in above_own(each, told[each])]
                report.add("above the line's own latency", self.name, statistics.median(above) if above else None, "ms")
            if len(found) == GOOD:
                known = time.monotonic() - began
            patience = min(self.longest, patience * 2)
        if known is None:
            report.notes.append(f"{self.name} knew {len(found)} of {GOOD} good lines after {GIVE_UP} s.")
        report.add("all good lines known", self.name, GIVE_UP if known is None else known, "s")


class SingBoxDelays(GroupDelays):
    """sing-box: a selector of all lines (a urltest group would be busy with a round of its own). Its call measures ten lines
    at a time inside one time-out, so only a longer one gets further."""

    name = "sing-box"
    longest = 30

    def __init__(self, lab, made):
        super().__init__(lab)
        self.made = made

    def command(self):
        """The command line."""
        return self.lab.engine, "run", "-c", "CONFIG"

    def config(self):
        """The configuration."""
        return {
            "log": {"level": "error"},
            "dns": {"servers": [{"type": "udp", "tag": "local", "server": "223.5.5.5"}]},
            "outbounds": [{"type": "selector", "tag": "lines", "outbounds": [line["tag"] for line in self.made]}, *self.made],
            "route": {"default_domain_resolver": "local"},
            "experimental": {"clash_api": {"external_controller": f"127.0.0.1:{API_PORT}"}},
        }


class MihomoDelays(GroupDelays):
    """mihomo: a select group of all lines."""

    name = "mihomo"

    def __init__(self, lab, made):
        super().__init__(lab)
        self.made = made

    def command(self):
        """The command line."""
        return MihomoRoot(self.lab).command()

    def config(self):
        """The configuration."""
        return {
            "log-level": "error", "mode": "rule", "external-controller": f"127.0.0.1:{API_PORT}",
            "geodata-mode": True, "geo-auto-update": False,
            "proxies": [shadowsocks(line["tag"], line) for line in self.made],
            "proxy-groups": [{"name": "lines", "type": "select", "proxies": [line["tag"] for line in self.made]}],
            "rules": ["MATCH,lines"],
        }

"""The story of one user, told once: `scripts/demo` prints it, the tests assert it.

Each step is a function that calls `story.prove(statement, holds, seen)`; a step that cannot go on raises.
"""

import os
import pwd
import signal
import subprocess
import time
import uuid

from . import lines, plan, snapshot
from .capture import Capture, outgoing
from .lab import Lab, wait_until
from .product import NET_ADMIN, Product, capabilities, process_status

FIRST, SECOND = lines.LINES[0][1], lines.LINES[1][1]
DOWNLOAD, RATE = 5_000_000, 500_000
FOREIGN = "(dst net 192.0.2.0/24 or dst host 8.8.8.8 or dst host 8.8.4.4 or dst host 1.1.1.1 or dst host 1.0.0.1 " \
          "or dst net 2001:db8:3::/64 or dst net 2001:4860::/32 or dst net 2606:4700::/32)"
NOT_SSH = f"not (tcp src port {plan.SSH_PORT})"


class Story:
    """The lab, the product and what has been proved so far."""

    def __init__(self, lab: Lab, listener):
        self.lab = lab
        self.product = Product(lab)
        self.listener = listener
        self.before = None
        self.conversations = []

    def prove(self, statement, holds, seen=""):
        """Records one proof; `seen` is the evidence a reader is shown."""
        self.listener.proof(statement, bool(holds), str(seen))

    def show(self, text):
        """Shows something as it is."""
        self.listener.show(text)

    def close(self):
        """Ends what the story started."""
        self.product.stop()
        for conversation in self.conversations:
            conversation.process.kill()

    # MARK: what several steps ask

    def fresh_name(self, domain="example.com"):
        """A name nobody has asked for yet, so that no cache answers."""
        return f"n{uuid.uuid4().hex[:8]}.{domain}"

    def page(self, url, *curl):
        """The page's own words about its visitor, or an empty dictionary."""
        return self.lab.page(url, *curl, check=False) or {}

    def abroad(self, family=4):
        """Visits a page abroad by a fresh name over one family. Foreign names have no IPv6 address while connected (the
        engine accepts before the line is asked, so a program could not fall back), so that family is named outright."""
        name = self.fresh_name()
        known = ["--resolve", f"{name}:443:[{plan.WEB6}]"] if family == 6 else []
        return self.page(f"https://{name}/ip", f"-{family}", *known)

    def at_home(self, family=4):
        """Visits a domestic page over one family."""
        return self.page("https://www.baidu.com/ip", f"-{family}")

    def rules(self):
        """`ip rule` for both families as a person reads it."""
        return "ip rule\n" + self.lab.ip_text("client", "rule") + "ip -6 rule\n" + self.lab.ip_text("client", "-6", "rule")


# MARK: the steps

def before_anything(story):
    """没有隧道时的样子 | How the machine is before anything"""
    lab = story.lab
    story.before = snapshot.take(lab)
    story.show(story.rules())
    for address in (plan.WEB4, plan.WEB6):
        story.prove(f"the way to {address} is the uplink", snapshot.route_device(lab, address) == "eth0", "dev eth0")
    seen = story.page("https://ip.example.com/ip", "--resolve", f"ip.example.com:443:{plan.WEB4}")
    story.prove("a page abroad sees the user's own address", seen.get("address") == plan.CLIENT4, seen.get("address"))
    answer = lab.user("dig", "+short", "+timeout=10", "www.google.com").stdout.split()
    story.prove("the router's DNS gives a false address for a foreign name", answer == [plan.POISON4], answer)
    story.conversations = [lab.hold_conversation("world", address) for address in (plan.CLIENT4, plan.CLIENT6)]
    story.prove("somebody logs in from outside, as by SSH, and stays", all(c.alive for c in story.conversations),
                f"to {plan.CLIENT4} and {plan.CLIENT6} port {plan.SSH_PORT}")


def start_worker(story):
    """启动特权进程 | The worker starts and drops its privileges"""
    story.product.start()
    pid = story.product.worker.pid
    status, caps = process_status(pid), capabilities(pid)
    trocket = pwd.getpwnam("trocket").pw_uid
    story.prove("the worker runs as user trocket", status["Uid"].split() == [str(trocket)] * 4, status["Uid"].split())
    story.prove("with CAP_NET_ADMIN and nothing else, and can gain nothing",
                caps["Eff"] == caps["Prm"] == NET_ADMIN and caps["Bnd"] & ~NET_ADMIN == 0
                and status["NoNewPrivs"].strip() == "1",
                f"CapEff {caps['Eff']:#x} CapBnd {caps['Bnd']:#x} NoNewPrivs {status['NoNewPrivs'].strip()}")
    story.prove("and in no group but its own", not status["Groups"].split(), status["Groups"].split() or "no groups")
    story.prove("the host's network is untouched", not snapshot.own_objects(story.lab), snapshot.own_objects(story.lab))


def import_subscription(story):
    """导入订阅 | Import the subscription"""
    report = story.product.json("import", story.lab.subscription)
    agents = {agent["agent"].split("/")[0]: agent for agent in report["agents"]}
    seen = "; ".join(f"{a['agent']}: {a['status']}, {a['lines']} lines, {a['added']} new" for a in report["agents"])
    story.prove("the provider answered both as sing-box and as Clash, and the second had more", len(agents) == 2
                and all(a["status"] == 200 for a in report["agents"]) and report["agents"][1]["added"] == 3, seen)
    names = [line["name"] for line in report["lines"]]
    story.prove("the lines of both are merged: seven, and three only Clash was given", len(names) == 10, names)
    quota = report["quota"]
    story.prove("the quota is known", quota["total"] == lines.QUOTA["total"],
                f"{(quota['upload'] + quota['download']) >> 30} of {quota['total'] >> 30} GiB, until {quota['expire']}")
    story.prove("what is no line became a note", set(report["notes"]) == set(lines.NOTES), report["notes"])
    dropped = {line["name"]: line["reason"] for line in report["dropped"]}
    story.prove("what the engine cannot run is named, with the reason", dropped == {lines.SSR_LINE: "unsupported_type"}, dropped)


def list_lines(story):
    """列出线路与倍率 | The lines and their multipliers"""
    listed = story.product.lines()
    story.show(story.product.controller("lines").stdout)
    expected = {name: multiplier for _, name, _, _, _, multiplier in lines.LINES}
    found = {name: listed[name]["multiplier"] for name in expected if name in listed}
    story.prove("multipliers are read from the names, and only where there is one", found == expected, list(found.values()))


def measure(story):
    """未连接时测延迟 | Latency of every line while disconnected"""
    began = time.monotonic()
    story.product.controller("test", check=False, timeout=90)
    took = time.monotonic() - began
    listed = story.product.lines()
    story.show(story.product.controller("lines", "--sort", "latency").stdout)
    good = {name: (listed[name].get("latency") or {}).get("ms") for _, name, *_ in lines.LINES}
    story.prove("all seven protocols answer", all(good.values()), f"{list(good.values())} ms, in {took:.1f} s")
    bad = {name: (listed[name].get("latency") or {}) for name in (lines.REFUSED_LINE, lines.SILENT_LINE)}
    story.prove("the dead ones say why", all(b.get("ms") is None and b.get("error") for b in bad.values()),
                [b.get("error") for b in bad.values()])
    story.prove("without a tunnel: nothing of ours is on the host", not snapshot.own_objects(story.lab)
                and not snapshot.differences(story.before, snapshot.take(story.lab)), "rules, routes, links, nft as before")


def connect(story):
    """普通用户连接 | Connect, as an ordinary user"""
    took, _ = story.product.connect(FIRST, "--mode", "rule")
    status = story.product.status()
    story.prove("connected, and proven", status["state"] == "connected" and status["line"], f"{took:.2f} s, {status['line']}")
    pid = status["engine"]["pid"]
    engine, caps = process_status(pid), capabilities(pid)
    uid = pwd.getpwnam("trocket-engine").pw_uid
    story.prove("the engine runs as trocket-engine with no capability at all",
                engine["Uid"].split() == [str(uid)] * 4 and not (caps["Eff"] | caps["Prm"] | caps["Amb"])
                and engine["NoNewPrivs"].strip() == "1" and not engine["Groups"].split(),
                f"uid {uid} CapEff {caps['Eff']:#x} NoNewPrivs {engine['NoNewPrivs'].strip()}")
    story.show(story.rules())
    for address in (plan.WEB4, plan.WEB6):
        story.prove(f"the way to {address} is the tunnel", snapshot.route_device(story.lab, address) == "trocket0", "dev trocket0")
    story.prove("the way to the neighbour is still the wire", snapshot.route_device(story.lab, plan.LAN4) == "eth0", "dev eth0")


def pages(story):
    """网页看到的地址 | Who the pages see"""
    for family, exit_address in ((4, lines.exit4(FIRST)), (6, lines.exit6(FIRST))):
        seen = story.abroad(family).get("address")
        story.prove(f"a page abroad sees the line's server, IPv{family}", seen == exit_address, seen)
    for family, own in ((4, plan.CLIENT4), (6, plan.CLIENT6)):
        seen = story.at_home(family)
        story.prove(f"a domestic page sees the user, IPv{family}", seen.get("address") == own and seen.get("view") == "home",
                    f"{seen.get('address')} at {seen.get('view')}")


def names(story):
    """DNS 走线路 | Names are asked through the line"""
    lab = story.lab
    resolver = lab.user("cat", "/etc/resolv.conf").stdout.split()[1]
    began = time.time()
    for server in ("", f"@{plan.ROUTER4}", f"@{plan.ROUTER6}", "@9.9.9.9"):
        name = story.fresh_name()
        answer = lab.user("dig", "+short", "+timeout=10", "+tries=2", name, *([server] if server else []), check=False).stdout.split()
        askers = {e["from"] for e in lab.events("world", began, dns=name)}
        leaked = lab.events("isp", began, dns=name) + lab.events("home", began, dns=name)
        story.prove(f"a foreign name is asked abroad, from the line ({server or f'resolv.conf says {resolver}'})",
                    answer == [plan.WEB4] and askers and plan.CLIENT4 not in askers and not leaked,
                    f"{answer} asked by {sorted(askers)}, at home by nobody" if not leaked else f"leaked: {leaked}")
    name = story.fresh_name("baidu.com")
    answer = lab.user("dig", "+short", "+timeout=10", name, check=False).stdout.split()
    story.prove("a domestic name is asked at home", answer == [plan.CN4], answer)


def switching(story):
    """长下载不断线 | A long download outlives switching lines and modes"""
    lab, product = story.lab, story.product
    name = story.fresh_name("example.org")
    began = time.time()
    download = lab.user_popen(
        "curl", "-sS", "-4", "-o", "/dev/null", "-w", "%{http_code} %{size_download}",
        f"https://{name}/bytes?n={DOWNLOAD}&rate={RATE}&until={name}", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        wait_until(lambda: lab.events("world", began, host=name), 10, "the download began")
        story.prove("the download comes over the first line",
                    lab.events("world", began, host=name)[0]["from"] == lines.exit4(FIRST), lines.exit4(FIRST))
        product.controller("select", SECOND)
        seen = story.abroad().get("address")
        story.prove("after switching, new connections use the new line", seen == lines.exit4(SECOND), seen)
        product.controller("mode", "global")
        seen = story.page("https://www.qq.com/ip", "-4").get("address")
        story.prove("in Global mode domestic pages see the line, too", seen == lines.exit4(SECOND), seen)
        product.controller("mode", "rule")
        seen = story.at_home()
        story.prove("back in Rule mode they see the user", seen.get("address") == plan.CLIENT4, seen.get("address"))
        story.prove("all the while the download goes on", download.poll() is None, f"{time.time() - began:.1f} s so far")
        # Its end is held back till now.
        with open(lab.path("www", name), "w", encoding="ascii"):
            pass
        told = download.communicate(timeout=60)[0].split()
        story.prove("and ends whole", told == ["200", str(DOWNLOAD)], " ".join(told))
    finally:
        download.kill()
    product.controller("select", FIRST)
    story.prove("the conversations from outside live", all(c.alive for c in story.conversations), "2 of 2")


PROBER = """
import itertools, socket, time
targets = [(socket.AF_INET, '{4}', 443), (socket.AF_INET, '8.8.8.8', 53), (socket.AF_INET6, '{6}', 443),
           (socket.AF_INET6, '2001:4860:4860::8888', 53)]
sockets = [(socket.socket(f, socket.SOCK_DGRAM), a, p) for f, a, p in targets]
print('ready', flush=True)
for _ in range(3000):
    for s, a, p in sockets:
        try:
            s.sendto(b'leak?', (a, p))
        except OSError:
            pass
    for f, a, p in targets:
        t = socket.socket(f, socket.SOCK_STREAM)
        t.setblocking(False)
        t.connect_ex((a, 443))
        t.close()
    time.sleep(0.02)
"""


def engine_killed(story):
    """杀掉内核后自愈 | kill -9 of the engine heals, and nothing leaks meanwhile"""
    lab, product = story.lab, story.product
    first = product.status()["engine"]["pid"]
    probe = PROBER.replace("{4}", plan.WEB4).replace("{6}", plan.WEB6)
    prober = lab.user_popen("/usr/bin/python3", "-c", probe, stdout=subprocess.PIPE)
    try:
        prober.stdout.readline()
        with Capture(lab) as capture:
            began = time.monotonic()
            os.kill(first, signal.SIGKILL)

            def healed():
                status = product.status()
                return status.get("state") == "connected" and (status.get("engine") or {}).get("pid") not in (None, first)

            wait_until(healed, 20, "connected again with another engine", interval=0.05)
            took = time.monotonic() - began
            seen = story.abroad().get("address")
            capture.barrier()
            leaked = capture.lines(outgoing(f"{FOREIGN} and {NOT_SSH}"))
            total = len(capture.lines(f"ether src {plan.CLIENT_MAC}"))
    finally:
        prober.kill()
    story.prove("a new engine is up and the line answers", seen == lines.exit4(FIRST), f"{took:.2f} s, seen as {seen}")
    story.prove("nothing left in the clear meanwhile", not leaked, leaked[:3] or f"0 of {total} packets on the wire")


def disconnect(story):
    """断开后恢复原样 | Disconnect leaves the machine exactly as it was"""
    story.product.controller("disconnect")
    status = story.product.status()
    story.prove("disconnected", status["state"] == "disconnected", status["state"])
    story.show(story.rules())
    changed = snapshot.differences(story.before, snapshot.take(story.lab))
    story.prove("rules, routes, links, addresses, nft rules and settings are as before, bit for bit", not changed,
                changed[:5] or "no difference")
    seen = story.page("https://ip.example.com/ip", "--resolve", f"ip.example.com:443:{plan.WEB4}")
    story.prove("a page abroad sees the user's own address again", seen.get("address") == plan.CLIENT4, seen.get("address"))
    for conversation, family in zip(story.conversations, ("IPv4", "IPv6")):
        told = conversation.end()
        story.prove(f"the conversation from outside was never cut, {family}", told["error"] is None and told["received"] > 0,
                    f"{told['received']} exchanges, longest pause {told['longest_gap_ms']} ms")


STEPS = (before_anything, start_worker, import_subscription, list_lines, measure, connect, pages, names, switching,
         engine_killed, disconnect)


def title(step):
    """A step's title in Chinese and English."""
    chinese, english = (step.__doc__ or step.__name__).split(" | ")
    return chinese, english

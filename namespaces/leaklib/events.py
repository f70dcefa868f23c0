"""The states and events of the table: what is done to a tunnel while everybody keeps sending, and what may be seen then."""

import json
import os
import re
import signal
import subprocess
import time

from lablib import lines, netns, plan
from lablib.lab import REPOSITORY, wait_until
from lablib.product import children

from .bench import BRIEF, DIRECT, FIRST, HERE, SECOND, SILENT, VISIBLE, Bench

# What picks its own way, so that only the guard holds it: it shows how long the guard was away.
BOUND = ("address", "device", "any")
REPAIR_MS = 250


def on(kill_switch):
    """The kill switch as the table writes it."""
    return "on" if kill_switch else "off"


def patiently(bench, *verb):
    """A verb for the engine, which everybody's probes keep busy: on a loaded machine it may need to be asked again."""
    wait_until(lambda: bench.product.controller(*verb, check=False).returncode == 0, 30, " ".join(verb))


def without_tunnel(bench):
    """The proof that silence means something: with no tunnel every probe is seen."""
    bench.open_earlier()
    bench.window("-", "no tunnel", lambda: None, VISIBLE, least=1.5, note="every probe is seen, so silence means something")


def connecting(bench, kill_switch):
    """Connect, with the engine held still for a while on its way up."""
    bench.open_earlier()

    def act():
        held = []
        command = bench.lab.user_popen(*bench.product.controller_command(
            "connect", FIRST, "--mode", "rule", "--kill-switch" if kill_switch else "--no-kill-switch", "--wait", "40"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        host = bench.engine_host()
        held = wait_until(lambda: children(host), 15, "an engine starts", interval=0.001)[0]
        descriptor = os.pidfd_open(held)
        signal.pidfd_send_signal(descriptor, signal.SIGSTOP)
        began = time.time()
        time.sleep(0.7)
        signal.pidfd_send_signal(descriptor, signal.SIGCONT)
        os.close(descriptor)
        told = command.communicate(timeout=60)[0]
        assert command.returncode == 0, told
        return began

    if kill_switch:
        bench.window("on", "connecting", act, SILENT, note="from the moment the engine is started")
    else:
        bench.window("off", "connecting", act, DIRECT, note="as before, until the plan is in force (by design)")


def steady(bench, kill_switch):
    bench.window(on(kill_switch), "connected", lambda: None, least=1.5)


def switching(bench, kill_switch):
    def act():
        for line in (SECOND, FIRST):
            patiently(bench, "select", line)
            bench.lab.page(f"https://{plan.WEB4}/ip", check=False)

    bench.window(on(kill_switch), "switching lines", act)


def modes(bench, kill_switch):
    def act():
        patiently(bench, "mode", "global")
        patiently(bench, "mode", "rule")

    bench.window(on(kill_switch), "changing modes", act)


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
        bench.lab.user("/usr/bin/python3", "-I", os.path.join(HERE, "peers.py"), bench.product.socket, "ask", "connect")
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
        time.sleep(0.6)

    bench.window(on(kill_switch), "all rules flushed", act)


def tables_flushed(bench, kill_switch):
    def act():
        for family in ("-4", "-6"):
            for table in ("7100", "7101"):
                bench.client("ip", family, "route", "flush", "table", table, check=False)
        time.sleep(0.6)

    bench.window(on(kill_switch), "our tables flushed", act)


def link_deleted(bench, kill_switch):
    def act():
        bench.client("ip", "link", "delete", "trocket0")
        time.sleep(0.8)

    bench.window(on(kill_switch), "our link deleted", act)


def guard_deleted(bench, kill_switch):
    """The table has an owner and the kernel refuses; with the switch on only since Linux 6.9, before that it is put back within
    the interval."""
    is_held = not kill_switch or tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= (6, 9)

    def act():
        bench.client("nft", "flush", "ruleset", check=False)
        netns.nft(bench.lab.name, "client", 'table inet docker { chain out { type nat hook postrouting priority srcnat; '
                  'iifname "docker0" oifname != "docker0" masquerade; }; }')
        if is_held:
            assert bench.client("nft", "delete", "table", "inet", "trocket_guard", check=False).returncode != 0
        time.sleep(0.6)

    brief = {origin: BRIEF for origin in BOUND}
    bench.window(on(kill_switch), "nft flushed, guard deleted", act, exceptions=None if is_held else brief, brief_ms=REPAIR_MS,
                 note="the kernel refuses others: the table has an owner" if is_held else
                 f"bound sockets only, until repaired: {REPAIR_MS} ms")


def no_default_route(bench, kill_switch):
    def act():
        for family in ("-4", "-6"):
            bench.client("ip", family, "route", "delete", "default")
        time.sleep(0.5)
        bench.client("ip", "-4", "route", "add", "default", "via", plan.ROUTER4, "dev", "eth0")
        bench.client("ip", "-6", "route", "add", "default", "via", plan.ROUTER6, "dev", "eth0")
        time.sleep(0.5)

    bench.window(on(kill_switch), "default route absent, then back", act)


def hostile_routes(bench, kill_switch):
    """TunnelVision: routes a DHCP server may hand out, more specific than any default."""
    routes = [("-4", net, plan.ROUTER4) for net in ("0.0.0.0/1", "128.0.0.0/1", "20.0.0.0/8")]
    routes += [("-6", "2000::/3", plan.ROUTER6), ("-6", "2a00::/12", plan.ROUTER6)]

    def act():
        for family, net, via in routes:
            bench.client("ip", family, "route", "add", net, "via", via, "dev", "eth0")
        time.sleep(0.7)
        for family, net, via in routes:
            bench.client("ip", family, "route", "delete", net, "via", via, "dev", "eth0")

    bench.window(on(kill_switch), "option-121 routes 0/1, 128/1, 2000::/3", act)


def uplink_bounced(bench, kill_switch):
    def act():
        bench.client("ip", "link", "set", "eth0", "down")
        time.sleep(0.2)
        netns.ip_batch(bench.lab.name, "client", [
            "link set eth0 up", f"address replace {plan.CLIENT6}/64 dev eth0 nodad",
            f"route replace default via {plan.ROUTER4} dev eth0", f"route replace default via {plan.ROUTER6} dev eth0"])
        time.sleep(0.6)

    bench.window(on(kill_switch), "uplink down and up", act)


def uplink_moved(bench, kill_switch):
    """The way out moves to another network, and back."""
    def act():
        netns.ip_batch(bench.lab.name, "client", [
            f"route replace default via {plan.LAN_HOST4} dev eth1", f"route replace default via {plan.LAN_HOST6} dev eth1"])
        time.sleep(0.6)
        netns.ip_batch(bench.lab.name, "client", [
            f"route replace default via {plan.ROUTER4} dev eth0", f"route replace default via {plan.ROUTER6} dev eth0"])
        time.sleep(0.3)

    bench.window(on(kill_switch), "way out moved to another uplink and back", act)


def second_client(program):
    """Another client with default numbers starts, runs and ends beside ours."""
    def event(bench, kill_switch):
        def act():
            other = Other(bench.lab, program)
            try:
                other.wait_up()
                time.sleep(0.7)
            finally:
                other.end()
            time.sleep(0.5)

        bench.window(on(kill_switch), f"{program} with default numbers started and ended", act)

    event.__name__ = f"second_{program.replace('-', '_')}"
    return event


def engine_host_killed(bench, kill_switch):
    """Blocked: there is no engine host any more, and none can be had without root. Then the worker is started anew."""
    def act():
        os.kill(bench.engine_host(), signal.SIGKILL)
        wait_until(lambda: bench.product.status().get("state") == "blocked", 10, "blocked")
        time.sleep(0.6)

    bench.window(on(kill_switch), "engine host killed: blocked", act)
    restart(bench)
    bench.connect(kill_switch)


def restart(bench):
    """Ends a worker in whatever state and starts another; the host is open and clean afterwards."""
    bench.product.controller("disconnect", check=False)
    bench.product.stop()
    bench.product.start()
    bench.product.controller("disconnect", check=False)


def worker_killed(bench, kill_switch):
    def act():
        engine = bench.engine()
        bench.product.kill()
        wait_until(lambda: not os.path.exists(f"/proc/{engine}"), 5, "the engine ends with the worker")
        time.sleep(0.6)

    if kill_switch:
        bench.window("on", "worker killed", act)
        bench.window("on", "worker back after its death", bench.product.start)

        def reconnect():
            bench.connect(True)

        bench.window("on", "connecting after the worker's death", reconnect)
    else:
        bench.window("off", "worker killed", act, DIRECT, note="everything goes directly (by design; kill switch off)")
        bench.product.start()
        bench.connect(False)


def worker_restarted(bench, kill_switch):
    """The worker is stopped as an update stops it, started again, and connected again."""
    def act():
        bench.product.stop()
        bench.product.start()
        bench.connect(kill_switch)

    bench.window(on(kill_switch), "worker stopped and started (update)", act, SILENT if kill_switch else DIRECT,
                 note="" if kill_switch else "a stopped worker takes the tunnel down (by design; kill switch off)")


def disconnecting(bench, kill_switch):
    """Disconnect under load: silent up to the word, open after it."""
    bench.window(on(kill_switch), "about to disconnect", lambda: None)
    bench.window(on(kill_switch), "disconnecting", lambda: bench.product.controller("disconnect"), DIRECT,
                 note="opens while it runs (by design)", least=0)
    bench.window("-", "disconnected", lambda: None, VISIBLE, least=1.0, note="every probe is seen again: nobody had stopped")


class Other:
    """Another client in the lab with its defaults: a TUN of its own, automatic routes, everything direct."""

    def __init__(self, lab, program):
        self.lab, self.program = lab, program
        binary = lab.path("bin", program)
        if not os.path.exists(binary):
            netns.run(["cp", "--", os.path.join(REPOSITORY, ".engine", program), binary])
        home = lab.path("log", f"home-{program}")
        os.makedirs(home, exist_ok=True)
        config = os.path.join(home, "config.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump(self.singbox() if program == "sing-box" else self.mihomo(), file)
        arguments = ["run", "-c", config, "-D", home] if program == "sing-box" else ["-d", home, "-f", config]
        log = open(os.path.join(home, "log"), "a", encoding="utf-8")
        self.before = self.rules()
        self.process = lab.popen("client", binary, *arguments, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        log.close()
        self.log = os.path.join(home, "log")

    @staticmethod
    def singbox():
        return {"log": {"level": "warn"}, "inbounds": [{
            "type": "tun", "interface_name": "other0", "address": ["172.19.0.1/30", "fdfe:dcba:9876::1/126"],
            "auto_route": True, "strict_route": True}],
            "outbounds": [{"type": "direct"}], "route": {"auto_detect_interface": True}}

    @staticmethod
    def mihomo():
        return {"mode": "direct", "log-level": "warning", "geodata-mode": False, "geo-auto-update": False, "ipv6": True,
                "tun": {"enable": True, "stack": "gvisor", "device": "other1", "auto-route": True,
                        "auto-detect-interface": True, "strict-route": True}, "proxies": [], "rules": ["MATCH,DIRECT"]}

    def rules(self):
        """The priorities that are not ours."""
        return {rule["priority"] for rule in self.lab.ip("client", "rule", "show") if not 7100 <= rule["priority"] <= 7200}

    def wait_up(self):
        """Waits until its rules are there."""
        def up():
            if self.process.poll() is not None:
                with open(self.log, encoding="utf-8") as file:
                    raise netns.CommandFailed(f"{self.program} ended: {file.read()[-800:]}")
            return self.rules() - self.before
        return wait_until(up, 20, f"{self.program} has put its rules up", interval=0.1)

    def end(self):
        """Ends it as its user would."""
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


SHORT = (steady, switching, modes, engine_killed, rules_flushed, tables_flushed, link_deleted, guard_deleted,
         no_default_route, hostile_routes)
FULL = (steady, switching, modes, engine_killed, new_profile, rules_flushed, tables_flushed, link_deleted, guard_deleted,
        no_default_route, hostile_routes, uplink_bounced, uplink_moved, second_client("sing-box"), second_client("mihomo"),
        engine_host_killed, worker_restarted)


def run(bench: Bench, full=False, switches=(False, True), only=()):
    """Goes through everything (or the events named), once for each position of the kill switch."""
    without_tunnel(bench)
    chosen = [event for event in (FULL if full else SHORT) if not only or event.__name__ in only]
    for kill_switch in switches:
        for event in (connecting, *chosen, worker_killed, disconnecting):
            try:
                event(bench, kill_switch)
            except Exception as problem:  # one event that goes wrong must not hide what the others would show
                bench.broken.append(f"kill switch {on(kill_switch)}, {event.__name__}: {type(problem).__name__}: {problem}")
                recover(bench, kill_switch)
    return bench.judge()


def recover(bench, kill_switch):
    """Gets back to a tunnel that is up after an event went wrong."""
    try:
        restart(bench)
        bench.connect(kill_switch)
    except Exception as problem:
        bench.broken.append(f"and then: {problem}")

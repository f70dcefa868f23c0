"""What is measured: no proxy, the rivals as root, the engine's own limit, and the product; each started and stopped alike."""

import json
import os
import shutil
import subprocess

from lablib import lines, plan
from lablib.lab import wait_until

from .measuring import LOAD_PORT, family
from .report import REPOSITORY

API_PORT = 19090
# What the product has its engine write, and what mihomo writes by default: a line or more for every connection. The limit, the
# engine alone, writes errors only.
LOG_LEVEL = "info"


class Contender:
    """One way from the user's machine to the servers abroad."""

    name = "?"

    def __init__(self, lab):
        self.lab = lab
        self.process = None

    def way(self, address, port):
        """Where a client goes to reach a server's port through this contender."""
        return address, port

    def processes(self):
        """The ids of the processes traffic goes through; of no use when nothing runs."""
        return family(self.process.pid) if self.process else []

    def start(self):
        """Starts it and returns when traffic takes it."""

    def stop(self):
        """Stops it and returns when the machine is as before."""
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None
            wait_until(lambda: self.route_device() == "uplink", 10, f"{self.name} left the route behind")

    def route_device(self):
        """The device packets to the target leave by: 'uplink' without any tunnel."""
        routes = self.lab.ip("client", "route", "get", plan.WEB4)
        device = routes[0]["dev"] if routes else None
        plain = self.lab.ip("client", "route", "show", "default")[0]["dev"]
        return "uplink" if device == plain else device

    def wait_for_tunnel(self):
        """Returns when the route to the target leads into a tunnel."""
        wait_until(lambda: self.process.poll() is None and self.route_device() != "uplink", 15, f"{self.name} is not up")

    def popen(self, *arguments, config):
        """Starts a program as root on the user's machine with a configuration on standard input or in a file."""
        path = self.lab.path("home", f"bench-{self.name.split()[0]}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        self.process = self.lab.popen(
            "client", *[path if a == "CONFIG" else a for a in arguments], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class NoProxy(Contender):
    """The bare network."""

    name = "no proxy"


class SingBoxRoot(Contender):
    """sing-box as root with auto_route, its usual way: stack mixed, MTU 9000; optionally CN direct by rule-set, and beside its line
    all others and a urltest over them."""

    name = "sing-box root"

    def __init__(self, lab, domestic=False, line=None, all_lines=False):
        super().__init__(lab)
        self.domestic = domestic
        self.line = line or lines.outbounds()[0]
        self.all_lines = all_lines

    def config(self):
        """Its configuration."""
        line = self.line
        rules, rule_sets, others = [{"action": "sniff"}], [], []
        if self.domestic:
            rule_sets = [{"type": "local", "tag": name, "format": "binary", "path": self.lab.path("rule-sets", f"{name}.srs")}
                         for name in ("geosite-cn", "geoip-cn")]
            rules.append({"rule_set": ["geosite-cn", "geoip-cn"], "action": "route", "outbound": "direct"})
        if self.all_lines:
            others = [other for other in lines.outbounds() if other["tag"] != line["tag"]]
            others.append({"type": "urltest", "tag": "auto", "outbounds": [line["tag"], *[other["tag"] for other in others]]})
        return {
            "log": {"level": LOG_LEVEL},
            "dns": {"servers": [{"type": "udp", "tag": "local", "server": "223.5.5.5"}]},
            "inbounds": [{"type": "tun", "tag": "tun", "interface_name": "benchtun", "mtu": 9000, "stack": "mixed",
                          "address": ["172.19.0.1/30", "fdfe:dcba:9876::1/126"], "auto_route": True}],
            "outbounds": [line, {"type": "direct", "tag": "direct"}, *others],
            "route": {"auto_detect_interface": True, "default_domain_resolver": "local", "rule_set": rule_sets,
                      "rules": rules, "final": line["tag"]},
            "experimental": {"clash_api": {"external_controller": f"127.0.0.1:{API_PORT}"}},
        }

    def start(self):
        self.popen(self.lab.engine, "run", "-c", "CONFIG", config=self.config())
        self.wait_for_tunnel()


class MihomoRoot(Contender):
    """mihomo as root with its tun: stack mixed, MTU 9000; optionally CN direct by its own lists."""

    name = "mihomo root"

    def __init__(self, lab, domestic=False):
        super().__init__(lab)
        self.domestic = domestic

    def config(self):
        """Its configuration."""
        return {
            "log-level": LOG_LEVEL, "mode": "rule", "ipv6": True, "external-controller": f"127.0.0.1:{API_PORT}",
            "geodata-mode": True, "geo-auto-update": False,
            "tun": {"enable": True, "stack": "mixed", "mtu": 9000, "device": "benchtun", "auto-route": True,
                    "auto-detect-interface": True},
            "dns": {"enable": True, "nameserver": ["223.5.5.5"]},
            "sniffer": {"enable": True, "sniff": {"TLS": {}, "HTTP": {}}},
            "proxies": [shadowsocks("line", lines.outbounds()[0])],
            "rules": [*(["GEOSITE,cn,DIRECT", "GEOIP,CN,DIRECT"] if self.domestic else []), "MATCH,line"],
        }

    def start(self):
        self.popen(*self.command(), config=self.config())
        self.wait_for_tunnel()

    def command(self):
        """The command line, with a home directory that has the lists it would otherwise fetch."""
        home = self.lab.path("home", "mihomo")
        os.makedirs(home, exist_ok=True)
        for source, name in (("geoip.dat", "GeoIP.dat"), ("geosite.dat", "GeoSite.dat")):
            if not os.path.exists(os.path.join(home, name)):
                shutil.copy(os.path.join(REPOSITORY, ".engine", source), os.path.join(home, name))
        return os.path.join(REPOSITORY, ".engine", "mihomo"), "-d", home, "-f", "CONFIG"


def shadowsocks(name, outbound):
    """A shadowsocks outbound of sing-box as mihomo writes it."""
    return {"name": name, "type": "ss", "server": outbound["server"], "port": outbound["server_port"],
            "cipher": outbound["method"], "password": outbound["password"], "udp": True}


class EngineAlone(Contender):
    """The limit: the engine forwarding local ports through the same line, without any tunnel."""

    name = "engine alone"
    forwarded = {plan.IPERF_PORT: 15201, LOAD_PORT: 15301}

    def __init__(self, lab, line=None):
        super().__init__(lab)
        self.line = line or lines.outbounds()[0]

    def way(self, address, port):
        return "127.0.0.1", self.forwarded[port]

    def start(self):
        self.popen(self.lab.engine, "run", "-c", "CONFIG", config={
            "log": {"level": "error"},
            "inbounds": [{"type": "direct", "tag": f"in-{port}", "listen": "127.0.0.1", "listen_port": local,
                          "override_address": plan.WEB4, "override_port": port}
                         for port, local in self.forwarded.items()],
            "outbounds": [self.line],
        })

        def answers():
            listening = self.lab.exec("client", "ss", "-Hltn", "src", "127.0.0.1").stdout
            return all(f"127.0.0.1:{local} " in listening for local in self.forwarded.values())
        wait_until(answers, 10, "the engine's local ports are not open")


class Trocket(Contender):
    """The product, as a user runs it."""

    name = "Trocket"

    def __init__(self, lab, product, mode="global", line=None):
        super().__init__(lab)
        self.product = product
        self.mode = mode
        self.line = line or lines.outbounds()[0]["tag"]

    def processes(self):
        return family(self.product.worker.pid)

    def start(self):
        self.product.controller("connect", self.line, "--mode", self.mode)
        if self.mode == "rule":
            wait_until(lambda: self.product.status()["domesticFastPath"], 5, "domestic traffic goes past the engine", interval=0.05)

    def stop(self):
        self.product.controller("disconnect")

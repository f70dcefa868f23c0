"""What is measured: no proxy, the rivals as root, the engine's own limit, and the product; each started and stopped alike."""

import json
import os
import socket
import subprocess

from lablib import lines, plan
from lablib.lab import wait_until

from .report import REPOSITORY

FORWARD_PORT = 15201


class Contender:
    """One way from the user's machine to the servers abroad. `target` is where iperf3 goes."""

    name = "?"
    target, port = plan.WEB4, plan.IPERF_PORT

    def __init__(self, lab):
        self.lab = lab
        self.process = None

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
    """sing-box as root with auto_route, its usual way: stack mixed, MTU 9000."""

    name = "sing-box root"

    def start(self):
        self.popen(self.lab.engine, "run", "-c", "CONFIG", config={
            "log": {"level": "error"},
            "dns": {"servers": [{"type": "udp", "tag": "local", "server": "223.5.5.5"}]},
            "inbounds": [{"type": "tun", "tag": "tun", "interface_name": "benchtun", "mtu": 9000, "stack": "mixed",
                          "address": ["172.19.0.1/30", "fdfe:dcba:9876::1/126"], "auto_route": True}],
            "outbounds": [lines.outbounds()[0], {"type": "direct", "tag": "direct"}],
            "route": {"auto_detect_interface": True, "default_domain_resolver": "local",
                      "rules": [{"action": "sniff"}], "final": lines.outbounds()[0]["tag"]},
        })
        self.wait_for_tunnel()


class MihomoRoot(Contender):
    """mihomo as root with its tun: stack mixed, MTU 9000."""

    name = "mihomo root"

    def start(self):
        line = lines.outbounds()[0]
        home = self.lab.path("home", "mihomo")
        os.makedirs(home, exist_ok=True)
        self.popen(os.path.join(REPOSITORY, ".engine", "mihomo"), "-d", home, "-f", "CONFIG", config={
            "log-level": "error", "mode": "rule", "ipv6": True,
            "tun": {"enable": True, "stack": "mixed", "mtu": 9000, "device": "benchtun", "auto-route": True,
                    "auto-detect-interface": True},
            "dns": {"enable": True, "nameserver": ["223.5.5.5"]},
            "sniffer": {"enable": True, "sniff": {"TLS": {}, "HTTP": {}}},
            "proxies": [{"name": "line", "type": "ss", "server": line["server"], "port": line["server_port"],
                         "cipher": line["method"], "password": line["password"], "udp": True}],
            "rules": ["MATCH,line"],
        })
        self.wait_for_tunnel()


class EngineAlone(Contender):
    """The limit: the engine forwarding a local port through the same line, without any tunnel."""

    name = "engine alone"
    target, port = "127.0.0.1", FORWARD_PORT

    def start(self):
        self.popen(self.lab.engine, "run", "-c", "CONFIG", config={
            "log": {"level": "error"},
            "inbounds": [{"type": "direct", "tag": "in", "listen": "127.0.0.1", "listen_port": FORWARD_PORT,
                          "override_address": plan.WEB4, "override_port": plan.IPERF_PORT}],
            "outbounds": [lines.outbounds()[0]],
        })

        def answers():
            probe = ["/usr/bin/python3", "-I", "-c", f"import socket; socket.create_connection(('127.0.0.1', {FORWARD_PORT}))"]
            return self.lab.exec("client", *probe, check=False).returncode == 0
        wait_until(answers, 10, "the engine's local port is not open")


class Trocket(Contender):
    """The product, as a user runs it."""

    name = "Trocket"

    def __init__(self, lab, product):
        super().__init__(lab)
        self.product = product

    def start(self):
        self.product.controller("connect", lines.outbounds()[0]["tag"], "--mode", "global")

    def stop(self):
        self.product.controller("disconnect")


def free_port():
    """A loopback port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]

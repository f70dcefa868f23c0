"""Neighbours on the user's machine: bridges as Docker and libvirt make them, and VPNs as wg-quick and Tailscale set them up."""

import os
import subprocess

from lablib import netns, plan
from lablib.lab import Lab

HERE = os.path.dirname(os.path.abspath(__file__))


class Guest:
    """A namespace behind a bridge of the user's machine, with a page server in it."""

    def __init__(self, lab: Lab, bridge, network4, network6, rules):
        self.lab, self.bridge, self.network4 = lab, bridge, network4
        self.address4, self.address6 = f"{network4}.2", f"{network6}::2"
        self.table = f"guest_{bridge}"
        self.holder = lab.popen("client", "unshare", "--net", "sh", "-c", "echo ready; exec sleep infinity", stdout=subprocess.PIPE)
        assert self.holder.stdout.readline() == "ready\n"
        netns.ip_batch(lab.name, "client", [
            f"link add {bridge} type bridge", f"address add {network4}.1/24 dev {bridge}", f"address add {network6}::1/64 dev {bridge} nodad",
            f"link set {bridge} up", f"link add v{bridge} type veth peer name eth0 netns {self.holder.pid}",
            f"link set v{bridge} master {bridge}", f"link set v{bridge} up"])
        netns.run([*self.inside, "ip", "-batch", "-"], input="\n".join([
            "link set lo up", "link set eth0 up", f"address add {self.address4}/24 dev eth0",
            f"address add {self.address6}/64 dev eth0 nodad", f"route add default via {network4}.1",
            f"route add default via {network6}::1"]) + "\n")
        netns.nft(lab.name, "client", rules.format(table=self.table, bridge=bridge, guest=self.address4, net=network4))
        self.server = subprocess.Popen(
            [*self.inside, "/usr/bin/python3", "-I", os.path.join(HERE, "tellpeer.py"), "80"], stdout=subprocess.PIPE, text=True,
            preexec_fn=netns.die_with_parent)
        assert self.server.stdout.readline() == "ready\n"

    @property
    def inside(self):
        """What goes before a command to run it in the guest."""
        return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net"]

    def ask(self, *command):
        """Runs something in the guest; its output."""
        return subprocess.run([*self.inside, *command], capture_output=True, text=True, check=False, timeout=30).stdout.strip()

    def close(self):
        """Removes it."""
        for process in (self.server, self.holder):
            process.kill()
            process.wait()
        self.lab.exec("client", "ip", "link", "delete", self.bridge, check=False)
        self.lab.exec("client", "nft", "delete", "table", "inet", self.table, check=False)


# As Docker: a published port, masquerading, and a forward chain that knows its bridge.
DOCKER = """
table inet {table} {{
  chain pre {{ type nat hook prerouting priority dstnat; iifname != "{bridge}" tcp dport 8080 dnat ip to {guest}:80; }}
  chain post {{ type nat hook postrouting priority srcnat; ip saddr {net}.0/24 oifname != "{bridge}" masquerade;
               ip6 saddr fd00::/8 oifname != "{bridge}" masquerade; }}
  chain forward {{ type filter hook forward priority filter; ct state established,related accept;
    iifname "{bridge}" accept; oifname "{bridge}" tcp dport 80 accept; oifname "{bridge}" reject; }}
}}
"""
# As libvirt: masquerading, nothing from outside.
LIBVIRT = """
table inet {table} {{
  chain post {{ type nat hook postrouting priority srcnat; ip saddr {net}.0/24 ip daddr != {net}.0/24 masquerade;
               ip6 saddr fd00::/8 oifname != "{bridge}" masquerade; }}
  chain forward {{ type filter hook forward priority filter; oifname "{bridge}" ct state established,related accept;
    oifname "{bridge}" reject; }}
}}
"""


class Vpn:
    """A VPN as the kernel's WireGuard behaves: a link whose outer packets are the system's own, marked, from no bound socket.
    The other end is abroad; pages abroad then see 10.66.0.2."""

    PORT, SERVER = 51820, "1.0.0.1"

    def __init__(self, lab: Lab, mark, rules):
        self.lab, self.rules = lab, rules
        self.processes = [self.start("world", "server", 0), self.start("client", "client", mark)]
        netns.ip_batch(lab.name, "world", ["address add 10.66.0.1/24 dev vpn0", "link set vpn0 up mtu 1280"])
        netns.ip_batch(lab.name, "client", ["address add 10.66.0.2/24 dev vpn0", "link set vpn0 up mtu 1280", *rules])

    def start(self, host, role, mark):
        process = self.lab.popen(host, "/usr/bin/python3", "-I", os.path.join(HERE, "vpn.py"), role, self.SERVER, self.PORT, mark,
                                 stdout=subprocess.PIPE)
        assert process.stdout.readline() == "ready\n"
        return process

    def close(self):
        """Takes it down: rules, then the links with their processes."""
        for rule in self.rules:
            self.lab.exec("client", "ip", *rule.replace(" add ", " delete ", 1).split(), check=False)
        for process in self.processes:
            process.kill()
            process.wait()


WG_QUICK = ["route add default dev vpn0 table 51820", "rule add not fwmark 51820 table 51820 priority 32765",
            "rule add table main suppress_prefixlength 0 priority 32764"]
TAILSCALE = ["route add 10.66.0.1/32 dev vpn0 table 52", "rule add priority 5210 fwmark 0x80000/0xff0000 table main",
             "rule add priority 5230 fwmark 0x80000/0xff0000 table default", "rule add priority 5250 fwmark 0x80000/0xff0000 unreachable",
             "rule add priority 5270 table 52"]

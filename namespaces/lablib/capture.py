"""Packets seen on the way: tcpdump on a link of the router (or any host), with a barrier so that none is missed."""

import secrets
import signal
import subprocess

from . import netns, plan
from .lab import PATIENCE, Lab, wait_until

# What a machine's own neighbour talk looks like; it says nothing about leaks.
NOT_NEIGHBOUR_TALK = "not arp and not (icmp6 and (ip6[40] >= 133 and ip6[40] <= 137)) and not (ip6 and ip6[6] = 0)"


class Capture:
    """A running capture. As a context manager it stops at the end; `lines()` may be asked during and after it."""

    def __init__(self, lab: Lab, expression="", host="isp", link="client"):
        self.lab, self.host, self.link = lab, host, link
        self.file = lab.path("log", f"capture-{secrets.token_hex(4)}.pcap")
        self.process = lab.popen(
            host, "tcpdump", "-i", link, "-n", "-U", "--immediate-mode", "-Z", "root", "-s", "256", "-B", "4096",
            "-w", self.file, *([expression] if expression else []), stderr=subprocess.PIPE)
        for line in self.process.stderr:
            if "listening on" in line:
                return
        raise netns.CommandFailed(f"tcpdump on {link} in {host} ended at once")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends the capture; everything the link saw before is in the file."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(timeout=PATIENCE)

    def lines(self, expression=""):
        """The packets so far which match a tcpdump expression, one line each as tcpdump prints them."""
        done = subprocess.run(["tcpdump", "-n", "-q", "-r", self.file, *([expression] if expression else [])],
                              capture_output=True, text=True, check=False)
        return done.stdout.splitlines()

    def barrier(self):
        """Waits until a packet sent now has been written, and so every earlier one has. Needs a filter that lets UDP pass."""
        # Above those that programs are given for their own.
        port = 61001 + secrets.randbelow(4535)
        self.lab.exec("isp", "/usr/bin/python3", "-c", (
            "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
            f"s.sendto(b'barrier', ('{plan.CLIENT4}', {port}))"))
        wait_until(lambda: self.lines(f"udp and dst port {port}"), 5, "the capture's barrier packet")


def outgoing(expression="", engine_servers=()):
    """A tcpdump expression for what the user's machine sends out, neighbour talk and the lines' servers excepted."""
    parts = [f"ether src {plan.CLIENT_MAC}", NOT_NEIGHBOUR_TALK]
    parts += [f"not dst host {server}" for server in engine_servers]
    if expression:
        parts.append(f"({expression})")
    return " and ".join(parts)

"""How long after the network under the tunnel is there again a page comes, whatever had happened to it; kill switch on."""

import contextlib
import json
import os
import signal
import subprocess
import time

from lablib import lines, plan, wayout
from lablib.lab import wait_until
from lablib.product import children

from .measuring import PYTHON

COMING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "coming.py")
FIRST = lines.LINES[0][1]
# Before the name of every row.
PAGE = "page again after "
# Milliseconds.
LIMIT = 2000
PAGES = {"IPv4": (f"http://{plan.WEB4}/ip", lines.exit4(FIRST)), "IPv6": (f"http://[{plan.WEB6}]/ip", lines.exit6(FIRST)),
         "by name": ("http://ip.example.com/ip", lines.exit4(FIRST))}


class Event:
    """What happens to the network: what takes it away, and what, timed, brings it back."""

    name = "?"
    # Whether the tunnel is up before; else the event begins without one.
    is_connected = True

    def __init__(self, lab, product):
        self.lab, self.product = lab, product

    def away(self):
        """Nothing, where one step is both."""

    def back(self):
        """The last of what brings the network back."""
        wayout.up(self.lab)

    def restore(self):
        """The lab as it was before."""


class LinkDown(Event):
    name = "the link was down"

    def away(self):
        wayout.down(self.lab)


class NoDefaultRoute(Event):
    name = "the default routes were gone"

    def away(self):
        wayout.lose_default_routes(self.lab)


class Moved(Event):
    name = "the default routes moved"

    def back(self):
        wayout.move(self.lab)

    def restore(self):
        wayout.up(self.lab)


class Readdressed(Event):
    name = "the address changed"

    def back(self):
        wayout.readdress(self.lab)

    def restore(self):
        wayout.restore_addresses(self.lab)


class Replaced(Event):
    name = "the link was replaced"

    def away(self):
        self.first = wayout.indices(self.lab)
        wayout.pull_out(self.lab)

    def back(self):
        wayout.plug_in(self.lab, "eth0", wayout.OTHER_MAC, wayout.OTHER_INDICES)

    def restore(self):
        wayout.pull_out(self.lab)
        wayout.plug_in(self.lab, "eth0", plan.CLIENT_MAC, self.first)


class Asleep(Event):
    name = "a sleep with the link down"

    def away(self):
        self.stopped = [self.product.worker.pid]
        for member in self.stopped:
            self.stopped += children(member)
        for member in self.stopped:
            os.kill(member, signal.SIGSTOP)
        wayout.down(self.lab)
        time.sleep(1)  # asleep
        wayout.up(self.lab)

    def back(self):
        for member in self.stopped:
            os.kill(member, signal.SIGCONT)


class Started(Event):
    name = "connecting without a network"
    is_connected = False

    def away(self):
        wayout.down(self.lab)
        self.product.controller("connect", FIRST, "--kill-switch", "--mode", "rule", "--wait", "3", check=False)


EVENTS = (LinkDown, NoDefaultRoute, Moved, Readdressed, Replaced, Asleep, Started)


def measure(report, lab, product):
    """One round of all events."""
    connected = False
    for kind in EVENTS:
        event = kind(lab, product)
        if connected != event.is_connected:
            if event.is_connected:
                product.controller("connect", FIRST, "--kill-switch", "--mode", "rule")
            else:
                product.controller("disconnect")
            connected = event.is_connected
        happen(report, event)
        wait_until(lambda: None not in arrivals(lab, lambda: None).values(), 30, "all is as before")
    product.controller("disconnect")


def happen(report, event):
    """One event and the pages after it."""
    event.away()
    try:
        for page, took in arrivals(event.lab, event.back).items():
            report.add(metric(event, page), "Trocket", took, "ms")
            report.add(metric(event, page), "allowed", LIMIT, "ms")
    finally:
        event.restore()


def metric(event, page):
    """The row of a page after an event, by its class or one of it."""
    return f"{PAGE}{event.name}, {page}"


def arrivals(lab, action):
    """Does something and tells how many milliseconds after its beginning each of the pages came, or None."""
    with contextlib.ExitStack() as stack:
        asking = {}
        for name, (url, address) in PAGES.items():
            asking[name] = stack.enter_context(lab.user_popen(
                *PYTHON, COMING, url, address, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        for process in asking.values():
            process.stdout.readline()
        began = time.monotonic()
        action()
        for process in asking.values():
            process.stdin.write("\n")
            process.stdin.flush()
        told = {name: json.loads(process.stdout.readline()) for name, process in asking.items()}
    return {name: came and (came - began) * 1000 for name, came in told.items()}

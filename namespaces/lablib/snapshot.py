"""Everything about a host's network that could be left changed, as text, to compare before and after bit for bit."""

import difflib
import json
import os

from . import netns
from .lab import Lab

IP_VIEWS = {
    "rules, IPv4": ("-4", "rule", "show"),
    "rules, IPv6": ("-6", "rule", "show"),
    "routes, IPv4": ("-4", "route", "show", "table", "all"),
    "routes, IPv6": ("-6", "route", "show", "table", "all"),
    "links": ("link", "show"),
    "addresses": ("address", "show"),
}
# Counters and clocks, which change by themselves.
MOVING_SETTINGS = (
    "net.netfilter.nf_conntrack_count", "net.ipv4.tcp_fastopen_key", "net.ipv6.conf.all.stable_secret", "net.ipv4.route",
)


def take(lab: Lab, host="client"):
    """The state of a host: a dictionary from what it is to its text."""
    state = {}
    for title, view in IP_VIEWS.items():
        items = [json.dumps(item, sort_keys=True) for item in lab.ip(host, "-details", *view)]
        # Routes have no order of their own: those of a link that was down and up again come last.
        state[title] = "\n".join(sorted(items) if title.startswith("routes") else items)
    state["nft rules"] = lab.exec(host, "nft", "list", "ruleset").stdout
    # Neither have these: they are listed in the order in which the links were made.
    state["queues"] = "\n".join(sorted(lab.exec(host, "tc", "qdisc", "show").stdout.splitlines()))
    settings = lab.exec(host, "sysctl", "-a", "--pattern", "^net\\.").stdout.splitlines()
    state["settings"] = "\n".join(line for line in settings if not line.startswith(MOVING_SETTINGS))
    if os.path.isdir(os.path.join(netns.own(lab.name, host), "run", "dbus")):
        # What it was told; its `status` also has what it learnt of its servers.
        state["resolved"] = "".join(f"{what}: {line}" for what in ("dns", "domain", "default-route", "dnsovertls", "dnssec", "llmnr",
                                                                   "mdns", "nta")
                                    for line in lab.exec(host, "resolvectl", what).stdout.splitlines(keepends=True))
    state["resolv.conf"] = lab.exec(host, "cat", "/etc/resolv.conf").stdout
    return state


def differences(before, after):
    """What changed between two snapshots, as lines a person can read; empty when they are the same."""
    found = []
    for title in before:
        lines = difflib.unified_diff(before[title].splitlines(), after[title].splitlines(), lineterm="", n=0)
        found += [f"{title}: {line}" for line in lines if not line.startswith(("---", "+++", "@@"))]
    return found


def own_objects(lab: Lab):
    """Trocket's objects on the user's machine by their numbers and names: links, rules, routes, tables. None: clean."""
    found = [f"link {link['ifname']}" for link in lab.ip("client", "link", "show")
             if link["ifname"].startswith("trocket")]
    for family in ("-4", "-6"):
        found += [f"rule {rule['priority']}" for rule in lab.ip("client", family, "rule", "show")
                  if 7100 <= rule["priority"] <= 7200]
        found += [f"route {route['dst']} in table {route['table']}"
                  for route in lab.ip("client", family, "route", "show", "table", "all")
                  if str(route.get("table")) in ("7100", "7101")]
    tables = lab.exec("client", "nft", "list", "tables").stdout
    found += [line for line in tables.splitlines() if "trocket" in line]
    return found


def route_device(lab: Lab, address, source=None):
    """The link the kernel would send a new local packet out of."""
    # A route look-up of a locally made packet has the loopback as its input, as `iif lo` in the rules wants it.
    arguments = ["route", "get", address, *(["from", source] if source else [])]
    return lab.ip("client", *arguments)[0].get("dev")

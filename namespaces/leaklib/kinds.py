"""The probes by name: who sends, what, over which family, and the address that tells one from all others on the wire.

Every (origin, kind) has a destination of its own that nobody else ever speaks to, so a packet to it names its sender. Probes
to the neighbourhood's resolvers share an address and are told by the name in the question or by the TCP port.
"""

from lablib import plan

# Origins in order; the number is a part of every destination.
ORIGINS = ("user", "root", "other", "address", "device", "container")
DESCRIPTIONS = {
    "user": "unbound, the user",
    "root": "unbound, uid 0",
    "other": "unbound, another uid",
    "address": "bound to the uplink's address",
    "device": "bound to the uplink",
    "container": "a container (forwarded)",
    "before": "opened before connect",
}
UIDS = {"user": plan.USER, "root": 0, "other": 65534, "address": plan.USER, "device": plan.USER, "container": plan.USER}

# (name, transport, port); the place in the list is a part of every destination.
KINDS = (("TCP", "tcp", 443), ("UDP", "udp", 443), ("UDP high", "udp", 40000), ("ICMP", "icmp", 0), ("DNS", "udp", 53),
         ("DNS/TCP", "tcp", 53), ("DoT", "tcp", 853))
# Resolvers of the neighbourhood, which must not be asked around the tunnel either: (name, transport, port, where).
NEIGHBOURS = (("router DNS", "udp", 53, "router"), ("router DNS/TCP", "tcp", 53, "router"),
              ("router DoT", "tcp", 853, "router"), ("fe80 DNS", "udp", 53, "link"), ("fe80 DNS/TCP", "tcp", 53, "link"))
NAMES = tuple(kind[0] for kind in KINDS + NEIGHBOURS)
LINK_LOCAL = "fe80::1"


def address(origin, kind, family):
    """The destination of one probe."""
    o, k = ORIGINS.index(origin), [entry[0] for entry in KINDS].index(kind)
    return f"20.0.{o + 1}.{k + 1}" if family == 4 else f"2a00:1450::{o + 1}:{k + 1}"


def probes(origin):
    """Everything one origin sends: (name, transport, port, family, destination)."""
    made = [(name, transport, port, family, address(origin, name, family))
            for name, transport, port in KINDS for family in (4, 6)]
    if origin == "container":
        return made
    for name, transport, port, where in NEIGHBOURS:
        if where == "router":
            made += [(name, transport, port, 4, plan.ROUTER4), (name, transport, port, 6, plan.ROUTER6)]
        else:
            made.append((name, transport, port, 6, LINK_LOCAL))
    return made


def cells(origins=ORIGINS):
    """Every cell of the table: (origin, name, family)."""
    return [(origin, name, family) for origin in origins for name, _, _, family, _ in probes(origin)]

"""The probes by name: who sends, what, over which family, and the address that tells one from all others on the wire.

Every (origin, kind) has a destination of its own that nobody else ever speaks to, so a packet to it names its sender. Probes
to resolvers of the neighbourhood and to domestic ones share an address and are told by the name in the question, or by the port.
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
    "before": "opened before: TCP and UDP connections on which the far end is quiet or never stops talking, and uploads whose "
              "program has closed the socket. What is reset is opened again, through the tunnel then; before every connect all are "
              "opened anew, outside",
    "domestic": "to Chinese addresses, by any of them",
}
UIDS = {"user": plan.USER, "root": 0, "other": 65534, "address": plan.USER, "device": plan.USER, "container": plan.USER}

# (name, transport, port); the place in the list is a part of every destination.
KINDS = (("TCP", "tcp", 443), ("UDP", "udp", 443), ("UDP high", "udp", 40000), ("ICMP", "icmp", 0), ("DNS", "udp", 53),
         ("DNS/TCP", "tcp", 53), ("DoT", "tcp", 853), ("DoQ", "udp", 853))
# To Chinese addresses: past the tunnel where the fast path leads, but for the questions.
DOMESTIC = (("CN", "tcp", 443), ("CN UDP", "udp", 40000), ("CN DNS", "udp", 53), ("CN DoT", "tcp", 853), ("CN DoQ", "udp", 853))
# What is let past when domestic traffic is, by name; and what the engine itself sends there for others.
PAST, BY_ENGINE = ("CN", "CN UDP"), "CN by the engine"
# Resolvers of the neighbourhood, which must not be asked around the tunnel either: (name, transport, port, where).
NEIGHBOURS = (("router DNS", "udp", 53, "router"), ("router DNS/TCP", "tcp", 53, "router"),
              ("router DoT", "tcp", 853, "router"), ("router DoQ", "udp", 853, "router"),
              ("fe80 DNS", "udp", 53, "link"), ("fe80 DNS/TCP", "tcp", 53, "link"), ("fe80 DoT", "tcp", 853, "link"),
              ("fe80 DoQ", "udp", 853, "link"))
# Another network the same wire may be one day: the machine's and the router's addresses there.
OTHER4, OTHER6, OTHER_ROUTER4, OTHER_ROUTER6 = "203.0.114.11", "2001:db8:5::11", "203.0.114.1", "2001:db8:5::1"
# What nothing but the guard holds back of a bound socket; questions are led into the tunnel by rules.
BOUND = ("TCP", "UDP", "UDP high", "ICMP")
# What nothing but the guard holds back of anybody: on the link, and no rule leads it into the tunnel.
GUARDED = ("fe80 DNS", "fe80 DNS/TCP", "fe80 DoT", "fe80 DoQ", "router DoT", "router DoQ")
LINK_LOCAL = "fe80::1"
# Where all of them are, by whether they are Chinese.
NETWORKS = {True: ("220.181.96.0/20", "240e:83:205:58::/96"), False: ("20.0.0.0/16", "2a00:1450::/96")}


def address(origin, kind, family):
    """The destination of one probe."""
    names = [entry[0] for entry in KINDS + DOMESTIC]
    o, k = ORIGINS.index(origin), names.index(kind)
    if kind.startswith("CN"):
        return f"220.181.{o + 101}.{k + 1}" if family == 4 else f"240e:83:205:58::{o + 1}:{k + 1}"
    return f"20.0.{o + 1}.{k + 1}" if family == 4 else f"2a00:1450::{o + 1}:{k + 1}"


def probes(origin):
    """Everything one origin sends: (name, transport, port, family, destination)."""
    wanted = KINDS if origin == "container" else KINDS + DOMESTIC
    made = [(name, transport, port, family, address(origin, name, family))
            for name, transport, port in wanted for family in (4, 6)]
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


# MARK: connections that are kept open

# Port of the far end → what goes on there, by transport.
KEPT = {7777: "quiet", 7778: "talkative", 7779: "closed upload"}
KEPT_KINDS = tuple((f"{transport} {what}", family) for transport in ("TCP", "UDP") for what in ("quiet", "talkative")
                   for family in (4, 6)) + tuple(("TCP closed upload", family) for family in (4, 6))

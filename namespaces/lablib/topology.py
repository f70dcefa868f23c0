"""Raises the lab's hosts: namespaces, links, addresses, routes and kernel settings, every one set explicitly."""

import os

from . import plan
from .netns import ip_batch, nft, run

# (host, its link, its address towards the router, the router's link, the router's address) for the routed sides.
ROUTED = (
    ("abroad", "198.51.100.2", "2001:db8:2::2", "abroad", "198.51.100.1", "2001:db8:2::1"),
    ("world", "192.0.2.2", "2001:db8:3::2", "world", "192.0.2.1", "2001:db8:3::1"),
    ("home", "100.100.0.2", "2001:db8:4::2", "home", "100.100.0.1", "2001:db8:4::1"),
)


def create(name, rp_filter):
    """Makes all namespaces and wires them."""
    run(["ip", "-batch", "-"], input="".join(f"netns add {plan.namespace(name, host)}\n" for host in plan.HOSTS))
    settings(name, rp_filter)
    links(name)
    addresses(name)
    faults(name)


def settings(name, rp_filter):
    """A fresh namespace copies or forgets settings depending on the kernel, so the lab says what it wants."""
    for host in plan.HOSTS:
        router = host in ("isp", "lan", "world")
        values = {
            "net.ipv4.ip_forward": int(router),
            "net.ipv6.conf.all.forwarding": int(router),
            "net.ipv6.conf.all.disable_ipv6": 0,
            "net.ipv6.conf.default.disable_ipv6": 0,
            "net.ipv6.conf.default.accept_ra": 0,
            "net.ipv6.conf.all.accept_ra": 0,
            "net.ipv6.conf.default.accept_dad": 0,
            "net.ipv6.conf.all.accept_dad": 0,
            "net.ipv6.conf.default.router_solicitations": 0,
            "net.ipv4.conf.all.rp_filter": rp_filter if host == "client" else 0,
            "net.ipv4.conf.default.rp_filter": rp_filter if host == "client" else 0,
            "net.ipv4.conf.all.send_redirects": 0,
            "net.ipv4.conf.default.send_redirects": 0,
            "net.ipv4.conf.all.accept_redirects": 0,
            "net.ipv4.ping_group_range": "0 2147483647",
        }
        text = "".join(f"{key} = {value}\n" for key, value in values.items())
        run(["ip", "netns", "exec", plan.namespace(name, host), "sysctl", "-q", "-p", "-"], input=text)


def links(name):
    """Each link is made with both ends inside namespaces; nothing of it ever appears on the real machine."""
    def pair(host, link, peer_host, peer_link, mac=""):
        address = f"address {mac} " if mac else ""
        return (
            f"link add {link} netns {plan.namespace(name, host)} {address}type veth "
            f"peer name {peer_link} netns {plan.namespace(name, peer_host)}"
        )

    lines = [
        pair("client", "eth0", "isp", "client", plan.CLIENT_MAC),
        pair("lan", "eth0", "isp", "lan"),
        pair("client", "eth1", "lan", "eth1"),
        *[pair(host, "eth0", "isp", link) for host, _, _, link, _, _ in ROUTED],
    ]
    run(["ip", "-batch", "-"], input="\n".join(lines) + "\n")


def addresses(name):
    """Addresses and routes. IPv6 addresses are `nodad`: usable at once."""
    ip_batch(name, "client", [
        "link set lo up", "link set eth0 up", "link set eth1 up",
        f"address add {plan.CLIENT4}/24 brd + dev eth0", f"address add {plan.CLIENT6}/64 dev eth0 nodad",
        f"address add {plan.LAN_CLIENT4}/24 brd + dev eth1", f"address add {plan.LAN_CLIENT6}/64 dev eth1 nodad",
        f"route add default via {plan.ROUTER4} dev eth0", f"route add default via {plan.ROUTER6} dev eth0",
    ])
    ip_batch(name, "lan", [
        "link set lo up", "link set eth0 up", "link set eth1 up",
        f"address add {plan.LAN4}/24 brd + dev eth0", f"address add {plan.LAN6}/64 dev eth0 nodad",
        f"address add {plan.LAN_HOST4}/24 brd + dev eth1", f"address add {plan.LAN_HOST6}/64 dev eth1 nodad",
        f"route add default via {plan.ROUTER4} dev eth0", f"route add default via {plan.ROUTER6} dev eth0",
    ])
    nft(name, "lan", 'table inet second_uplink { chain out { type nat hook postrouting priority srcnat; '
                     'iifname "eth1" oifname "eth0" masquerade; }; }')
    router = [
        "link set lo up", "link add br0 type bridge forward_delay 0 stp_state 0 mcast_snooping 0", "link set br0 up",
        "link set client master br0", "link set client up", "link set lan master br0", "link set lan up",
        f"address add {plan.ROUTER4}/24 brd + dev br0", f"address add {plan.ROUTER6}/64 dev br0 nodad",
        "address add fe80::1/64 dev br0 nodad",
    ]
    for host, host4, host6, link, router4, router6 in ROUTED:
        router += [f"link set {link} up", f"address add {router4}/24 dev {link}",
                   f"address add {router6}/64 dev {link} nodad"]
        ip_batch(name, host, [
            "link set lo up", "link set eth0 up",
            f"address add {host4}/24 dev eth0", f"address add {host6}/64 dev eth0 nodad",
            f"route add default via {router4} dev eth0", f"route add default via {router6} dev eth0",
        ])
    router += [f"route add {address} via 100.100.0.2 dev home" for address in plan.HOME4]
    router += [f"route add {address} via 2001:db8:4::2 dev home" for address in plan.HOME6]
    router += ["route add default via 192.0.2.2 dev world", "route add default via 2001:db8:3::2 dev world"]
    ip_batch(name, "isp", router)
    ip_batch(name, "home", [f"address add {a} dev lo" for a in plan.HOME4]
             + [f"address add {a} dev lo nodad" for a in plan.HOME6])
    ip_batch(name, "world", [f"address add {a}/32 dev {world_link(a)}" for a in plan.WORLD4]
             + [f"address add {a}/128 dev {world_link(a)} nodad" for a in plan.WORLD6]
             # What has no server is refused at once, as a real far end does, instead of going back and forth.
             + ["route del default", "route del ::/0", "route add unreachable default",
                "route add unreachable ::/0",
                *[f"route add {net} via 192.0.2.1 dev eth0"
                  for net in ("203.0.113.0/24", "198.51.100.0/24", "100.100.0.0/24", *plan.HOME4)],
                *[f"route add {net} via 2001:db8:3::1 dev eth0"
                  for net in ("2001:db8:1::/64", "2001:db8:2::/64", "2001:db8:4::/64", *plan.HOME6)]])
    ip_batch(name, "abroad", [f"address add {plan.ABROAD4.format(n)}/24 dev eth0" for n in (*range(11, 20), 90)]
             + [f"address add {plan.ABROAD6.format(n)}/64 dev eth0 nodad" for n in range(11, 20)])


def world_link(address):
    """Addresses of the world's own prefix must be on the link: neighbour discovery asks there and nowhere else."""
    return "eth0" if address.startswith(("192.0.2.", "2001:db8:3::")) else "lo"


def faults(name):
    """The router's table for what goes wrong on the way: addresses whose packets vanish without a word."""
    nft(name, "isp", f"""
        table inet faults {{
          set silent4 {{ type ipv4_addr; flags interval; elements = {{ {plan.SILENT4} }}; }}
          set silent6 {{ type ipv6_addr; flags interval; }}
          chain pass {{ type filter hook forward priority filter; policy accept;
            ip daddr @silent4 drop; ip6 daddr @silent6 drop; }}
        }}""")


def blackhole(name, address, vanish=True):
    """Makes packets to an address or prefix vanish in the router, or lets them pass again."""
    family = "6" if ":" in address else "4"
    verb = "add" if vanish else "delete"
    nft(name, "isp", f"{verb} element inet faults silent{family} {{ {address} }}")


def etc_files(name, host, files):
    """Writes what `ip netns exec` lays over /etc in one host."""
    base = os.path.join("/etc/netns", plan.namespace(name, host))
    for path, text in files.items():
        target = os.path.join(base, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
    return base

"""The lab's addressing plan: hosts, addresses, names and where everything a lab owns is kept.

    lan ──┐                          ┌── abroad   the proxy server: one sing-box, seven protocols, one address a line
          ├─ br0 [isp] ──────────────┼── world    foreign web, DNS, subscription and iperf3 servers
    client ┘   captures happen here  └── home     domestic web, DNS and iperf3 servers
      └───── 192.168.77.0/24 ── lan (which also routes, as a second uplink)
"""

import os
import re

HOSTS = ("client", "lan", "isp", "abroad", "world", "home")
ROOT = "/run/trocket-lab"
USER = 61001

# The user's machine, its router and its neighbour.
CLIENT4, CLIENT6 = "203.0.113.10", "2001:db8:1::10"
ROUTER4, ROUTER6 = "203.0.113.1", "2001:db8:1::1"
LAN4, LAN6 = "203.0.113.20", "2001:db8:1::20"
LAN_CLIENT4, LAN_CLIENT6 = "192.168.77.10", "fd77::10"
LAN_HOST4, LAN_HOST6 = "192.168.77.20", "fd77::20"
CLIENT_MAC = "02:6c:61:62:00:10"

# The proxy server. Line number N listens on, and leaves from, the address N of these networks.
ABROAD4, ABROAD6 = "198.51.100.{}", "2001:db8:2::{}"
REFUSED4, SILENT4 = "198.51.100.90", "198.51.100.91"

# Foreign servers. "poison" is what the domestic DNS says for a foreign name; "overseas" what a foreign DNS says for a
# domestic name, so that a test can tell who was asked.
WEB4, WEB6 = "192.0.2.80", "2001:db8:3::80"
SUB4, SUB6 = "192.0.2.53", "2001:db8:3::53"
SELF_SIGNED4 = "192.0.2.66"
POISON4, POISON6 = "192.0.2.253", "2001:db8:3::253"
OVERSEAS4, OVERSEAS6 = "192.0.2.88", "2001:db8:3::88"
WORLD4 = (WEB4, SUB4, SELF_SIGNED4, POISON4, OVERSEAS4, "8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9")
WORLD6 = (
    WEB6, SUB6, POISON6, OVERSEAS6, "2001:4860:4860::8888", "2001:4860:4860::8844", "2606:4700:4700::1111",
    "2606:4700:4700::1001", "2620:fe::fe",
)

# Domestic servers: real Chinese addresses, so that the real address lists are what decides.
CN4, CN6 = "220.181.38.148", "240e:83:205:58:0:ff:b09f:36bf"
HOME4 = (CN4, "223.5.5.5", "223.6.6.6", "119.29.29.29", "114.114.114.114", "180.76.76.76")
HOME6 = (CN6, "2400:3200::1", "2400:3200:baba::1", "2402:4e00::")

# Names. A leading dot means the name and everything below it.
DOMESTIC_NAMES = (
    ".cn", ".baidu.com", ".qq.com", ".taobao.com", ".jd.com", ".bilibili.com", ".163.com", ".alidns.com", ".doh.pub",
    ".dot.pub", ".dns.pub", ".114dns.com", ".miui.com",
)
FOREIGN_NAMES = (
    ".example.com", ".example.org", ".google.com", ".gstatic.com", ".cloudflare.com", "github.com",
    "raw.githubusercontent.com", "www.youtube.com", "captive.apple.com", "detectportal.firefox.com",
)
RESOLVER_NAMES = {
    "dns.google": ("8.8.8.8", "2001:4860:4860::8888"),
    "one.one.one.one": ("1.1.1.1", "2606:4700:4700::1111"),
    "cloudflare-dns.com": ("1.1.1.1", "2606:4700:4700::1111"),
    "dns.quad9.net": ("9.9.9.9", "2620:fe::fe"),
}
DOMESTIC_RESOLVER_NAMES = {
    "dns.alidns.com": ("223.5.5.5", "2400:3200::1"),
    "doh.pub": ("119.29.29.29", "2402:4e00::"),
    "dot.pub": ("119.29.29.29", "2402:4e00::"),
}
SUB_NAME = "sub.example.net"
SELF_SIGNED_NAME = "selfsigned.example.net"
LINE_DOMAIN = "line.example.net"
TOKEN = "k3y5f0r7h31ab"

IPERF_PORT = 5201
SSH_PORT = 2222
# UDP on these ports answers with the asker's address: where QUIC would be, and a high one.
MIRROR_PORTS = (443, 40000)


def check_name(name):
    """Accepts a lab's name, or raises ValueError."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,19}", name):
        raise ValueError(f"{name!r} is no lab name: up to 20 of a-z, 0-9 and -")
    return name


def namespace(name, host):
    """The name `ip netns` knows a host's namespace by."""
    return f"lab-{name}-{host}"


def directory(name):
    """Where a lab keeps everything it owns."""
    return os.path.join(ROOT, name)

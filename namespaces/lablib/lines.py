"""The lab's lines: the one sing-box server that serves them all, and the subscription in the shapes providers send.

Every line has its own server address (plan.ABROAD4 with the line's number) and its traffic leaves from that address, so
a page which tells its visitor's address tells the line.
"""

import base64
import hashlib
import json
import uuid

from . import plan

# number, name, type, port, host name (None: the address itself), multiplier a reader should find in the name
LINES = (
    (11, "🇭🇰 香港 01 x1.5", "shadowsocks", 8388, None, 1.5),
    (12, "🇯🇵 日本 0.5倍", "trojan", 8443, "jp", 0.5),
    (13, "🇸🇬 新加坡 | 倍率:2", "vmess", 2053, "sg", 2),
    (14, "🇺🇸 美国 洛杉矶 4K", "vless", 8444, "us", None),
    (15, "🇹🇼 台湾 Hysteria2", "hysteria2", 8445, "tw", None),
    (16, "🇰🇷 韩国 TUIC V5", "tuic", 8446, "kr", None),
    (17, "🇬🇧 英国 AnyTLS x0.8", "anytls", 8447, "uk", 0.8),
)
IPV6_LINE = "🇩🇪 德国 IPv6"
PLAIN_LINE = "🇺🇸 美国 VLESS"
REFUSED_LINE = "🇫🇷 法国 维护中"
SILENT_LINE = "🇷🇺 俄罗斯 01"
SSR_LINE = "🇰🇷 韩国 SSR"
NOTES = ("剩余流量：88.5 GB", "套餐到期：2027-01-01")
QUOTA = {"upload": 1 << 30, "download": 10 << 30, "total": 100 << 30, "expire": 1798761600}
TITLE = "云上机场"
METHOD = "2022-blake3-aes-128-gcm"
WS_PATH = "/live"


def _digest(label):
    return hashlib.sha256(b"trocket lab " + label.encode()).digest()


def password(kind):
    """The password of a protocol in this lab; the same in every lab, and worth nothing outside one."""
    if kind == "shadowsocks":
        return base64.b64encode(_digest(kind)[:16]).decode()
    return _digest(kind).hex()[:24]


def identity(kind):
    """The UUID of a protocol in this lab."""
    return str(uuid.UUID(bytes=_digest("uuid " + kind)[:16], version=4))


def host_name(short):
    """A line's server name."""
    return f"{short}.{plan.LINE_DOMAIN}"


def server(number, short):
    """What a subscription gives as a line's server."""
    return host_name(short) if short else plan.ABROAD4.format(number)


def exit4(name):
    """The IPv4 address a page sees when visited through the line of that name."""
    return plan.ABROAD4.format(next(line[0] for line in LINES if line[1] == name))


def exit6(name):
    """The IPv6 address a page sees when visited through the line of that name."""
    return plan.ABROAD6.format(next(line[0] for line in LINES if line[1] == name))


# MARK: the server

def server_config(certificates):
    """The configuration of the sing-box that serves all lines."""
    tls = {"enabled": True, "certificate_path": f"{certificates}/line.pem", "key_path": f"{certificates}/line.key"}
    h3 = {**tls, "alpn": ["h3"]}
    users = {
        "shadowsocks": {"method": METHOD, "password": password("shadowsocks")},
        "trojan": {"users": [{"name": "lab", "password": password("trojan")}], "tls": tls},
        "vmess": {"users": [{"name": "lab", "uuid": identity("vmess"), "alterId": 0}],
                  "transport": {"type": "ws", "path": WS_PATH}, "tls": tls},
        "vless": {"users": [{"name": "lab", "uuid": identity("vless"), "flow": "xtls-rprx-vision"},
                            {"name": "plain", "uuid": identity("vless plain")}], "tls": tls},
        "hysteria2": {"users": [{"name": "lab", "password": password("hysteria2")}], "tls": h3},
        "tuic": {"users": [{"name": "lab", "uuid": identity("tuic"), "password": password("tuic")}],
                 "congestion_control": "bbr", "tls": h3},
        "anytls": {"users": [{"name": "lab", "password": password("anytls")}], "tls": tls},
    }
    inbounds, outbounds, rules = [], [], []
    for number, address, kind, port in [
        *[(number, plan.ABROAD4.format(number), kind, port) for number, _, kind, port, _, _ in LINES],
        (18, plan.ABROAD6.format(18), "shadowsocks", 8388),
    ]:
        inbounds.append({"type": kind, "tag": f"in-{number}", "listen": address, "listen_port": port, **users[kind]})
        outbounds.append({"type": "direct", "tag": f"out-{number}",
                          "inet4_bind_address": plan.ABROAD4.format(number),
                          "inet6_bind_address": plan.ABROAD6.format(number),
                          # Else a port is taken for all destinations at once, and ten thousand that wait for their minute to
                          # pass make the search for the next one slow.
                          "bind_address_no_port": True})
        rules.append({"inbound": [f"in-{number}"], "action": "route", "outbound": f"out-{number}"})
    return {
        "log": {"level": "info", "timestamp": True},
        "dns": {"servers": [{"type": "udp", "tag": "abroad", "server": "8.8.8.8"}], "strategy": "prefer_ipv4"},
        "inbounds": inbounds,
        "outbounds": outbounds,
        "route": {"rules": rules, "default_domain_resolver": "abroad"},
    }


# MARK: the subscription as sing-box JSON

def outbound(number, name, kind, port, short):
    """A line as a sing-box client writes it."""
    tls = {"enabled": True, "server_name": host_name(short or "hk")}
    specific = {
        "shadowsocks": lambda: {"method": METHOD, "password": password(kind)},
        "trojan": lambda: {"password": password(kind), "tls": tls},
        "vmess": lambda: {"uuid": identity(kind), "security": "auto", "alter_id": 0, "tls": tls,
                          "transport": {"type": "ws", "path": WS_PATH, "headers": {"Host": host_name(short)}}},
        "vless": lambda: {"uuid": identity(kind), "flow": "xtls-rprx-vision", "tls": tls},
        "hysteria2": lambda: {"password": password(kind), "tls": {**tls, "alpn": ["h3"]}},
        "tuic": lambda: {"uuid": identity(kind), "password": password(kind), "congestion_control": "bbr",
                         "tls": {**tls, "alpn": ["h3"]}},
        "anytls": lambda: {"password": password(kind), "tls": tls},
    }[kind]()
    return {"type": kind, "tag": name, "server": server(number, short), "server_port": port, **specific}


def outbounds():
    """All seven lines."""
    return [outbound(number, name, kind, port, short) for number, name, kind, port, short, _ in LINES]


def without_vision(outbounds):
    """Those outbounds with VLESS as the server's other user, who has no flow."""
    return [{**{key: value for key, value in each.items() if key != "flow"}, "uuid": identity("vless plain")} if "flow" in each
            else each for each in outbounds]


def sing_box_subscription():
    """What the provider sends to a sing-box client: seven lines in a whole configuration."""
    names = [line[1] for line in LINES]
    return {
        "log": {"level": "warn"},
        "dns": {
            "servers": [
                {"type": "udp", "tag": "local", "server": "223.5.5.5"},
                {"type": "tls", "tag": "remote", "server": "8.8.8.8", "detour": "节点选择"},
            ],
            "rules": [{"domain_suffix": [".cn"], "action": "route", "server": "local"}],
            "final": "remote",
        },
        "inbounds": [
            {"type": "tun", "tag": "tun-in", "address": ["172.19.0.1/30"], "auto_route": True, "strict_route": True},
            {"type": "mixed", "tag": "mixed-in", "listen": "127.0.0.1", "listen_port": 2080},
        ],
        "outbounds": [
            {"type": "selector", "tag": "节点选择", "outbounds": ["自动选择", *names]},
            {"type": "urltest", "tag": "自动选择", "outbounds": names, "url": "https://www.gstatic.com/generate_204"},
            *outbounds(),
            {"type": "direct", "tag": "direct"},
        ],
        "route": {
            "rules": [
                {"action": "sniff"},
                {"protocol": "dns", "action": "hijack-dns"},
                {"ip_is_private": True, "action": "route", "outbound": "direct"},
            ],
            "final": "节点选择",
            "auto_detect_interface": True,
            "default_domain_resolver": "local",
        },
        "experimental": {"clash_api": {"external_controller": "127.0.0.1:9090"}},
    }


# MARK: the subscription as Clash YAML

def clash_nodes():
    """The same seven, and what the provider keeps from sing-box clients, as Clash writes them."""
    hk = {"type": "ss", "server": plan.ABROAD4.format(11), "port": 8388, "cipher": METHOD,
          "password": password("shadowsocks"), "udp": True}
    nodes = [{"name": note, **hk} for note in NOTES]
    for number, name, kind, port, short, _ in LINES:
        node = {"name": name, "type": {"shadowsocks": "ss"}.get(kind, kind), "server": server(number, short),
                "port": port, "udp": True}
        tls_name = host_name(short) if short else None
        node.update({
            "shadowsocks": lambda: {"cipher": METHOD, "password": password("shadowsocks")},
            "trojan": lambda: {"password": password("trojan"), "sni": tls_name},
            "vmess": lambda: {"uuid": identity("vmess"), "alterId": 0, "cipher": "auto", "tls": True,
                              "servername": tls_name, "network": "ws",
                              "ws-opts": {"path": WS_PATH, "headers": {"Host": tls_name}}},
            "vless": lambda: {"uuid": identity("vless"), "tls": True, "flow": "xtls-rprx-vision",
                              "servername": tls_name, "client-fingerprint": "chrome", "network": "tcp"},
            "hysteria2": lambda: {"password": password("hysteria2"), "sni": tls_name, "alpn": ["h3"]},
            "tuic": lambda: {"uuid": identity("tuic"), "password": password("tuic"), "sni": tls_name,
                             "alpn": ["h3"], "congestion-controller": "bbr", "udp-relay-mode": "native"},
            "anytls": lambda: {"password": password("anytls"), "sni": tls_name, "client-fingerprint": "chrome"},
        }[kind]())
        nodes.append(node)
    nodes += [
        {**hk, "name": IPV6_LINE, "server": plan.ABROAD6.format(18)},
        {**hk, "name": REFUSED_LINE, "server": plan.REFUSED4, "port": 9},
        {**hk, "name": SILENT_LINE, "server": plan.SILENT4},
        {"name": SSR_LINE, "type": "ssr", "server": plan.ABROAD4.format(19), "port": 8389, "cipher": "aes-256-cfb",
         "password": password("ssr"), "obfs": "plain", "protocol": "origin", "udp": True},
    ]
    return nodes


def clash_subscription():
    """What the provider sends to a Clash client. YAML is written as JSON flow values, one node a line."""
    nodes = clash_nodes()
    names = [node["name"] for node in nodes]
    def flow(value):
        return json.dumps(value, ensure_ascii=False)
    return "\n".join([
        "# 云上机场 · 请勿分享",
        "mixed-port: 7890",
        "allow-lan: true",
        "mode: rule",
        "external-controller: 0.0.0.0:9090",
        "dns: {enable: true, listen: '0.0.0.0:53', nameserver: [223.5.5.5], fallback: ['https://1.1.1.1/dns-query']}",
        "proxies:",
        *[f"  - {flow(node)}" for node in nodes],
        "proxy-groups:",
        "  - name: 节点选择",
        "    type: select",
        f"    proxies: {flow(['自动选择', *names])}",
        "  - name: 自动选择",
        "    type: url-test",
        "    url: http://www.gstatic.com/generate_204",
        "    interval: 300",
        f"    proxies: {flow(names[len(NOTES):])}",
        "rules:",
        "  - GEOIP,CN,DIRECT",
        "  - MATCH,节点选择",
        "",
    ])


def share_links():
    """Three of the lines as share links, base64 as a whole, the oldest shape of all."""
    ss = base64.urlsafe_b64encode(f"{METHOD}:{password('shadowsocks')}".encode()).decode().rstrip("=")
    links = [
        f"ss://{ss}@{plan.ABROAD4.format(11)}:8388#HK%2001",
        f"trojan://{password('trojan')}@{host_name('jp')}:8443?sni={host_name('jp')}#JP%2001",
        f"hysteria2://{password('hysteria2')}@{host_name('tw')}:8445?sni={host_name('tw')}#TW%2001",
    ]
    return base64.b64encode("\n".join(links).encode()).decode()

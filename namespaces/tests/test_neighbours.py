"""Neighbours keep working beside the tunnel, and none of them removes it unnoticed."""

import json
import subprocess
import time

import pytest

from leaklib import neighbours
from leaklib.other import Other
from lablib import lines, netns, plan
from lablib.lab import wait_until

FIRST = lines.LINES[0][1]
SWITCHES = pytest.mark.parametrize("switch", ["--no-kill-switch", "--kill-switch"])
WEB_HOST = "ip.example.com"
# Patience for a busy machine.
SOON = 20.0


def through_the_line(lab, family=4):
    """The address a page abroad sees of the user, by address so that only the data path matters."""
    address = plan.WEB4 if family == 4 else f"[{plan.WEB6}]"
    page = lab.page(f"https://{address}/ip", "-g", check=False)
    return page and page["address"]


def own_rules(lab):
    return sorted(rule["priority"] for family in ("-4", "-6") for rule in lab.ip("client", family, "rule", "show")
                  if 7100 <= rule["priority"] <= 7200)


# MARK: bridges

@pytest.fixture(scope="module")
def forwarding(lab, product):
    """The user's machine forwards, as every machine with Docker or libvirt does."""
    # The first changes the others by itself.
    names = ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding", "net.ipv4.conf.all.accept_redirects",
             "net.ipv4.conf.default.accept_redirects")
    before = {name: lab.exec("client", "sysctl", "-n", name).stdout.strip() for name in names}
    lab.exec("client", "sysctl", "-qw", *[f"{name}=1" for name in names[:2]])
    yield
    lab.exec("client", "sysctl", "-qw", *[f"{name}={value}" for name, value in before.items()])


@pytest.fixture(scope="module")
def docker(lab, forwarding):
    guest = neighbours.Guest(lab, "docker0", "172.17.0", "fd17", neighbours.DOCKER)
    yield guest
    guest.close()


@pytest.fixture(scope="module")
def libvirt(lab, forwarding):
    guest = neighbours.Guest(lab, "virbr0", "192.168.122", "fd22", neighbours.LIBVIRT)
    yield guest
    guest.close()


def curl(lab, host, url):
    return lab.exec(host, "curl", "-sSg", "--max-time", "10", url, check=False).stdout


def docker_works(lab, docker):
    assert curl(lab, "lan", f"http://{plan.CLIENT4}:8080/") == plan.LAN4, "a published port, from the LAN"
    assert curl(lab, "world", f"http://{plan.CLIENT4}:8080/") == "192.0.2.2", "a published port, from the Internet"
    assert curl(lab, "client", f"http://{docker.address4}/") == f"{docker.network4}.1", "from the host into the container"
    assert curl(lab, "client", f"http://[{docker.address6}]/"), "the same over IPv6"
    assert f'"{plan.CLIENT4}"' in docker.ask("curl", "-sSk", "--max-time", "10", f"https://{plan.WEB4}/ip"), "out, directly"
    assert f'"{plan.CLIENT6}"' in docker.ask("curl", "-sSkg", "--max-time", "10", f"https://[{plan.WEB6}]/ip"), "the same over IPv6"
    answer = docker.ask("dig", "+short", "+timeout=10", "+tries=2", "@9.9.9.9", WEB_HOST)
    assert answer == plan.WEB4, "its names"


def libvirt_works(lab, libvirt):
    assert f'"{plan.CLIENT4}"' in libvirt.ask("curl", "-sSk", "--max-time", "10", f"https://{plan.WEB4}/ip")
    assert curl(lab, "client", f"http://{libvirt.address4}/") == f"{libvirt.network4}.1"
    assert libvirt.ask("ping", "-c", "1", "-W", "10", f"{libvirt.network4}.1")
    assert libvirt.ask("ping", "-c", "1", "-W", "10", plan.LAN_HOST4)


def test_bridges_work_without_a_tunnel(lab, docker, libvirt):
    docker_works(lab, docker)
    libvirt_works(lab, libvirt)


@SWITCHES
def test_bridges_work_beside_the_tunnel(product, lab, docker, libvirt, switch):
    rules = lab.exec("client", "nft", "list", "ruleset").stdout
    product.connect(FIRST, switch)
    try:
        docker_works(lab, docker)
        libvirt_works(lab, libvirt)
        assert through_the_line(lab) == lines.exit4(FIRST) and product.status()["verified"]
        assert "forwarded-traffic" in product.status()["notCovered"], "that containers go directly is said"
    finally:
        product.controller("disconnect")
    assert lab.exec("client", "nft", "list", "ruleset").stdout == rules


@SWITCHES
def test_bridges_made_while_connected_work(product, lab, forwarding, switch):
    product.connect(FIRST, switch)
    guest = neighbours.Guest(lab, "br-new", "172.18.0", "fd18", neighbours.DOCKER)
    try:
        docker_works(lab, guest)
        assert through_the_line(lab) == lines.exit4(FIRST)
    finally:
        guest.close()
        product.controller("disconnect")


# MARK: other proxies

@pytest.mark.parametrize("program", ["sing-box", "mihomo"])
@SWITCHES
def test_another_proxy_started_and_ended_beside_ours(product, lab, program, switch):
    product.connect(FIRST, switch)
    rules = own_rules(lab)
    other = Other(lab, program)
    try:
        other.wait_up()
        assert through_the_line(lab) == lines.exit4(FIRST) and through_the_line(lab, 6) == lines.exit6(FIRST)
        assert other.process.poll() is None, "the other lives"
        status = product.status()
        assert status["otherClients"] and status["verified"], "and is named"
    finally:
        other.end()
    wait_until(lambda: own_rules(lab) == rules, SOON, "every rule of ours is there")
    assert through_the_line(lab) == lines.exit4(FIRST)
    status = product.status()
    assert status["state"] == "connected" and status["verified"]
    product.controller("disconnect")


@pytest.mark.parametrize("program", ["sing-box", "mihomo"])
def test_ours_started_and_ended_beside_another_proxy(product, lab, program):
    other = Other(lab, program)
    try:
        other.wait_up()
        before = lab.exec("client", "ip", "rule").stdout
        product.connect(FIRST)
        assert through_the_line(lab) == lines.exit4(FIRST)
        assert product.status()["otherClients"]
        product.controller("disconnect")
        assert lab.exec("client", "ip", "rule").stdout == before, "the other's rules are as they were"
        assert other.process.poll() is None and lab.page(f"https://{plan.WEB4}/ip", check=False)
    finally:
        product.controller("disconnect", check=False)
        other.end()


# MARK: VPNs

@pytest.fixture(params=["wg-quick", "tailscale"])
def vpn(request, lab, product):
    """A VPN which was there before the tunnel."""
    made = neighbours.Vpn(lab, *{"wg-quick": (51820, neighbours.WG_QUICK), "tailscale": (0x80000, neighbours.TAILSCALE)}[request.param])
    made.name = request.param
    yield made
    made.close()


def inner_page(lab):
    """What the VPN's other end sees of a ping through it."""
    return lab.exec("client", "ping", "-c", "1", "-W", "10", "10.66.0.1", check=False).returncode == 0


def test_vpn_works_without_a_tunnel(lab, vpn):
    assert inner_page(lab)
    if vpn.name == "wg-quick":
        assert through_the_line(lab) == "10.66.0.2"


@SWITCHES
def test_vpn_and_tunnel_work_together(product, lab, vpn, switch):
    before = lab.exec("client", "ip", "rule").stdout
    product.connect(FIRST, switch)
    try:
        assert through_the_line(lab) == lines.exit4(FIRST), "the tunnel"
        assert inner_page(lab), "the VPN"
        wait_until(lambda: (now := product.status()).get("otherClients") and now.get("verified") and now.get("reason", "") is None,
                   SOON, "both are said to be well")
    finally:
        product.controller("disconnect")
    assert inner_page(lab)
    assert lab.exec("client", "ip", "rule").stdout == before


# MARK: rules in front of ours

@pytest.mark.parametrize("family", [4, 6])
@SWITCHES
def test_a_rule_in_front_of_ours_is_said_and_left_alone(product, lab, family, switch):
    product.connect(FIRST, switch)
    rule = ["ip", f"-{family}", "rule", "add", "priority", "50", "lookup", "main"]
    words = "50: from all lookup main"
    try:
        assert product.status()["verified"] and through_the_line(lab, family)
        lab.exec("client", *rule)
        # Without being asked.
        wait_until(lambda: words in product.controller("logs", "--source", "worker").stdout, SOON, "the worker's log names it")
        status = product.status()
        assert status["state"] == "connected" and not status["verified"]
        assert status["reason"]["code"] == "traffic-diverted" and words in status["reason"]["message"]
        assert words in product.controller("status", check=False).stdout
        checks = {check["code"]: check for check in product.json("doctor", check=False)["checks"]}
        assert words in checks["network"]["message"] and "rule show priority 50" in checks["network"]["remedy"]
        assert through_the_line(lab, family) is None, "the guard stops it"
        assert through_the_line(lab, 10 - family), "the other family goes on"
        if family == 4:
            # Names and the page of the proof, too.
            told = product.controller("connect", FIRST, "--json", check=False)
            assert told.returncode == 1 and json.loads(told.stdout)["error"]["code"] == "traffic-diverted", told.stdout
        assert lab.ip("client", f"-{family}", "rule", "show", "priority", "50"), "it is still there"
        lab.exec("client", *[word.replace("add", "delete") for word in rule])
        status = product.status()
        assert status["verified"] and through_the_line(lab, family)
    finally:
        lab.exec("client", *[word.replace("add", "delete") for word in rule], check=False)
        product.controller("disconnect", check=False)


def test_a_vpn_started_after_us_that_takes_everything_is_said(product, lab):
    """wg-quick gives no priority, and the kernel puts its rules in front of ours."""
    product.connect(FIRST)
    rules = ["route add default dev vpn0 table 51820", "rule add not fwmark 51820 table 51820",
             "rule add table main suppress_prefixlength 0"]
    vpn = neighbours.Vpn(lab, 51820, rules)
    try:
        status = product.status()
        assert not status["verified"] and status["reason"]["code"] == "traffic-diverted"
        assert "vpn0" in status["reason"]["message"] and "lookup 51820" in status["reason"]["message"]
        assert status["otherClients"] == ["WireGuard (wg-quick)"]
    finally:
        vpn.close()
    wait_until(lambda: (now := product.status()).get("verified") and now.get("reason", "") is None, SOON, "all is well again")
    assert through_the_line(lab) == lines.exit4(FIRST)
    product.controller("disconnect")


# MARK: removing ours

@pytest.mark.parametrize("what", ["rules", "table", "link", "IPv6", "bridge"])
def test_what_others_remove_is_back(product, lab, what):
    """By itself, nobody asks the product. How soon, `scripts/bench connect` measures."""
    def way_in(family):
        # Not the domestic prefixes beside it, which a link does not take with it.
        return "default" in lab.exec("client", "ip", family, "route", "show", "table", "7100", check=False).stdout

    commands = {
        "rules": (["ip", "-4", "rule", "delete", "priority", "7130"], lambda: 7130 in {
            rule["priority"] for rule in lab.ip("client", "-4", "rule", "show")}),
        "table": (["ip", "-4", "route", "flush", "table", "7100"], lambda: way_in("-4")),
        "link": (["ip", "link", "delete", "trocket0"], lambda: way_in("-4")),
        "IPv6": (["sysctl", "-qw", "net.ipv6.conf.trocket0.disable_ipv6=1"], lambda: way_in("-6")),
        # Into a bridge: what comes by the link is the bridge's then.
        "bridge": (["ip", "link", "set", "trocket0", "master", "br-other"], lambda: "master" not in lab.ip(
            "client", "link", "show", "trocket0")[0]),
    }
    command, present = commands[what]
    if what == "bridge":
        lab.exec("client", "ip", "link", "add", "br-other", "up", "type", "bridge")
    product.connect(FIRST, "--kill-switch")
    for _ in range(3):
        lab.exec("client", *command)
        wait_until(present, SOON, f"{what} is back")
    wait_until(lambda: product.status().get("verified"), SOON, "the plan is verified again")
    wait_until(lambda: through_the_line(lab) == lines.exit4(FIRST), SOON, "pages come through the line again")
    log = product.controller("logs", "--source", "worker").stdout
    assert "repairing" in log
    product.controller("disconnect")
    if what == "bridge":
        lab.exec("client", "ip", "link", "delete", "br-other")


@pytest.mark.parametrize("mode", ["rule", "global"])
@SWITCHES
def test_nobody_else_touches_the_guard(product, lab, switch, mode):
    """Linux 6.9 and later; what is done before that, a unit test shows."""
    product.connect(FIRST, switch, "--mode", mode)
    wait_until(lambda: product.status().get("domesticFastPath") == (mode == "rule"), SOON, "the domestic prefixes are settled")
    before = lab.exec("client", "nft", "list", "ruleset").stdout
    assert "trocket_guard" in before
    for command in ("delete table inet trocket_guard", "flush table inet trocket_guard",
                    "insert rule inet trocket_guard out accept", "add table inet trocket_guard { flags dormant; }",
                    "add element inet trocket_guard onlink4 { 192.0.2.0/24 }", "delete chain inet trocket_guard out",
                    "flush set inet trocket_domestic domestic4"):
        lab.exec("client", "nft", command, check=False)
        assert lab.exec("client", "nft", "list", "ruleset").stdout == before, command
    product.controller("disconnect")
    assert "trocket" not in lab.exec("client", "nft", "list", "ruleset").stdout


def test_a_fight_over_our_rules_is_slow_and_seen(product, lab):
    """Somebody who removes a rule again and again: repairs stay rate-limited."""
    def repairs():
        return product.controller("logs", "--source", "worker").stdout.count("repairing drift=")

    product.connect(FIRST, "--kill-switch")
    before, began = repairs(), time.monotonic()
    netns.run(["ip", "netns", "exec", lab.namespace("client"), "sh", "-c",
               "for i in $(seq 200); do ip rule delete priority 7130 2>/dev/null; done; true"])
    wait_until(lambda: 7130 in own_rules(lab), SOON, "the rule is back")
    assert 0 < repairs() - before <= 5 + 10 * (time.monotonic() - began)
    product.controller("disconnect")


# MARK: servers of this machine

def test_udp_servers_on_every_address_are_named_and_no_others(connected, lab):
    """They answer the outside through the line; mDNS is asked and answered on the spot."""
    server = lab.popen("client", "/usr/bin/python3", "-I", "-c", (
        "import socket, time\n"
        "bound = [(socket.AF_INET, '0.0.0.0', 514), (socket.AF_INET, '0.0.0.0', 5353), (socket.AF_INET6, '::1', 515)]\n"
        "held = [socket.socket(family, socket.SOCK_DGRAM) for family, _, _ in bound]\n"
        "for one, (_, address, port) in zip(held, bound): one.bind((address, port))\n"
        "print('bound', flush=True)\n"
        "time.sleep(60)\n"), stdout=subprocess.PIPE)
    try:
        assert server.stdout.readline().strip() == "bound"
        told = connected.status()
        assert "udp-servers" in told["notCovered"]
        said = next(notice["message"] for notice in told["notices"] if notice["code"] == "udp-servers")
        assert "514" in said and "515" not in said and "5353" not in said
        assert said in connected.controller("doctor", check=False).stdout
    finally:
        server.kill()
        server.wait()
    assert "udp-servers" not in connected.status()["notCovered"]

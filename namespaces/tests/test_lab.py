"""The lab itself: every server answers as it should, nothing leads outside, and it cleans up after itself."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from lablib import lines, netns, plan, snapshot
from lablib.capture import Capture, outgoing
from lablib.lab import Lab, wait_until

OVER4 = ("--resolve", f"ip.example.com:443:{plan.WEB4}")
OVER6 = ("--resolve", f"ip.example.com:443:[{plan.WEB6}]")
PAGE = "https://ip.example.com/ip"


def dig(lab, server, name, *options):
    done = lab.user("dig", "+short", "+timeout=10", "+tries=1", *options, f"@{server}", name)
    return done.stdout.split()


# MARK: pages

@pytest.mark.parametrize("how, address", [(OVER4, plan.CLIENT4), (OVER6, plan.CLIENT6)])
def test_page_abroad_tells_the_visitors_address(lab, how, address):
    assert lab.page(PAGE, *how)["address"] == address


@pytest.mark.parametrize("family, address", [("-4", plan.CLIENT4), ("-6", plan.CLIENT6)])
def test_page_at_home_tells_the_visitors_address(lab, family, address):
    seen = lab.page("https://www.baidu.com/ip", family)
    assert (seen["view"], seen["address"]) == ("home", address)


def test_other_pages(lab):
    def abroad(path, *options):
        return lab.user("curl", "-sS", "-o", "/dev/null", "-w", "%{http_code} %{size_download} %{time_total}", *OVER4,
                        *options, f"https://ip.example.com{path}").stdout.split()

    assert abroad("/generate_204")[0] == "204"
    assert abroad("/bytes?n=12345678")[:2] == ["200", "12345678"]
    status, size, seconds = abroad("/bytes?n=200000&rate=400000")
    assert (status, size) == ("200", "200000") and float(seconds) > 0.4
    sent = lab.user("curl", "-sS", *OVER4, "--data-binary", "@-", "https://ip.example.com/upload", input="x" * 100000)
    assert json.loads(sent.stdout) == {"bytes": 100000}


def test_a_certificate_no_one_signed_is_refused(lab):
    done = lab.user("curl", "-sS", f"https://{plan.SELF_SIGNED_NAME}/", check=False)
    assert done.returncode == 60


def test_trust_in_the_lab_does_not_reach_the_machine(lab):
    with open("/etc/ssl/certs/ca-certificates.crt", encoding="utf-8") as file:
        machine = file.read()
    with open(lab.path("tls", "ca.pem"), encoding="utf-8") as file:
        assert file.read().splitlines()[1] not in machine


# MARK: names

@pytest.mark.parametrize("server, answer", [
    (plan.ROUTER4, plan.POISON4), (plan.ROUTER6, plan.POISON4), ("fe80::1%eth0", plan.POISON4),
    ("223.5.5.5", plan.POISON4), ("2400:3200::1", plan.POISON4), ("8.8.8.8", plan.WEB4),
    ("2606:4700:4700::1111", plan.WEB4),
])
@pytest.mark.parametrize("transport", ["+notcp", "+tcp"])
def test_names_differ_at_home_and_abroad(lab, server, answer, transport):
    assert dig(lab, server, "www.google.com", transport) == [answer]


def test_domestic_names_differ_too(lab):
    assert dig(lab, "223.5.5.5", "www.baidu.com") == [plan.CN4]
    assert dig(lab, "1.1.1.1", "www.baidu.com") == [plan.OVERSEAS4]
    assert dig(lab, plan.ROUTER4, "www.baidu.com", "AAAA") == [plan.CN6]


def test_names_over_tls_and_https(lab):
    answered = lab.user("curl", "-sS", "--doh-url", "https://1.1.1.1/dns-query", PAGE)
    assert json.loads(answered.stdout)["server"] in (plan.WEB4, plan.WEB6)
    script = (
        "import socket, ssl, struct\n"
        "s = ssl.create_default_context().wrap_socket(socket.create_connection(('223.5.5.5', 853)),"
        " server_hostname='dns.alidns.com')\n"
        "q = struct.pack('!HHHHHH', 7, 256, 1, 0, 0, 0) + b'\\x02qq\\x03com\\x00' + struct.pack('!HH', 1, 1)\n"
        "s.sendall(struct.pack('!H', len(q)) + q)\n"
        "r = s.recv(4096)\n"
        "print(socket.inet_ntoa(r[-4:]))\n"
    )
    assert lab.user("/usr/bin/python3", "-c", script).stdout.strip() == plan.CN4


def test_every_question_is_recorded(lab):
    began = time.time()
    dig(lab, "8.8.8.8", "example.org")
    events = lab.events("world", began, dns="example.org")
    assert [(e["from"], e["to"], e["via"]) for e in events] == [(plan.CLIENT4, "8.8.8.8", "udp")]


# MARK: lines

@pytest.mark.parametrize("name", [line[1] for line in lines.LINES], ids=[line[2] for line in lines.LINES])
def test_line_works(lab, line_client, name):
    assert lab.page(PAGE, "-x", line_client.proxy(name))["address"] == lines.exit4(name)
    seen = lab.page(f"https://[{plan.WEB6}]/ip", "-g", "-x", line_client.proxy(name))
    assert seen["address"] == lines.exit6(name)


def test_line_with_a_server_on_ipv6(lab, line_client):
    assert lab.page(PAGE, "-x", line_client.proxy(lines.IPV6_LINE))["address"] == plan.ABROAD4.format(18)


def test_vless_without_a_flow(lab, line_client):
    vless = next(line for line in lines.LINES if line[2] == "vless")
    assert lab.page(PAGE, "-x", line_client.proxy(lines.PLAIN_LINE))["address"] == lines.exit4(vless[1])


def test_refused_and_silent_servers(lab):
    refused = lab.user("curl", "-sS", "--max-time", "5", f"http://{plan.REFUSED4}:9", check=False)
    silent = lab.user("curl", "-sS", "--max-time", "1", f"http://{plan.SILENT4}:8388", check=False)
    assert (refused.returncode, silent.returncode) == (7, 28)


# MARK: subscription

def fetch(lab, path, agent, *options):
    return lab.user("curl", "-sS", "-A", agent, "--max-time", "50", *options, f"https://{plan.SUB_NAME}{path}", check=False)


def test_subscription_by_agent(lab):
    for_sing_box = json.loads(fetch(lab, f"/s/{plan.TOKEN}", "sing-box/1.14.2").stdout)
    tags = [o["tag"] for o in for_sing_box["outbounds"] if "server" in o]
    assert tags == [line[1] for line in lines.LINES]
    for_clash = fetch(lab, f"/s/{plan.TOKEN}", "clash.meta/v1.19.32").stdout
    for name in [*tags, *lines.NOTES, lines.REFUSED_LINE, lines.SILENT_LINE, lines.SSR_LINE, lines.IPV6_LINE]:
        assert name in for_clash
    refused = fetch(lab, f"/s/{plan.TOKEN}", "curl/8", "-o", "/dev/null", "-w", "%{http_code}")
    assert refused.stdout == "403"


def test_subscription_is_what_sing_box_accepts(lab):
    text = fetch(lab, f"/s/{plan.TOKEN}", "sing-box/1.14.2").stdout
    lab.exec("client", lab.engine, "check", "-c", "stdin", input=text)


def test_subscription_headers(lab):
    head = fetch(lab, f"/s/{plan.TOKEN}", "sing-box/1.14.2", "-D", "-", "-o", "/dev/null").stdout.lower()
    for wanted in ("subscription-userinfo: upload=", "profile-update-interval: 24", "profile-title: base64:",
                   "content-disposition: attachment"):
        assert wanted in head


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_subscription_encoded(lab, encoding):
    plain = fetch(lab, f"/s/{plan.TOKEN}", "sing-box/1.14.2").stdout
    assert fetch(lab, f"/{encoding}/{plan.TOKEN}", "sing-box/1.14.2", "--compressed").stdout == plain


@pytest.mark.parametrize("path, options, expected", [
    ("/bad/empty", (), "200 0"), ("/bad/404", (), "404 10"), ("/bad/500", (), "500 15"),
    (f"/redirect/5/{plan.TOKEN}", ("-L", "--max-redirs", "5"), "200 "),
    ("/bad/downgrade", (), "302 0"), ("/bad/oversize", (), f"200 {64 << 20}"),
])
def test_bad_answers(lab, path, options, expected):
    done = fetch(lab, path, "sing-box/1.14.2", *options, "-o", "/dev/null", "-w", "%{http_code} %{size_download}")
    assert done.stdout.startswith(expected)


@pytest.mark.parametrize("path, options, status", [
    ("/bad/loop", ("-L", "--max-redirs", "5"), 47), ("/bad/slow", ("--max-time", "1"), 28),
    ("/bad/silent", ("--max-time", "1"), 28), ("/bad/truncated", (), 18),
])
def test_bad_transfers(lab, path, options, status):
    assert fetch(lab, path, "sing-box/1.14.2", *options, "-o", "/dev/null").returncode == status


def test_bomb(lab):
    packed = fetch(lab, "/bad/bomb", "sing-box/1.14.2", "-o", "/dev/null", "-w", "%{size_download}").stdout
    assert int(packed) < 2 << 20
    unpacked = fetch(lab, "/bad/bomb", "sing-box/1.14.2", "--compressed", "-o", "out", "-w", "%{http_code}")
    size = os.stat(lab.path("home", str(plan.USER), "out")).st_size
    os.unlink(lab.path("home", str(plan.USER), "out"))
    assert unpacked.stdout == "200" and size == 256 << 20


# MARK: tools

def test_capture_sees_what_leaves(lab):
    with Capture(lab) as capture:
        dig(lab, "9.9.9.9", "example.org")
        capture.barrier()
        assert len(capture.lines(outgoing("udp port 53 and dst host 9.9.9.9"))) == 1
        assert capture.lines(outgoing("dst host 1.0.0.1")) == []


@pytest.mark.parametrize("port", plan.MIRROR_PORTS)
def test_mirrors(lab, port):
    assert [lab.mirror(a, port) for a in (plan.WEB4, plan.CN4)] == [plan.CLIENT4] * 2
    assert [lab.mirror(a, port) for a in (plan.WEB6, plan.CN6)] == [plan.CLIENT6] * 2


def test_hole(lab):
    lab.blackhole("9.9.9.9")
    try:
        assert lab.user("dig", "+timeout=1", "+tries=1", "@9.9.9.9", "example.org", check=False).returncode != 0
    finally:
        lab.blackhole("9.9.9.9", vanish=False)
    assert dig(lab, "9.9.9.9", "example.org") == [plan.WEB4]


def test_snapshot_finds_a_change_and_its_undoing(lab):
    before = snapshot.take(lab)
    lab.ip_text("client", "rule", "add", "priority", "6000", "to", "192.0.2.1", "lookup", "main")
    assert [d for d in snapshot.differences(before, snapshot.take(lab)) if d.startswith("rules, IPv4: +")]
    lab.ip_text("client", "rule", "delete", "priority", "6000")
    assert snapshot.differences(before, snapshot.take(lab)) == []


@pytest.mark.parametrize("host, address", [("world", plan.CLIENT4), ("world", plan.CLIENT6), ("lan", plan.LAN_CLIENT4)])
def test_conversation_into_the_users_machine(lab, host, address):
    conversation = lab.hold_conversation(host, address, interval_ms=5)
    wait_until(lambda: conversation.alive, 1, "the conversation")
    told = conversation.end()
    assert told["error"] is None and told["received"] >= 1


def test_user_is_ordinary(lab):
    status = lab.user("cat", "/proc/self/status").stdout
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert fields["Uid"].split() == [str(plan.USER)] * 4
    assert int(fields["CapEff"], 16) == int(fields["CapPrm"], 16) == int(fields["CapAmb"], 16) == 0
    assert "trocket" in lab.user("id", "-Gn").stdout.split()
    assert "trocket" not in lab.user("id", "-Gn", in_group=False).stdout.split()


def test_the_users_machine_can_sandbox_an_engine(lab):
    """A sing-box without any capability opens its own namespaces and a TUN in them, as on an ordinary machine."""
    folder = lab.path("sandbox")
    os.mkdir(folder)
    shutil.chown(folder, "trocket-engine", "trocket-engine")
    config = {
        "network_namespaces": [{"type": "unshare", "tag": "sandbox", "pid_file": os.path.join(folder, "holder.pid")}],
        "inbounds": [
            {"type": "tun", "interface_name": "tun0", "address": ["198.19.78.1/30"], "auto_route": False,
             "stack": "mixed", "netns": "sandbox"},
            {"type": "redirect", "listen": "::", "listen_port": 7892, "netns": "sandbox"},
            {"type": "tproxy", "listen": "::", "listen_port": 7893, "network": "udp", "netns": "sandbox"}],
    }
    engine = lab.popen(
        "client", "setpriv", "--reuid", "trocket-engine", "--regid", "trocket-engine", "--clear-groups", "--inh-caps",
        "-all", "--bounding-set", "-all", "--no-new-privs", lab.engine, "run", "-c", "stdin", "--disable-color",
        stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        engine.stdin.write(json.dumps(config))
        engine.stdin.close()
        said = []
        for line in engine.stderr:
            said.append(line)
            if "sing-box started" in line:
                break
        else:
            pytest.fail("".join(said))
    finally:
        engine.kill()
        engine.wait()


def test_iperf(lab):
    for server in (plan.WEB4, plan.CN4):
        told = json.loads(lab.user("iperf3", "-J", "-n", "4M", "-c", server, "-p", plan.IPERF_PORT).stdout)
        assert told["end"]["sum_received"]["bytes"] > 0


def test_no_way_out(lab):
    """Every link of every host has its other end in the lab, so there is no road to the real network."""
    kinds = {(host, link["ifname"]): link["linkinfo"]["info_kind"] for host in plan.HOSTS
             for link in lab.ip(host, "-details", "link", "show") if link["ifname"] != "lo"}
    assert set(kinds.values()) == {"veth", "bridge"}
    ends = {link["link_netnsid"] for host in plan.HOSTS for link in lab.ip(host, "link", "show")
            if "link_netnsid" in link}
    mine = lab.exec("isp", "ip", "netns", "list-id", check=False).stdout
    assert ends and "nsid" in mine


# MARK: ending

def leftovers(name):
    return netns.exists(name) or os.path.exists(f"/etc/netns/{plan.namespace(name, 'client')}")


def raise_other(suffix, owner=None):
    name = f"test-{os.getpid()}-{suffix}"
    return Lab.up(name, owner=owner or os.getpid())


def test_two_labs_stand_side_by_side(lab):
    other = raise_other("b")
    try:
        assert other.page(PAGE, *OVER4)["address"] == lab.page(PAGE, *OVER4)["address"] == plan.CLIENT4
    finally:
        other.down()
    assert not leftovers(other.name) and lab.is_up


@pytest.mark.parametrize("who", ["owner", "keeper", "supervisor"])
def test_lab_ends_when_its_minder_is_killed(who):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as owner:
        other = raise_other("c", owner.pid)
        with open(other.path("keeper.json"), encoding="ascii") as file:
            keeper = json.load(file)["pid"]
        children = open(f"/proc/{keeper}/task/{keeper}/children", encoding="ascii").read().split()
        victim = {"owner": owner.pid, "keeper": keeper, "supervisor": int(children[0])}[who]
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: not leftovers(other.name), 10, f"the lab gone after its {who} was killed")
        owner.kill()


def test_leftovers_of_a_wholly_killed_lab_are_swept(tmp_path):
    other = raise_other("d")
    with open(other.path("keeper.json"), encoding="ascii") as file:
        keeper = json.load(file)["pid"]
    children = open(f"/proc/{keeper}/task/{keeper}/children", encoding="ascii").read().split()
    os.kill(keeper, signal.SIGSTOP)
    for pid in (int(children[0]), keeper):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not other.is_up, 5, "the keeper's death")
    other.down()
    assert not leftovers(other.name)

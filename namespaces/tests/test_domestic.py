"""The domestic fast path: in Rule mode domestic traffic never enters the engine, and nothing else changes."""

import json
import os
import signal
import time

import pytest

from lablib import lines, plan, snapshot
from lablib.capture import Capture, outgoing
from lablib.lab import wait_until
from lablib.product import children, process_status

FIRST = lines.LINES[0][1]
# Where nothing is expected to come.
BRIEFLY = ("--max-time", "3")
HOMES = ((4, plan.CN4, plan.CLIENT4, lines.exit4(FIRST)), (6, plan.CN6, plan.CLIENT6, lines.exit6(FIRST)))


def engine_log(product):
    return product.controller("logs", "--source", "engine").stdout


def is_fast(product):
    return product.status().get("domesticFastPath")


def become_fast(product):
    """Thousands of routes are put in place after connect has answered."""
    wait_until(lambda: is_fast(product), 5, "domestic traffic goes past the engine", interval=0.05)


def seen(lab, address, *curl):
    """Which address a server at this address sees; None when it cannot be reached."""
    host = f"[{address}]" if ":" in address else address
    return (lab.page(f"https://{host}/ip", "-g", "-k", *curl, check=False) or {}).get("address")


@pytest.fixture(params=["off", "on"], ids=lambda value: f"kill-switch={value}")
def fast(request, product):
    """Connected in Rule mode with the fast path in place."""
    product.connect(FIRST, "--mode", "rule", "--kill-switch" if request.param == "on" else "--no-kill-switch")
    become_fast(product)
    yield product
    product.controller("disconnect", check=False)


@pytest.mark.parametrize("rp_filter", [0, 1, 2])
def test_domestic_traffic_never_enters_the_engine(fast, lab, rp_filter):
    names = ("all", "default", "eth0", "eth1")
    before = {name: lab.exec("client", "sysctl", "-n", f"net.ipv4.conf.{name}.rp_filter").stdout.strip() for name in names}
    try:
        for name in names:
            lab.exec("client", "sysctl", "-qw", f"net.ipv4.conf.{name}.rp_filter={rp_filter}")
        earlier = len(engine_log(fast))
        for family, address, own, line in HOMES:
            assert snapshot.route_device(lab, address) == "eth0"
            assert seen(lab, address) == own
            assert seen(lab, address, "--interface", own) == own, "bound to an address"
            for port in plan.MIRROR_PORTS:
                assert lab.mirror(address, port) in (own, None)
            abroad = plan.WEB4 if family == 4 else plan.WEB6
            assert snapshot.route_device(lab, abroad) == "trocket0"
            assert seen(lab, abroad) == line
        assert lab.page("https://www.baidu.com/ip", "-4")["address"] == plan.CLIENT4
        log = engine_log(fast)[earlier:]
        assert plan.WEB4 in log
        for address in (plan.CN4, plan.CN6):
            assert f"inbound connection to {address}" not in log and f"inbound connection to [{address}]" not in log
            assert f"packet connection to {address}" not in log and f"packet connection to [{address}]" not in log
    finally:
        for name, value in before.items():
            lab.exec("client", "sysctl", "-qw", f"net.ipv4.conf.{name}.rp_filter={value}")


def test_questions_to_a_domestic_resolver_go_to_the_engine(fast, lab):
    earlier = len(engine_log(fast))
    with Capture(lab, outgoing("port 53")) as capture:
        for server in ("223.5.5.5", "114.114.114.114", "2400:3200::1"):
            for transport in ("+notcp", "+tcp"):
                name = f"q{time.monotonic_ns()}.example.com"
                told = lab.user("dig", "+short", "+timeout=10", "+tries=2", transport, f"@{server}", name, check=False)
                assert told.stdout.split() == [plan.WEB4], (server, transport)
        lab.user("dig", "+timeout=1", "+tries=1", "-b", plan.CLIENT4, "@223.5.5.5", "bound.example.com", check=False)
        time.sleep(0.2)  # what was sent is seen
    assert capture.lines() == []
    assert "packet connection to 223.5.5.5:53" in engine_log(fast)[earlier:]


def test_dns_over_tls_to_a_domestic_resolver_goes_through_the_engine(fast, lab):
    earlier = len(engine_log(fast))
    for resolver in ("223.5.5.5", "2400:3200::1"):
        assert snapshot.route_device(lab, resolver) == "eth0"
        told = lab.user("/usr/bin/python3", "-I", "-c", (
            "import socket, ssl; s = ssl._create_unverified_context().wrap_socket("
            "socket.create_connection(('%s', 853), timeout=10)); print(s.version())") % resolver, check=False)
        assert told.stdout.startswith("TLS"), told
    log = engine_log(fast)[earlier:]
    assert "connection to 223.5.5.5:853" in log and "connection to [2400:3200::1]:853" in log


def test_the_mode_decides(fast, lab):
    for _ in range(2):
        fast.controller("mode", "global")
        assert not is_fast(fast)
        for _, address, own, line in HOMES:
            assert snapshot.route_device(lab, address) == "trocket0"
            assert seen(lab, address) == line
            assert seen(lab, address, "--interface", "eth0", *BRIEFLY) is None, "bound to the device"
        through = lab.user_popen(
            "curl", "-sS", "-k", "-o", "/dev/null", "--max-time", "50", "-w", "%{http_code} %{size_download}",
            f"https://{plan.CN4}/bytes?n=600000&rate=300000", stdout=-1)
        time.sleep(0.5)  # it is under way through the line
        fast.controller("mode", "rule")
        assert is_fast(fast)
        for _, address, own, line in HOMES:
            assert seen(lab, address) == own
        assert through.communicate(timeout=60)[0].split() == ["200", "600000"], "what was begun in the line ends in it"


def test_no_domestic_packet_leaves_after_mode_global_says_done(fast, lab):
    sender = lab.user_popen("/usr/bin/python3", "-I", "-c", (
        "import socket, time\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); c.connect(('%s', 9998))\n"
        "b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); b.bind(('%s', 0))\n"
        "while True:\n"
        "    for send in (lambda: s.sendto(b'x', ('%s', 9999)), lambda: c.send(b'x'), lambda: b.sendto(b'x', ('%s', 9997))):\n"
        "        try: send()\n"
        "        except OSError: pass\n"
        "    time.sleep(0.001)\n") % (plan.CN4, plan.CLIENT4, plan.CN4, plan.CN4))
    try:
        before = Capture(lab, outgoing(f"udp and dst host {plan.CN4}"))
        wait_until(lambda: len(before.lines()) > 30, 5, "the sender is seen, so that silence means something")
        before.stop()
        fast.controller("mode", "global")
        with Capture(lab, outgoing(f"udp and dst host {plan.CN4} and portrange 9997-9999")) as after:
            time.sleep(1)  # silence takes time
        assert after.lines() == []
    finally:
        sender.kill()


def test_a_dead_engine_does_not_hold_up_domestic_traffic(fast, lab):
    pid = fast.status()["engine"]["pid"]
    conversation = lab.user_popen(
        "curl", "-sS", "-k", "-o", "/dev/null", "--max-time", "50", "-w", "%{http_code} %{size_download}",
        f"https://{plan.CN4}/bytes?n=600000&rate=300000", stdout=-1)
    wait_until(lambda: lab.exec("client", "ss", "-Htn", "dst", plan.CN4).stdout.strip(), 5, "the download began")
    os.kill(pid, signal.SIGKILL)
    assert seen(lab, plan.CN4) == plan.CLIENT4
    assert seen(lab, plan.CN6) == plan.CLIENT6

    def again():
        now = fast.status()
        return now.get("state") == "connected" and (now.get("engine") or {}).get("pid") not in (None, pid)

    wait_until(again, 10, "a new engine")
    assert is_fast(fast)
    assert seen(lab, plan.CN4) == plan.CLIENT4
    assert seen(lab, plan.WEB4) == lines.exit4(FIRST)
    assert conversation.communicate(timeout=60)[0].split() == ["200", "600000"]


def test_blocked_is_blocked_for_domestic_traffic(fast, lab):
    os.kill(children(fast.worker.pid)[0], signal.SIGKILL)
    try:
        fast.wait_for("blocked", 10)
        assert not is_fast(fast)
        for _, address, _, _ in HOMES:
            assert seen(lab, address, *BRIEFLY) is None
        fast.controller("mode", "global")
        assert fast.status()["state"] == "blocked" and not is_fast(fast)
        fast.controller("disconnect")
        assert seen(lab, plan.CN4) == plan.CLIENT4
    finally:
        # It ends with the tunnel, as it has no engine host any more.
        fast.stop()
        fast.start()


def test_what_others_remove_comes_back(fast, lab):
    lab.exec("client", "ip", "route", "flush", "table", "7100", "type", "throw")
    wait_until(lambda: snapshot.route_device(lab, plan.CN4) == "eth0", 5, "the routes come back")
    lab.exec("client", "ip", "-6", "route", "flush", "table", "7100")
    wait_until(lambda: snapshot.route_device(lab, plan.WEB6) == "trocket0", 5, "the tunnel's route comes back")
    wait_until(lambda: snapshot.route_device(lab, plan.CN6) == "eth0", 5, "the routes come back")
    wait_until(lambda: fast.status().get("verified"), 5, "the plan is verified again")


def write_subscription(lab, name, *rules):
    """The lab's subscription with rules of the provider before everything else; its file."""
    document = lines.sing_box_subscription()
    document["route"]["rules"] += rules
    path = lab.path("home", name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    os.chmod(path, 0o644)
    return path


def test_the_profile_decides(fast, lab):
    own = write_subscription(lab, "own-rules.json", {
        "ip_cidr": [f"{plan.CN4}/32", f"{plan.CN6}/128"], "action": "route", "outbound": "节点选择"})
    agreeing = write_subscription(lab, "agreeing.json", {"domain_suffix": ["example.com"], "action": "route", "outbound": "direct"})
    try:
        fast.controller("rule-sets", "--refresh")
        assert is_fast(fast), "the same profile"
        fast.controller("import", own)
        assert not is_fast(fast), "at once: the engine takes the new profile whenever it has to be started again"
        fast.controller("mode", "rule")
        assert not is_fast(fast)
        fast.controller("disconnect")
        fast.connect(FIRST, "--mode", "rule")
        fast.controller("mode", "rule")
        for _, address, _, line in HOMES:
            assert snapshot.route_device(lab, address) == "trocket0"
            assert seen(lab, address) == line, "as the provider's rule says"
        fast.controller("mode", "global")
        fast.controller("mode", "rule")
        assert not is_fast(fast)
        fast.controller("rule-sets", "--refresh")
        fast.controller("import", agreeing)
        assert not is_fast(fast), "the engine that runs still has the other profile"
        fast.controller("mode", "rule")
        assert not is_fast(fast)
        for _, address, _, line in HOMES:
            assert seen(lab, address) == line
        fast.controller("disconnect")
        fast.connect(FIRST, "--mode", "rule")
        become_fast(fast)
        for _, address, own_address, _ in HOMES:
            assert seen(lab, address) == own_address
    finally:
        fast.controller("disconnect", check=False)
        fast.controller("import", lab.subscription)
        os.remove(own)
        os.remove(agreeing)


def test_a_kill_switch_left_by_a_dead_worker_is_closed_for_domestic_traffic(product, lab):
    product.connect(FIRST, "--mode", "rule", "--kill-switch")
    become_fast(product)
    product.kill()
    assert snapshot.route_device(lab, plan.CN4) == "eth0", "the rules and routes are still there"
    for _, address, _, _ in HOMES:
        assert seen(lab, address, *BRIEFLY) is None, "the guard is closed from the worker's death on"
    product.start()
    product.wait_for("connected", 15)
    become_fast(product)
    for _, address, own, _ in HOMES:
        assert snapshot.route_device(lab, address) == "eth0"
        assert seen(lab, address) == own
    # Ended in good order, behind the kill switch: by an upgrade.
    product.stop()
    assert seen(lab, plan.CN4, *BRIEFLY) is None
    product.start()
    product.wait_for("connected", 15)
    become_fast(product)
    product.controller("mode", "global")
    assert not is_fast(product)
    product.controller("disconnect")
    assert seen(lab, plan.CN4) == plan.CLIENT4


@pytest.mark.parametrize("how", ["said", "behind its back", "while it was dead"])
def test_what_was_in_force_is_not_taken_up_where_it_is_wrong(product, lab, how):
    """Global mode, or another profile: domestic traffic stays in the engine of a tunnel that is taken up."""
    product.connect(FIRST, "--mode", "rule", "--kill-switch")
    become_fast(product)
    own = None
    try:
        if how == "said":
            product.controller("mode", "global")
        elif how == "behind its back":
            # A controller that died between the engine and the worker.
            told = json.loads(lab.user("/usr/bin/python3", "-I", "-c", (
                "import socket; s = socket.socket(socket.AF_UNIX); s.connect('%s'); "
                "s.send(b'{\"v\":1,\"id\":1,\"call\":\"status\"}\\n'); print(s.makefile().readline())") % product.socket).stdout)
            api = told["ok"]["api"]
            lab.user("curl", "-sSf", "-X", "PATCH", "-H", f"Authorization: Bearer {api['secret']}",
                     "-d", '{"mode":"Global"}', f"http://{api['address']}/configs")
        product.kill()
        if how == "while it was dead":
            own = write_subscription(lab, "own-rules.json", {
                "ip_cidr": [f"{plan.CN4}/32", f"{plan.CN6}/128"], "action": "route", "outbound": "节点选择"})
            product.controller("import", own)
        product.start()
        product.wait_for("connected", 15)
        time.sleep(1.5)  # it would be in force half a second after the tunnel is up
        assert not is_fast(product)
        for _, address, _, line in HOMES:
            assert snapshot.route_device(lab, address) == "trocket0"
            assert seen(lab, address) == line
    finally:
        product.controller("disconnect", check=False)
        if own:
            product.controller("import", lab.subscription)
            os.remove(own)


def test_only_the_owner_decides(fast, lab):
    def ask(uid):
        told = lab.user("/usr/bin/python3", "-I", "-c", (
            "import socket, json; s = socket.socket(socket.AF_UNIX); s.connect('%s'); "
            "s.send(json.dumps({'v': 1, 'id': 1, 'call': 'domestic', 'on': False}).encode() + b'\\n'); "
            "print(s.makefile().readline())") % fast.socket, uid=uid, environment={"HOME": "/"})
        return json.loads(told.stdout)

    assert ask(0)["error"]["code"] == "not-owner"
    assert ask(4711)["error"]["code"] == "not-owner"
    assert is_fast(fast)
    assert ask(plan.USER)["ok"]["domesticFastPath"] is False
    fast.controller("mode", "rule")
    assert is_fast(fast)


LISTENER = """
import json, socket
worker = socket.socket(socket.AF_UNIX)
worker.connect("%s")
worker.settimeout(10)
worker.send(json.dumps({"v": 1, "id": 1, "call": "subscribe"}).encode() + b"\\n")
for line in worker.makefile():
    told = json.loads(line)
    print("ready" if "id" in told else told["status"]["domesticFastPath"], flush=True)
"""


def test_who_watches_is_told(product, lab):
    watching = lab.user_popen("/usr/bin/python3", "-I", "-c", LISTENER % product.socket, stdout=-1, stderr=-1)
    try:
        assert watching.stdout.readline() == "ready\n"
        product.connect(FIRST, "--mode", "rule", "--no-kill-switch")
        assert "True\n" in iter(watching.stdout.readline, ""), "it comes after connect has answered"
    finally:
        watching.kill()
        product.controller("disconnect")


def test_cost(product, lab):
    took = [product.connect(FIRST, "--no-kill-switch", "--mode", "rule")[0]]
    become_fast(product)
    pid = product.worker.pid
    wait_until(lambda: int(process_status(pid)["VmRSS"].split()[0]) <= 10 * 1024, 2, process_status(pid)["VmRSS"])
    for _ in range(3):
        product.controller("mode", "global")
        product.controller("mode", "rule")
    assert int(process_status(pid)["VmRSS"].split()[0]) <= 10 * 1024
    began = time.monotonic()
    for _ in range(5):
        assert product.status()["verified"]
    print(f"\nconnect {took[0]:.3f} s, status {(time.monotonic() - began) / 5:.3f} s, worker {process_status(pid)['VmRSS']}, "
          f"peak {process_status(pid)['VmHWM']}")
    product.controller("disconnect")


def test_it_leaves_no_trace(product, lab):
    before = snapshot.take(lab)
    for options in (("--no-kill-switch",), ("--kill-switch",)):
        product.connect(FIRST, "--mode", "rule", *options)
        become_fast(product)
        told = product.json("disconnect")
        assert told["repaired"] == []
        assert snapshot.differences(before, snapshot.take(lab)) == []
        # At once, while the routes are still being put in place.
        product.connect(FIRST, "--mode", "rule", *options)
        product.controller("disconnect")
        assert snapshot.differences(before, snapshot.take(lab)) == []
        product.connect(FIRST, "--mode", "rule", *options)
        become_fast(product)
        product.kill()
        product.start()
        told = product.json("disconnect")
        assert len(told["repaired"]) < 100
        assert snapshot.differences(before, snapshot.take(lab)) == []

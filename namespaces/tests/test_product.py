"""The product at work: which way packets take, what it costs, and that a machine is left as found."""

import json
import os
import re
import signal
import socket
import time

import pytest

from lablib import lines, plan, snapshot
from lablib.lab import wait_until
from lablib.product import children, process_status, runs

FIRST = lines.LINES[0][1]
# The exit status of a curl that has waited in vain (curl(1)).
CURL_TIMED_OUT = 28


# MARK: the way packets take

@pytest.fixture(params=[0, 1, 2], ids=lambda value: f"rp_filter={value}")
def filtered(request, lab, product):
    """Connected on a machine with a given rp_filter."""
    before = {name: lab.exec("client", "sysctl", "-n", f"net.ipv4.conf.{name}.rp_filter").stdout.strip()
              for name in ("all", "default", "eth0", "eth1")}
    for name in before:
        lab.exec("client", "sysctl", "-qw", f"net.ipv4.conf.{name}.rp_filter={request.param}")
    product.connect(FIRST, "--mode", "rule")
    yield product
    product.controller("disconnect", check=False)
    for name, value in before.items():
        lab.exec("client", "sysctl", "-qw", f"net.ipv4.conf.{name}.rp_filter={value}")


def engine_log(product):
    return product.controller("logs", "--source", "engine").stdout


def test_tcp_by_redirect_and_udp_by_tproxy(filtered, lab):
    earlier = len(engine_log(filtered))
    assert lab.page(f"https://{plan.WEB4}/ip")["address"] == lines.exit4(FIRST)
    assert lab.page(f"https://[{plan.WEB6}]/ip", "-g")["address"] == lines.exit6(FIRST)
    for port in plan.MIRROR_PORTS:
        assert lab.mirror(plan.WEB4, port) == lines.exit4(FIRST)
        assert lab.mirror(plan.WEB6, port) == lines.exit6(FIRST)
    for server in ("9.9.9.9", "2620:fe::fe", plan.ROUTER4, plan.ROUTER6, plan.LAN_HOST4):
        name = f"p{time.monotonic_ns()}.example.com"
        for transport in ("+notcp", "+tcp"):
            told = lab.user("dig", "+short", "+timeout=10", "+tries=2", transport, f"@{server}", name, check=False)
            assert told.stdout.split() == [plan.WEB4], (server, transport)
        bound = lab.user("dig", "+short", "+timeout=10", "+tries=2", "-b", plan.CLIENT6 if ":" in server else plan.CLIENT4,
                         f"@{server}", name, check=False)
        assert bound.stdout.split() == [plan.WEB4], (server, "bound")
    log = engine_log(filtered)[earlier:]
    for wanted in (f"redirect]: inbound connection to {plan.WEB4}:443", f"redirect]: inbound connection to [{plan.WEB6}]:443",
                   f"tproxy]: inbound packet connection to {plan.WEB4}:443",
                   f"tproxy]: inbound packet connection to [{plan.WEB6}]:40000",
                   "tproxy]: inbound packet connection to 9.9.9.9:53"):
        assert wanted in log, wanted
    assert "tun[tun]: inbound connection" not in log


@pytest.mark.parametrize("switch", [False, True], ids=["off", "on"])
def test_conversations_begun_from_outside_live(filtered, lab, switch):
    filtered.connect(FIRST, "--kill-switch" if switch else "--no-kill-switch")
    assert filtered.status()["killSwitch"] is switch
    for host, address in (("world", plan.CLIENT4), ("world", plan.CLIENT6), ("lan", plan.LAN_CLIENT4), ("lan", plan.CLIENT6)):
        conversation = lab.hold_conversation(host, address, interval_ms=5)
        told = conversation.end()
        assert told["error"] is None and told["received"] > 0


def test_ipv6_is_taken_in_where_new_links_come_without_it(product, lab):
    lab.exec("client", "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
    try:
        product.connect(FIRST, "--no-kill-switch", "--mode", "rule")
        assert lab.page(f"https://[{plan.WEB6}]/ip", "-g")["address"] == lines.exit6(FIRST)
    finally:
        product.controller("disconnect", check=False)
        lab.exec("client", "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=0")


def test_the_neighbourhood_is_reached_directly(connected, lab):
    for address in (plan.LAN4, plan.LAN_HOST4, plan.LAN6, plan.LAN_HOST6, plan.ROUTER4):
        assert lab.exec("client", "ping", "-c", "1", "-W", "10", address, check=False).returncode == 0, address
        assert snapshot.route_device(lab, address) in ("eth0", "eth1")


def test_switching_lines_moves_new_connections(connected, lab):
    for line in lines.LINES:
        connected.controller("select", line[1])
        assert lab.page(f"https://{plan.WEB4}/ip")["address"] == lines.exit4(line[1]), line[2]
        assert lab.mirror(plan.WEB4, 40000) == lines.exit4(line[1]), line[2]


# MARK: cost

def resident(pid):
    """Resident memory of a process in KiB."""
    return int(process_status(pid)["VmRSS"].split()[0])


def wakeups(pid):
    """How often a process has been put to sleep of its own accord, which is how often it woke."""
    return int(process_status(pid)["voluntary_ctxt_switches"])


def test_worker_is_small(connected):
    assert resident(connected.worker.pid) <= 10 * 1024


def test_worker_sleeps_while_nothing_happens(connected):
    pid = connected.worker.pid
    hosts = children(pid)

    def sleep():
        before = [wakeups(p) for p in (pid, *hosts)]
        time.sleep(3)  # the measurement is of time that passes
        return [wakeups(p) for p in (pid, *hosts)] == before

    wait_until(sleep, 20, "worker and engine host sleep, once what connecting began has come to rest")


# MARK: leaving

def test_connect_and_disconnect_leave_no_trace(product, lab):
    before = snapshot.take(lab)
    for options in (("--no-kill-switch",), ("--kill-switch",), ("--no-kill-switch", "--mode", "global")):
        product.connect(FIRST, *options)
        assert snapshot.own_objects(lab)
        product.controller("disconnect")
        assert snapshot.differences(before, snapshot.take(lab)) == []


def test_nothing_to_confirm_is_said_as_that(connected):
    done = connected.controller("confirm", "--json", check=False)
    assert done.returncode == 1 and '"nothing-to-confirm"' in done.stdout
    assert connected.status()["state"] == "connected"


def test_forget_is_refused_while_connected(connected):
    done = connected.controller("forget", "--json", check=False)
    assert done.returncode == 1 and '"connected"' in done.stdout
    assert connected.controller("lines", "--json").returncode == 0


@pytest.mark.parametrize("mode", ["rule", "global"])
def test_pages_of_both_families_come_fast_over_a_line_without_ipv6(connected, lab, mode):
    """For nobody is told the address of the family that would have to be given up first."""
    connected.controller("mode", mode)
    lab.blackhole(plan.WEB6)
    try:
        assert lab.page("https://ip.example.com/ip")["address"] == lines.exit4(FIRST)
        assert lab.user("dig", "+short", "+timeout=10", "ip.example.com", "A").stdout.split() == [plan.WEB4]
        assert lab.user("dig", "+short", "+timeout=10", "ip.example.com", "AAAA").stdout.split() == []
    finally:
        lab.blackhole(plan.WEB6, False)


@pytest.mark.parametrize("mode", ["rule", "global"])
def test_an_ipv6_address_is_refused_over_a_line_without_ipv6(connected, lab, mode):
    connected.controller("mode", mode)
    lab.ip_text("abroad", "-6", "route", "add", "unreachable", plan.WEB6)
    try:
        told = lab.user("curl", "-sSkg", "--max-time", "10", f"https://[{plan.WEB6}]/ip", check=False)
        assert told.returncode not in (0, CURL_TIMED_OUT), told.stderr
    finally:
        lab.ip_text("abroad", "-6", "route", "delete", "unreachable", plan.WEB6)


def test_a_line_that_has_died_is_said_by_the_next_status(connected, lab):
    assert connected.status()["proof"]["ok"]
    lab.blackhole(plan.ABROAD4.format(lines.LINES[0][0]))
    try:
        path = os.path.join(connected.state_directory, "proof.json")
        with open(path, encoding="utf-8") as file:
            proof = json.load(file)
        owner = os.stat(path)
        proof["at"] -= 11
        with open(path, "w", encoding="utf-8") as file:
            json.dump(proof, file)
        os.chown(path, owner.st_uid, owner.st_gid)
        status = connected.status()
        assert status["state"] == "connected" and status["reason"]["code"] == "line-not-answering"
    finally:
        lab.blackhole(plan.ABROAD4.format(lines.LINES[0][0]), False)


@pytest.mark.parametrize("verb", ["status", "doctor", "rule-sets"])
def test_no_english_sentence_is_in_chinese_output(connected, verb):
    said = connected.controller(verb, check=False, environment={"TROCKET_LANG": "zh"}).stdout
    assert re.search("[\u4e00-\u9fff]", said)
    assert not re.findall(r"[A-Za-z]+(?: [a-z]+){2,}", said)


def test_an_engine_that_does_not_answer_is_said_as_that(connected):
    # What answers may be the engine or a helper of its own: all of them are frozen.
    family = [connected.status()["engine"]["pid"]]
    for member in family:
        family += children(member)
    for member in family:
        os.kill(member, signal.SIGSTOP)
    try:
        assert connected.status()["reason"]["code"] == "engine-not-answering"
    finally:
        for member in family:
            os.kill(member, signal.SIGCONT)
    wait_until(lambda: connected.status().get("reason", "unknown") is None, 10, "the engine answers again")


def test_without_confirmation_a_connection_is_taken_back(product, lab):
    before = snapshot.take(lab)
    # On a busy machine the time may be over before the line is proven.
    product.controller("connect", FIRST, "--confirm", "2", check=False)
    assert product.wait_for("disconnected")["reason"]["code"] == "not-confirmed"
    assert snapshot.differences(before, snapshot.take(lab)) == []
    product.connect(FIRST, "--confirm", "60")
    assert product.status()["confirmBy"]
    product.controller("confirm")
    status = product.status()
    assert status["state"] == "connected" and status["confirmBy"] is None
    product.controller("disconnect")


@pytest.mark.parametrize("kill_switch", [False, True], ids=["off", "on"])
def test_killed_worker(product, lab, kill_switch):
    before = snapshot.take(lab)
    product.connect(FIRST, "--kill-switch" if kill_switch else "--no-kill-switch")
    engine = product.status()["engine"]["pid"]
    product.kill()
    wait_until(lambda: not runs(engine), 5, "the engine ends with the worker")
    wait_until(lambda: "trocket0" not in lab.ip_text("client", "link"), 5, "the link goes with the namespace")
    def seen_as():
        return (lab.page(f"https://{plan.WEB4}/ip", "--max-time", "5", check=False) or {}).get("address")

    try:
        if kill_switch:
            assert seen_as() is None
        else:
            # The guard goes with the worker's socket, which the kernel closes some moments after the process.
            wait_until(lambda: seen_as() == plan.CLIENT4, 5, "traffic flows directly again")
    finally:
        product.start()
    product.controller("disconnect")
    assert snapshot.differences(before, snapshot.take(lab)) == []


# MARK: an engine host that is gone or frozen

def engine_host(product):
    """The worker's only child."""
    return children(product.worker.pid)[0]


def family(pid):
    """A process and all that descend from it."""
    found = [pid]
    for member in found:
        found += children(member)
    return found


def test_disconnect_wakes_a_frozen_engine_host(product, lab):
    before = snapshot.take(lab)
    product.connect(FIRST, "--kill-switch")
    host, engine = engine_host(product), family(product.status()["engine"]["pid"])
    os.kill(host, signal.SIGSTOP)
    product.controller("disconnect")
    assert not [member for member in engine if runs(member)] and runs(host)
    assert snapshot.differences(before, snapshot.take(lab)) == []
    product.connect(FIRST, "--no-kill-switch")
    product.controller("disconnect")


def test_disconnect_ends_a_frozen_engine(product, lab):
    before = snapshot.take(lab)
    product.connect(FIRST, "--kill-switch")
    engine = family(product.status()["engine"]["pid"])
    for member in engine:
        os.kill(member, signal.SIGSTOP)
    product.controller("disconnect")
    assert not [member for member in engine if runs(member)]
    assert snapshot.differences(before, snapshot.take(lab)) == []


@pytest.mark.parametrize("frozen", ["engine host", "all"])
def test_nothing_outlives_a_killed_worker_though_frozen(product, lab, frozen):
    before = snapshot.take(lab)
    product.connect(FIRST, "--no-kill-switch")
    below = family(engine_host(product))
    for member in below if frozen == "all" else below[:1]:
        os.kill(member, signal.SIGSTOP)
    product.kill()
    try:
        wait_until(lambda: not [member for member in below if runs(member)], 5, "all that was below the worker is gone")
    finally:
        product.start()
    product.connect(FIRST, "--no-kill-switch")
    product.controller("disconnect")
    assert snapshot.differences(before, snapshot.take(lab)) == []


def test_disconnect_opens_the_host_without_an_engine_host(product, lab):
    before = snapshot.take(lab)
    product.connect(FIRST, "--kill-switch")
    host = engine_host(product)
    try:
        os.kill(host, signal.SIGKILL)
        wait_until(lambda: product.status().get("state") == "blocked", 5, "the loss is noticed")
        refused = product.controller("connect", FIRST, "--json", check=False)
        assert refused.returncode != 0 and "engine-host-gone" in refused.stdout
        product.controller("disconnect")
        product.worker.wait(timeout=60)
        assert snapshot.differences(before, snapshot.take(lab)) == []
    finally:
        product.stop()
        product.start()


def test_stages_are_told_before_they_begin(product):
    """The controller puts the line in force while the worker reads everything back, so it must hear of that in time."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(product.socket)
        connection.settimeout(20)
        stream = connection.makefile("rw", encoding="utf-8")
        stream.write('{"v":1,"id":1,"call":"subscribe"}\n')
        stream.flush()
        product.connect(FIRST)
        stages, status = [], {}
        while status.get("state") != "connected":
            status = json.loads(stream.readline()).get("status", {})
            if status.get("stage") and status["stage"] not in stages:
                stages.append(status["stage"])
                if status["stage"] == "verify":
                    assert status["api"], "root sees where the engine answers"
    assert stages == ["engine", "link", "sandbox", "verify"]
    product.controller("disconnect")


def test_help_that_is_lost_is_a_failure(product, lab):
    for program in ("trocket-tunnel", "trocket-controller"):
        with open("/dev/full", "w", encoding="ascii") as full:
            lost = lab.popen("client", lab.path("bin", program), "--help", stdout=full).wait(timeout=60)
        assert lost != 0, program
        told = lab.exec("client", lab.path("bin", program), "--help").stdout
        assert told.rstrip().count("\n") > 10, program

"""A machine with the real systemd-resolved and the real polkit: its names go through the tunnel, whatever happens to it.

The lab is one of its own: its user's machine has a system bus, polkitd and systemd-resolved, and asks 127.0.0.53.
"""

import contextlib
import os
import signal

import pytest

from lablib import lines, plan, snapshot
from lablib.capture import Capture, outgoing
from lablib.lab import Lab, wait_until
from lablib.product import NET_ADMIN, capabilities, process_status
from lablib.resolver import STUB, Resolver

FIRST = lines.LINES[0][1]
NAME, TRUE, POISON = "www.youtube.com", plan.WEB4, plan.POISON4
ENGINE = "198.19.78.2 fd74:726f:636b:6575::2"
SECURED = (ENGINE, "~.", "yes", "no")
# The router names the resolver, and the domain of the LAN, as DHCP does.
UPLINK = (plan.ROUTER4, "lan", "yes", "no")
DOMESTIC = "223.5.5.5#dns.alidns.com"
QUESTIONS = outgoing("port 53 or port 853")
# Patience for a busy machine; the worker takes a quarter of a second.
SOON = 10.0


@pytest.fixture(scope="module")
def daemons():
    """The bus, polkit and systemd-resolved of a lab of this file's own. A machine that cannot have them fails the tests."""
    lab = Lab.up(f"resolved-{os.getpid()}", owner=os.getpid())
    try:
        started = Resolver(lab)
        yield started
        started.stop()
    finally:
        lab.down()


@pytest.fixture(scope="module")
def lab(daemons):
    """That lab, in place of the session's; the daemons are there before the product."""
    return daemons.lab


@pytest.fixture
def resolver(daemons, product):
    """The daemons as on a machine that has just started and is not connected."""
    daemons.lay()
    daemons.start_polkit()
    daemons.start_resolved()
    daemons.serve_programs(STUB)
    yield daemons
    product.controller("disconnect", check=False)


def connect(product, *more):
    """Connects in Rule mode; returns what was printed."""
    return product.connect(FIRST, "--mode", "rule", *more)[1]


@contextlib.contextmanager
def nothing_asked_outside(lab):
    """Nothing to port 53 or 853 leaves the machine meanwhile."""
    with Capture(lab, f"({QUESTIONS}) or (udp and dst portrange 61001-65535)") as capture:
        yield capture
        capture.barrier()
        assert capture.lines(QUESTIONS) == []


def answers(resolver):
    """What a name is, by resolved's own interface, by the C library and by the stub."""
    return (resolver.ask(NAME), *resolver.asked_by_programs(NAME))


def state(resolver):
    """What resolved answers and what it says of itself, in this order: it names the server it asked last."""
    return answers(resolver), resolver.tell("status")


def secured_again(resolver):
    """Waits until resolved asks through the tunnel, without asking the product anything."""
    wait_until(lambda: resolver.link("trocket0") == SECURED, SOON, "resolved asks through the tunnel again", interval=0.05)


def check(product, code):
    """A check of `doctor`, or None."""
    return next((c for c in product.json("doctor", check=False)["checks"] if c["code"] == code), None)


def test_a_worker_without_root_may_tell_resolved(resolver, product, lab):
    assert resolver.link("eth0") == UPLINK
    with Capture(lab, QUESTIONS) as capture:
        assert answers(resolver) == (POISON, POISON, POISON)
        wait_until(lambda: capture.lines(f"dst host {plan.ROUTER4} and udp port 53"), 5, "the question, seen on the wire")
    told = connect(product)
    assert told["dns"] == product.status()["dns"]
    assert (told["dns"]["method"], told["dns"]["secured"]) == ("resolved", True)
    assert process_status(product.worker.pid)["Uid"].split()[0] != "0"
    assert capabilities(product.worker.pid)["Eff"] == NET_ADMIN
    assert resolver.link("trocket0") == SECURED and resolver.link("eth0") == UPLINK
    with nothing_asked_outside(lab):
        assert answers(resolver) == (TRUE, TRUE, TRUE)
    assert check(product, "dns-not-secured") is None


def test_disconnect_takes_it_back(resolver, product):
    before = state(resolver)
    connect(product)
    assert state(resolver) != before
    product.controller("disconnect")
    assert state(resolver) == before


def test_a_snapshot_of_the_machine_holds_what_resolved_was_told(resolver, lab):
    before = snapshot.take(lab)
    assert answers(resolver) == (POISON, POISON, POISON)
    assert snapshot.differences(before, snapshot.take(lab)) == [], "asking is no change"
    resolver.tell_uplink(plan.ROUTER4, "~.")
    changed = snapshot.differences(before, snapshot.take(lab))
    assert changed and all(change.startswith("resolved: ") for change in changed)
    resolver.tell_uplink()
    assert snapshot.differences(before, snapshot.take(lab)) == []


@pytest.mark.parametrize("rewritten", [
    ("dns", "trocket0", plan.ROUTER4), ("domain", "trocket0", "lan"), ("revert", "trocket0")])
def test_what_others_rewrite_is_put_back(rewritten, resolver, product, lab):
    connect(product)
    resolver.tell(*rewritten)
    secured_again(resolver)
    with nothing_asked_outside(lab):
        assert answers(resolver) == (TRUE, TRUE, TRUE)
    assert "repairing drift=" in product.controller("logs", "--source", "worker").stdout


@pytest.mark.parametrize("rewritten", [("default-route", "trocket0", "no"), ("dnsovertls", "trocket0", "yes")])
def test_what_resolved_tells_nobody_is_put_back_when_the_state_is_asked(rewritten, resolver, product):
    connect(product)
    resolver.tell(*rewritten)
    assert product.status()["dns"]["secured"]
    assert resolver.link("trocket0") == SECURED


def test_an_uplink_that_wants_every_name_too_gets_none(resolver, product, lab):
    """NetworkManager gives the link with the default route `~.` and its resolver, at every renewal of the lease."""
    resolver.tell_uplink(plan.ROUTER4, "~.")
    assert answers(resolver) == (POISON, POISON, POISON)
    connect(product)
    # Nor is it believed what it learnt there before.
    assert resolver.asked_by_programs(NAME) == (TRUE, TRUE)
    with nothing_asked_outside(lab):
        resolver.tell_uplink(plan.ROUTER4, "~.")
        assert answers(resolver) == (TRUE, TRUE, TRUE)
    assert product.status()["dns"]["method"] == "resolved"


@pytest.mark.parametrize("forgetful", [False, True])
def test_resolved_is_started_again(forgetful, resolver, product, lab):
    connect(product)
    resolver.stop_resolved()
    assert product.status()["dns"]["method"] == "capture"
    if forgetful:
        resolver.forget()
    resolver.start_resolved()
    secured_again(resolver)
    with nothing_asked_outside(lab):
        assert answers(resolver) == (TRUE, TRUE, TRUE)
    assert product.status()["dns"]["method"] == "resolved"


def test_resolved_is_started_after_connecting(resolver, product, lab):
    resolver.stop_resolved()
    resolver.serve_programs(plan.ROUTER4)
    told = connect(product)
    assert (told["dns"]["method"], told["dns"]["secured"]) == ("capture", True)
    done = lab.exec("client", "dig", "+short", "+timeout=10", "+tries=2", f"@{plan.ROUTER4}", NAME)
    assert done.stdout.split() == [TRUE]
    resolver.start_resolved()
    resolver.serve_programs(STUB)
    secured_again(resolver)
    assert answers(resolver) == (TRUE, TRUE, TRUE)


@pytest.mark.parametrize("mode", ["rule", "global"])
@pytest.mark.parametrize("whose", ["the uplink's", "the machine's"])
def test_resolved_asks_its_resolver_by_tls(whose, mode, resolver, product, lab):
    """By settings that are common in China; the resolver wants every name, and there is a connection to it from before."""
    if whose == "the uplink's":
        resolver.lay(settings="DNSOverTLS=yes")
        resolver.start_resolved(DOMESTIC, "~.")
    else:
        resolver.lay(settings=f"DNSOverTLS=yes\nDNS={DOMESTIC}\nDomains=~.")
        resolver.start_resolved()

    def asked():
        return len(lab.events("home", via="tls"))

    before = asked()
    assert answers(resolver) == (POISON, POISON, POISON) and asked() > before
    product.connect(FIRST, "--mode", mode)
    assert resolver.link("trocket0") == SECURED and resolver.link("eth0")[3] == "yes"
    before = asked()
    with nothing_asked_outside(lab):
        for _ in range(3):
            assert answers(resolver) == (TRUE, TRUE, TRUE)
    assert asked() == before
    product.controller("disconnect")
    assert answers(resolver) == (POISON, POISON, POISON) and asked() > before


def test_resolved_hangs(resolver, product):
    connect(product)
    resolver.resolved.send_signal(signal.SIGSTOP)
    try:
        # The controller waits for five seconds.
        assert product.status()["dns"]["method"] == "refused"
        product.controller("disconnect")
    finally:
        resolver.resolved.send_signal(signal.SIGCONT)
    assert connect(product)["dns"]["method"] == "resolved"
    assert answers(resolver) == (TRUE, TRUE, TRUE)


def test_without_the_polkit_rule_it_is_said(resolver, product, lab):
    resolver.lay(rule=False)
    resolver.start_polkit()
    told = connect(product)
    assert (told["dns"]["method"], told["dns"]["secured"]) == ("refused", False)
    assert "dns-not-secured" in [notice["code"] for notice in told["notices"]]
    found = check(product, "dns-not-secured")
    assert found["verdict"] == "warning" and "polkit" in found["remedy"]
    assert "not fully inside the tunnel: systemd-resolved could not be told" in product.controller("status").stdout
    with nothing_asked_outside(lab):
        # Plain questions are taken in all the same, and what resolved binds to the uplink stays in.
        done = lab.exec("client", "dig", "+short", "+timeout=10", "+tries=2", f"@{plan.ROUTER4}", NAME)
        assert done.stdout.split() == [TRUE]
        assert resolver.ask(NAME) in (None, TRUE)
    # The rule comes: no new connection is needed.
    resolver.lay(rule=True)
    resolver.start_polkit()
    wait_until(lambda: (product.status().get("dns") or {}).get("method") == "resolved", SOON, "resolved lets itself be told", interval=0.1)
    assert resolver.link("trocket0") == SECURED and answers(resolver) == (TRUE, TRUE, TRUE)
    assert check(product, "dns-not-secured") is None


@pytest.mark.parametrize("kill_switch", ["--no-kill-switch", "--kill-switch"])
def test_a_worker_that_was_killed(kill_switch, resolver, product, lab):
    before = state(resolver)
    connect(product, kill_switch)
    product.kill()
    wait_until(lambda: not any(link["ifname"] == "trocket0" for link in lab.ip("client", "link", "show")), 5, "the link is gone")
    with nothing_asked_outside(lab) if kill_switch == "--kill-switch" else contextlib.nullcontext():
        if kill_switch == "--no-kill-switch":
            assert state(resolver) == before
        else:
            assert resolver.ask(NAME) is None
        product.start()
        if kill_switch == "--kill-switch":
            # The tunnel that was wanted is taken up again, and with it the resolver.
            assert product.wait_for("connected")["dns"]["method"] == "resolved"
            assert answers(resolver) == (TRUE, TRUE, TRUE)
    product.controller("disconnect", "--json")
    assert state(resolver) == before

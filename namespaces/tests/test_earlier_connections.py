"""Connections opened before connect, on a machine where nothing had the kernel track connections: those to the outside end, those
from outside and with the neighbourhood go on."""

import os
import subprocess

import pytest

from lablib import lines, plan
from lablib.capture import Capture
from lablib.keeper import SERVERS

FIRST = lines.LINES[0][1]
LEAKLIB = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "leaklib")
SCRIPT, FAR_END = os.path.join(LEAKLIB, "earlier.py"), os.path.join(LEAKLIB, "kept.py")


@pytest.fixture(scope="module")
def far_end(product, lab):
    """Servers abroad, one of which never stops talking."""
    process = lab.popen("world", "/usr/bin/python3", "-I", FAR_END, "serve", plan.WEB4, plan.WEB6, stdout=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    neighbour = lab.popen("lan", "/usr/bin/python3", "-I", os.path.join(SERVERS, "echo.py"), "serve", plan.SSH_PORT, stdout=subprocess.PIPE)
    assert neighbour.stdout.readline() == "ready\n"
    yield
    for server in (process, neighbour):
        server.kill()
        server.wait()


def packets(lab, expression):
    """What the router sees in two seconds."""
    with Capture(lab) as capture:
        lab.exec("client", "sleep", "2")
        capture.barrier()
        capture.stop()
        return capture.lines(expression)


@pytest.mark.parametrize("switch", ["--kill-switch", "--no-kill-switch"])
def test_those_to_the_outside_end(product, lab, far_end, switch):
    assert lab.exec("client", "nft", "list", "ruleset").stdout == "", "nothing tracks connections here"
    outgoing = f"ether src {plan.CLIENT_MAC} and (port 7777 or port 7778)"
    holder = lab.popen("client", "/usr/bin/python3", "-I", SCRIPT, "hold", f"4={plan.WEB4}", f"6={plan.WEB6}", stdout=subprocess.PIPE)
    server = lab.popen("client", "/usr/bin/python3", "-I", SCRIPT, "once", stdout=subprocess.PIPE)
    assert server.stdout.readline() == "ready\n"
    neighbour, guest = lab.hold_conversation("client", plan.LAN_HOST4), lab.hold_conversation("world", plan.CLIENT4)
    last_guest = lab.hold_conversation("world", plan.CLIENT4, port=4001)
    try:
        assert holder.stdout.readline() == "ready\n"
        before = packets(lab, outgoing)
        for what in ("> 192.0.2.80.7777: tcp", "> 192.0.2.80.7778: tcp", "> 192.0.2.80.7777: UDP", "> 192.0.2.80.7778: UDP"):
            assert any(what in line for line in before), what
        assert any(".4000 > 192.0.2.80.7778: tcp" in line for line in before)
        product.connect(FIRST, switch)
        assert packets(lab, outgoing) == []
        told = guest.end()
        assert told["error"] is None and told["received"] > 0, "a conversation from outside goes on"
        told = last_guest.end()
        assert told["error"] is None and told["received"] > 0, "and one whose server takes no others"
        told = neighbour.end()
        assert told["error"] is None and told["received"] > 0, "and one with a neighbour"
    finally:
        product.controller("disconnect", check=False)
        for process in (holder, server):
            process.kill()
            process.wait()


@pytest.mark.parametrize("address", [plan.WEB4, plan.WEB6])
@pytest.mark.parametrize("guarded", [False, True])
def test_what_a_closed_program_left_to_send_stays(product, lab, guarded, address):
    """The kernel sends it for minutes, as soon as the other side makes room: that must not count as an answer."""
    assert lab.exec("client", "nft", "list", "ruleset").stdout == "", "nothing tracks connections here"
    dam = lab.popen("world", "/usr/bin/python3", "-I", SCRIPT, "dam", address, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert dam.stdout.readline() == "ready\n"
        given = int(lab.exec("client", "/usr/bin/python3", "-I", SCRIPT, "upload", address).stdout)
        if guarded:
            product.connect(FIRST, "--kill-switch")
        with Capture(lab) as capture:
            dam.stdin.write("\n")
            dam.stdin.flush()
            told = dam.stdout.readline().split()
            capture.barrier()
            capture.stop()
            left = capture.lines(f"ether src {plan.CLIENT_MAC} and port 7780")
        if guarded:
            assert told[1] == "reset" and left == []
        else:
            assert told == [str(given), "end"] and left, "otherwise silence would prove nothing"
    finally:
        product.controller("disconnect", check=False)
        dam.kill()
        dam.wait()


def test_programs_learn_of_it_at_once(product, lab, far_end):
    program = ("import socket\n"
               f"s = socket.create_connection(('{plan.WEB4}', 7777), 5)\n"
               "print('open', flush=True)\n"
               "s.settimeout(50)\n"
               "try: print('read', len(s.recv(1)))\n"
               "except OSError as problem: print(type(problem).__name__)\n")
    waiting = subprocess.Popen(lab.user_command("/usr/bin/python3", "-I", "-c", program), stdout=subprocess.PIPE, text=True)
    assert waiting.stdout.readline() == "open\n"
    product.connect(FIRST)
    try:
        assert waiting.communicate(timeout=60)[0] in ("ConnectionAbortedError\n", "ConnectionResetError\n")
    finally:
        product.controller("disconnect")

"""The early block of trocket-block.service: what it lets out before a tunnel is there, and that the tunnel works behind it."""

import os
import subprocess

import pytest

from lablib import lines, plan
from lablib.lab import REPOSITORY, wait_until

FIRST = lines.LINES[0][1]
BLOCK = os.path.join(REPOSITORY, "scripts", "packaging", "system", "block.nft")


@pytest.fixture
def blocked(product, lab):
    """The block in force, loaded twice as a restarted service would, and no tunnel."""
    for _ in range(2):
        lab.exec("client", "nft", "-f", BLOCK)
    yield product
    product.controller("disconnect", check=False)
    lab.exec("client", "nft", "delete", "table", "inet", "trocket_block")


def seen(lab, address):
    """Which address a server at this address sees; None when it cannot be reached."""
    host = f"[{address}]" if ":" in address else address
    return (lab.page(f"https://{host}/ip", "-g", "-k", check=False) or {}).get("address")


def test_what_the_tunnel_lets_pass_passes_the_early_block(blocked, lab):
    # The last word of a connection the engine has closed is the kernel's, of no user's.
    def leaving():
        listed = lab.exec("abroad", "ss", "-Htn", "state", "last-ack", "dst", plan.CLIENT4).stdout
        return {tuple(line.split()[-2:]) for line in listed.splitlines()}

    before = leaving()
    for address in (plan.WEB4, plan.WEB6, plan.CN4, plan.CN6):
        assert lab.mirror(address, plan.MIRROR_PORTS[0]) is None
    lab.user("ping", "-c", "1", "-W", "10", plan.LAN_HOST4)
    blocked.connect(FIRST, "--mode", "rule")
    wait_until(lambda: blocked.status().get("domesticFastPath"), 5, "domestic traffic goes past the engine", interval=0.05)
    for abroad, line, home, own in ((plan.WEB4, lines.exit4(FIRST), plan.CN4, plan.CLIENT4),
                                    (plan.WEB6, lines.exit6(FIRST), plan.CN6, plan.CLIENT6)):
        assert seen(lab, abroad) == line
        assert seen(lab, home) == lab.mirror(home, plan.MIRROR_PORTS[0]) == own, "past the engine"
    wait_until(lambda: leaving() <= before, 5, "the server's connections are over")


def test_a_program_on_ports_of_an_engine_connection_does_not_pass(blocked, lab):
    lab.exec("client", "nft", f"""table inet earlier {{ chain output {{
        type filter hook output priority filter - 1; policy accept; ip daddr {plan.WEB4} ct mark set 0x71000000
    }}; }}""")
    try:
        assert lab.mirror(plan.WEB4, plan.MIRROR_PORTS[0]) is None
    finally:
        lab.exec("client", "nft", "delete", "table", "inet", "earlier")


def test_what_asks_a_resolver_is_no_answer(blocked, lab):
    """Where tracking begins with the block, an answer under way makes all later questions of that socket replies."""
    asks = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', 4053)); print('ready', flush=True)\n" \
           "_, resolver = s.recvfrom(99)\n" \
           "try: s.sendto(b'and', resolver); print('sent')\n" \
           "except PermissionError: print('refused')"
    answers = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', {port})); " \
              f"s.sendto(b'so', ('{plan.CLIENT4}', 4053))"
    for port, word in ((853, "refused"), (8530, "sent")):
        program = lab.popen("client", "/usr/bin/python3", "-I", "-c", asks, stdout=subprocess.PIPE)
        assert program.stdout.readline() == "ready\n"
        lab.exec("lan", "/usr/bin/python3", "-I", "-c", answers.format(port=port))
        assert program.communicate(timeout=20)[0] == word + "\n", port

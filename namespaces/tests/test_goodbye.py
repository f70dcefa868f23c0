"""What closed connections leave behind on the proxy server."""

from lablib import lines, plan
from lablib.lab import wait_until


def test_the_engine_says_goodbye_to_the_server(connected, lab):
    # The last word of a closed connection is the kernel's, of no user's: withheld, the server repeats its own for minutes.
    def leaving():
        listed = lab.exec("abroad", "ss", "-Htn", "state", "last-ack", "dst", plan.CLIENT4).stdout
        return {tuple(line.split()[-2:]) for line in listed.splitlines()}

    # A connection that was cut off by another test has no part in this one.
    before = leaving()
    for _ in range(10):
        assert lab.page(f"https://{plan.WEB4}/ip")["address"] == lines.exit4(lines.LINES[0][1])
    wait_until(lambda: leaving() <= before, 5, "the server's connections are over")

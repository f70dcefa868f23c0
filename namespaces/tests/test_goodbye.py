"""What closed connections leave behind on the proxy server."""

from lablib import lines, plan
from lablib.lab import wait_until


def test_the_engine_says_goodbye_to_the_server(connected, lab):
    for _ in range(10):
        assert lab.page(f"https://{plan.WEB4}/ip")["address"] == lines.exit4(lines.LINES[0][1])

    # The last word of a closed connection is the kernel's, of no user's: withheld, the server repeats its own for minutes.
    def leaving():
        return lab.exec("abroad", "ss", "-Htn", "state", "last-ack", "dst", plan.CLIENT4).stdout
    wait_until(lambda: not leaving(), 5, "the server's connections are over")

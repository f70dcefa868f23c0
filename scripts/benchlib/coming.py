"""Visits a page again and again until it comes by the line, as a program of the user's inside the lab.

    coming.py URL ADDRESS      ADDRESS: what the page has to see its visitor by

Prints "ready", waits for a line on its standard input, and prints the moment (CLOCK_MONOTONIC, seconds) at which the page was
there, or null after 20 seconds. An attempt is given up after a second, and followed by another 20 ms later.
"""

import json
import subprocess
import sys
import time

PATIENCE = 20


def visited(url):
    """The address the page was visited from, or None."""
    done = subprocess.run(["curl", "-sS", "-g", "--fail", "--max-time", "1", url], stdin=subprocess.DEVNULL, capture_output=True,
                          check=False)
    try:
        return json.loads(done.stdout)["address"]
    except (ValueError, KeyError):
        return None


def main(url, address):
    print("ready", flush=True)
    sys.stdin.readline()
    deadline = time.monotonic() + PATIENCE
    came = None
    while came is None and time.monotonic() < deadline:
        if visited(url) == address:
            came = time.monotonic()
        else:
            time.sleep(0.02)
    print(json.dumps(came))


main(*sys.argv[1:])

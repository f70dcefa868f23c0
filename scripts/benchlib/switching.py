"""Switching a running engine again and again, as a program on the user's machine inside the lab.

    switching.py COUNT < JSON       JSON: api, secret, page (address of a web page that tells the visitor's address), lines
                                    (tag → the address it leaves from)

Prints JSON: switch (ms each, from asking until the engine uses the new line), next (ms each, from asking to the answer of a
request begun once the new line is in use), wrong (requests that did not leave by the new line), failed.
"""

import http.client
import itertools
import json
import sys
import time
import urllib.parse


def main(count):
    asked = json.load(sys.stdin)
    host, port = asked["api"].rsplit(":", 1)
    api = http.client.HTTPConnection(host, int(port), timeout=10)
    head = {"Authorization": f"Bearer {asked['secret']}", "Content-Type": "application/json"}
    look = http.client.HTTPConnection(host, int(port), timeout=10)
    told = {"switch": [], "next": [], "wrong": 0, "failed": 0}
    for tag, leaves_from in itertools.islice(itertools.cycle(asked["lines"].items()), count):
        began = time.perf_counter()
        api.request("PUT", "/proxies/proxy", json.dumps({"name": tag}), head)
        wait_until_used(look, head, tag)
        told["switch"].append((time.perf_counter() - began) * 1000)
        try:
            page = http.client.HTTPConnection(asked["page"], 80, timeout=10)
            page.request("GET", "/ip.txt")
            seen = page.getresponse().read().decode().strip()
            page.close()
        except (OSError, http.client.HTTPException):
            seen = None
        told["next"].append((time.perf_counter() - began) * 1000)
        answer = api.getresponse()
        answer.read()
        told["failed"] += answer.status >= 300 or seen is None
        told["wrong"] += seen not in (None, leaves_from)
    print(json.dumps(told))


def wait_until_used(look, head, tag):
    """Asks the engine what it uses until it is that line; the answer to the change itself comes once it is stored."""
    deadline = time.perf_counter() + 10
    while time.perf_counter() < deadline:
        look.request("GET", "/proxies/proxy", headers=head)
        if json.loads(look.getresponse().read())["now"] == tag:
            return
    sys.exit(f"the engine does not use {tag}")


main(int(sys.argv[1]))

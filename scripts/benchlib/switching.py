"""Switching a running engine again and again, as a program on the user's machine inside the lab.

    switching.py COUNT < JSON       JSON: api, secret, page (address of a web page that tells the visitor's address), lines
                                    (tag → the address it leaves from)

Prints JSON: switch (ms each, from asking to the engine's answer), next (ms each, from asking to the answer of a request
begun right afterwards), wrong (requests that did not leave by the new line), failed.
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
    told = {"switch": [], "next": [], "wrong": 0, "failed": 0}
    for tag, leaves_from in itertools.islice(itertools.cycle(asked["lines"].items()), count):
        began = time.perf_counter()
        api.request("PUT", "/proxies/proxy", json.dumps({"name": tag}), head)
        answer = api.getresponse()
        answer.read()
        told["switch"].append((time.perf_counter() - began) * 1000)
        try:
            page = http.client.HTTPConnection(asked["page"], 80, timeout=10)
            page.request("GET", "/ip.txt")
            seen = page.getresponse().read().decode().strip()
            page.close()
        except (OSError, http.client.HTTPException):
            seen = None
        told["next"].append((time.perf_counter() - began) * 1000)
        told["failed"] += answer.status >= 300 or seen is None
        told["wrong"] += seen not in (None, leaves_from)
    print(json.dumps(told))


main(int(sys.argv[1]))

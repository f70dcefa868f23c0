"""Providers that send too much, too deep, too slowly or as someone else, over real HTTPS: a clear error within the time
limit, bounded memory, and the old subscription as it was."""

import concurrent.futures
import gzip
import json
import os
import subprocess

import pytest

from lablib import lines, measure, plan

BASE = f"https://{plan.SUB_NAME}"
MIB = 1 << 20
# The controller's own memory for anything a provider sends: a body at its limit several times over, and a margin.
MOST_MIB = 400
NODE = '{name: A, type: trojan, server: a.example.com, port: 443, password: pw}'
PROFILE = "proxies:\n  - " + NODE + "\n"


def padded(text, size):
    """A profile with a comment that fills it up to a size."""
    return text + "#" + "x" * (size - len(text) - 2) + "\n"


def alias_bomb():
    """A name that stands for ten to the ninth others."""
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    return PROFILE + "\n".join(rows) + "\n"


def merge_bomb():
    """Merge keys that double a mapping thirty times."""
    rows = ["m0: &m0 {k: v, l: v}"]
    rows += [f"m{n}: &m{n} {{<<: [*m{n - 1}, *m{n - 1}]}}" for n in range(1, 31)]
    return PROFILE + "\n".join(rows) + "\n"


def many_nodes(count):
    """A flow list of that many nodes, in one line."""
    return "proxies: [" + ", ".join(
        f"{{name: N{n}, type: trojan, server: h{n}.example.com, port: 443, password: p{n}}}" for n in range(count)) + "]\n"


LONG = "x" * 10**6
# name, what is served, further headers, the code of the error or None when it is taken, what memory it may take
BODIES = [
    ("at-the-limit", lambda: padded(PROFILE, 32 * MIB), {}, None, MOST_MIB),
    ("one-byte-more", lambda: padded(PROFILE, 32 * MIB + 1), {}, "too-large", MOST_MIB),
    ("unannounced-gzip", lambda: gzip.compress(PROFILE.encode()), {}, None, 100),
    ("unannounced-bomb", lambda: gzip.compress(b" " * (64 * MIB), 1), {}, "too-large", 200),
    ("unannounced-gzip-cut-off", lambda: gzip.compress(PROFILE.encode())[:-12], {}, "fetch", 100),
    ("gzip-that-is-none", lambda: PROFILE, {"content-encoding": "gzip"}, "fetch", 100),
    ("alias-bomb", alias_bomb, {}, "too-large", 100),
    ("merge-bomb", merge_bomb, {}, "too-large", 200),
    ("aliases-a-hundred-thousand", lambda: PROFILE + "a: &a [x]\nb: [" + "*a, " * 100_000 + "]\n", {}, None, 200),
    ("64-deep", lambda: PROFILE + "deep: " + "[" * 63 + "]" * 63 + "\n", {}, None, 100),
    ("65-deep", lambda: PROFILE + "deep: " + "[" * 64 + "]" * 64 + "\n", {}, "too-large", 100),
    ("deep-blocks", lambda: "".join(" " * n + "k:\n" for n in range(3000)), {}, "too-large", 100),
    ("a-million-deep", lambda: "[" * 10**6, {}, "too-large", 200),
    ("json-a-million-deep", lambda: '{"outbounds": ' + "[" * 10**6, {}, "bad-json", 200),
    ("json-65-deep", lambda: '{"outbounds": ' + "[" * 64 + "]" * 64 + "}", {}, "bad-json", 100),
    ("json-of-commas", lambda: '{"outbounds": [' + "0," * (4 * MIB) + "0]}", {}, "too-large", 200),
    ("a-million-characters-of-password", lambda: PROFILE.replace("pw", LONG), {}, None, 200),
    ("a-million-characters-of-name", lambda: PROFILE.replace("name: A", "name: " + LONG), {}, None, 200),
    ("a-million-characters-of-key", lambda: PROFILE + f'? "{LONG}"\n: v\n', {}, None, 200),
    ("a-million-characters-of-link", lambda: f"trojan://{LONG}@a.example.com:443#A\n", {}, None, 200),
    ("a-million-characters-of-link-name", lambda: f"trojan://pw@a.example.com:443#{LONG}\n", {}, None, 200),
    ("a-million-characters-of-nothing", lambda: LONG, {}, "not-a-subscription", 200),
    ("a-million-links", lambda: "trojan://p@a.b:1#A\n" * 10**6, {}, "too-large", MOST_MIB),
    ("too-many-nodes", lambda: many_nodes(50_001), {}, "too-large", MOST_MIB),
    ("page-of-31-mib", lambda: "<html>" + "<title>" * (31 * MIB // 7), {}, "not-a-subscription", MOST_MIB),
    ("base64-of-31-mib", lambda: "QUFB" * (31 * MIB // 4), {}, "not-a-subscription", MOST_MIB),
    ("title-of-100-kb", lambda: PROFILE, {"profile-title": "x" * 100_000}, None, 100),
    ("quota-without-a-sum", lambda: PROFILE, {"subscription-userinfo": "upload=8.9e18; download=8.9e18; total=1"}, None, 100),
    ("absurd-quota", lambda: PROFILE, {"subscription-userinfo": "upload=" + "9" * 5000 + "; total=-1e999"}, None, 100),
]
# What must end by the time limit: 30 s for the whole fetch, both agents at once; on a busy machine it is given thrice as much.
SLOW = [
    ("/bad/silent", "timeout"), ("/bad/slow", "timeout"), ("/bad/slow-headers", "timeout"),
    ("/bytes?n=33554432&rate=1000", "timeout"),
]
SLOW_SECONDS = 90
PLAIN_PORT = 8081
PLAIN_SERVER = f"""
import socket
listener = socket.create_server(("", {PLAIN_PORT}))
print("ready", flush=True)
while True:
    peer, _ = listener.accept()
    peer.sendall(b"HTTP/1.1 400 Bad Request\\r\\nContent-Length: 0\\r\\n\\r\\n")
    peer.recv(4096)
    peer.close()
"""


def serve(lab, name, body, headers):
    """Puts a body where the provider's server finds it."""
    path = lab.path("www", name)
    with open(path, "wb") as file:
        file.write(body if isinstance(body, bytes) else body.encode())
    with open(path + ".headers", "w", encoding="utf-8") as file:
        json.dump(headers, file)
    return f"{BASE}/files/{name}"


def imported(product, link, timeout=60):
    """Tries an import over the network; returns what it cost and the object it printed."""
    run = measure.run(product.lab.user_command(*product.controller_command("import", link, "--dry-run", "--json")), timeout)
    assert len(run.stdout) < 3 * MIB and len(run.stderr) < 4096, (len(run.stdout), run.stderr[:500])
    return run, json.loads(run.stdout)


def refused(run, told, code):
    """Checks a refusal: its code, an exit status that fits, words and a remedy that are short and tell no secret."""
    assert run.code in (65, 75), told
    error = told["error"]
    assert error["code"] == code, error
    assert 10 < len(error["message"]) < 600 and error["remedy"], error
    assert "/files/" not in run.stdout + run.stderr and "/bad/" not in run.stdout + run.stderr


@pytest.fixture(scope="module", autouse=True)
def slow_imports(product):
    """All slow imports under way at once while the other tests run; the time limit is waited for once."""
    before = product.json("lines")
    with concurrent.futures.ThreadPoolExecutor(len(SLOW)) as pool:
        yield {path: pool.submit(imported, product, BASE + path, SLOW_SECONDS) for path, _ in SLOW}
    assert product.json("lines") == before


@pytest.mark.parametrize("name, make, headers, code, most", BODIES, ids=[body[0] for body in BODIES])
def test_body(product, lab, name, make, headers, code, most):
    link = serve(lab, name, make(), headers)
    try:
        run, told = imported(product, link)
    finally:
        os.unlink(lab.path("www", name))
    if code:
        refused(run, told, code)
    else:
        assert run.code == 0 and (len(told["lines"]) == 1 or told["dropped"]), told
    assert run.peak_mib < most, f"{run.peak_mib:.0f} MiB"


@pytest.mark.parametrize("path, code", [
    ("/bad/loop", "too-many-redirects"), ("/bad/to-file", "fetch"), ("/bad/downgrade", "fetch"),
    ("/bad/endless-headers", "too-large"), ("/bad/bomb", "too-large"), ("/bad/oversize", "too-large"),
])
def test_server(product, path, code):
    run, told = imported(product, BASE + path)
    refused(run, told, code)
    assert run.peak_mib < MOST_MIB, run


@pytest.fixture
def plain_server(lab):
    """A server that speaks before it is asked, and no TLS."""
    server = lab.popen("world", "/usr/bin/python3", "-I", "-c", PLAIN_SERVER, stdout=subprocess.PIPE)
    assert server.stdout.readline() == "ready\n"
    yield
    server.kill()
    server.wait()


@pytest.mark.parametrize("link", [
    f"https://{plan.SELF_SIGNED_NAME}/s/{plan.TOKEN}", f"https://{plan.SUB_NAME}:{PLAIN_PORT}/s/{plan.TOKEN}",
    f"https://www.of.google.com/s/{plan.TOKEN}",
], ids=["self-signed", "no-tls", "another-name"])
def test_tls(product, plain_server, link):
    run, told = imported(product, link)
    refused(run, told, "tls")
    assert plan.TOKEN not in run.stdout + run.stderr


@pytest.mark.parametrize("path, code", SLOW, ids=["silent", "slow-body", "slow-headers", "trickle"])
def test_slow_server(slow_imports, path, code):
    run, told = slow_imports[path].result()
    refused(run, told, code)
    assert run.seconds > 25, run
    assert run.peak_mib < 100


def test_afterwards_everything_works(product, lab):
    assert len(product.json("import", lab.subscription)["lines"]) == 10
    assert {line[1] for line in lines.LINES} <= set(product.lines())

"""No secret of the subscription leaves the files that are its user's alone: not in an output, a log, a report, an error, an
argument or environment of any process, or any file another user can read, whatever fails meanwhile."""

import base64
import json
import os
import subprocess
import threading

import pytest

from lablib import lines, plan
from lablib.lab import wait_until
from lablib.product import Product

STRANGER, COLLEAGUE = 61003, 61002
FIRST = lines.LINES[0][1]
# A link's token of its own, and credentials of the kinds the lab's lines do not use.
PROVIDER_TOKEN, RULES_TOKEN, LOST_TOKEN = "pr0v1d3rt0k3n77", "ru13s3tt0k3n88", "n0wh3r3t0k3n99"
EXTRA = {
    "wireguard private key": base64.b64encode(b"wireguard private key of test 01").decode(),
    "wireguard shared key": base64.b64encode(b"wireguard shared key of a test 1").decode(),
    "ssh password": "ssh-pass-0f-test-1", "ssh key": "U1NIIHByaXZhdGUga2V5IG9mIHRlc3Q",
    "obfs password": "salamander-s3cret-1", "plugin password": "shadow-tls-s3cret-1", "http password": "http-s3cret-pw-1",
    "http user": "http-s3cret-user-1", "snell psk": "sn3ll-psk-of-test-1", "wrong uuid": "not-a-uuid-but-s3cret",
    "header": "x-header-s3cret-1", "hysteria auth": "hyst3ria-auth-1", "unusable password": "unusable-s3cret-pw-1",
}
KINDS = [line[2] for line in lines.LINES]


def nodes():
    """Nodes with secrets in every place one can stand, good ones, broken ones and ones the engine refuses."""
    base = {"server": "192.0.2.77", "port": 443}
    return [
        {"name": "wg", "type": "wireguard", **base, "ip": "10.9.0.2", "private-key": EXTRA["wireguard private key"],
         "public-key": EXTRA["wireguard shared key"], "pre-shared-key": EXTRA["wireguard shared key"]},
        {"name": "ssh", "type": "ssh", **base, "username": "u", "password": EXTRA["ssh password"]},
        {"name": "ssh with a broken key", "type": "ssh", **base, "username": "u",
         "private-key": "-----BEGIN OPENSSH PRIVATE KEY-----\n" + EXTRA["ssh key"]},
        {"name": "hy2", "type": "hysteria2", **base, "password": "x-" + EXTRA["obfs password"], "obfs": "salamander",
         "obfs-password": EXTRA["obfs password"]},
        {"name": "stls", "type": "ss", **base, "cipher": "aes-128-gcm", "password": EXTRA["plugin password"],
         "plugin": "shadow-tls", "plugin-opts": {"host": "h.example.com", "password": EXTRA["plugin password"], "version": 3}},
        {"name": "http", "type": "http", **base, "username": EXTRA["http user"], "password": EXTRA["http password"]},
        {"name": "snell", "type": "snell", **base, "psk": EXTRA["snell psk"], "version": 9},
        {"name": "no uuid", "type": "vmess", **base, "uuid": EXTRA["wrong uuid"], "cipher": "auto", "alterId": 0},
        {"name": "header", "type": "vmess", **base, "uuid": lines.identity("vmess"), "cipher": "auto", "alterId": 0,
         "network": "ws", "ws-opts": {"path": "/live?token=" + EXTRA["header"], "headers": {"X-Key": EXTRA["header"]}}},
        {"name": "hy1", "type": "hysteria", **base, "auth-str": EXTRA["hysteria auth"], "up": "bad " + EXTRA["hysteria auth"],
         "down": "10"},
        {"name": "wrong method", "type": "ss", **base, "cipher": "no-such-cipher",
         "password": EXTRA["unusable password"]},
    ]


def clash_body():
    """The lab's Clash subscription with those nodes and a list that cannot be had."""
    text = lines.clash_subscription()
    more = "".join(f"  - {json.dumps(node)}\n" for node in nodes())
    lists = (f"proxy-providers:\n  lost: {{type: http, url: 'https://{plan.SUB_NAME}/lost/{PROVIDER_TOKEN}'}}\n"
             f"  nowhere: {{type: http, url: 'https://user:{LOST_TOKEN}@nowhere.example.net/x'}}\n")
    return text.replace("proxy-groups:\n", more + lists + "proxy-groups:\n", 1)


def sing_box_body():
    """The lab's sing-box subscription with a rule-set behind a token that is not there."""
    document = lines.sing_box_subscription()
    document["route"]["rule_set"] = [{"type": "remote", "tag": "private", "format": "binary",
                                      "url": f"https://{plan.SUB_NAME}/lost/{RULES_TOKEN}/x.srs"}]
    document["route"]["rules"].append({"rule_set": ["private"], "action": "route", "outbound": "direct"})
    return json.dumps(document, ensure_ascii=False)


def secrets():
    """Every secret by what it is."""
    found = {f"{kind} password": lines.password(kind) for kind in [*KINDS, "ssr"]}
    found.update({f"{kind} uuid": lines.identity(kind) for kind in ("vmess", "vless", "tuic")})
    found.update(EXTRA, token=plan.TOKEN, **{"provider's token": PROVIDER_TOKEN, "rule-set's token": RULES_TOKEN,
                                            "lost token": LOST_TOKEN})
    return found


class Watch:
    """Looks at every process of the lab again and again, and at every text a program says."""

    def __init__(self, lab, product):
        self.lab, self.product = lab, product
        self.wanted = {what: secret.encode() for what, secret in secrets().items()}
        self.found, self.seen, self.rounds = [], set(), 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def check(self, place, data):
        """Notes the secrets in something."""
        data = data if isinstance(data, bytes) else data.encode()
        for what, secret in self.wanted.items():
            if secret in data:
                at = data.index(secret)
                self.found.append((place, what, data[max(0, at - 60):at + 10]))

    def look(self):
        """The life of the watching thread."""
        while not self.over.wait(0.003):
            self.rounds += 1
            for pid in self.processes():
                for part in ("cmdline", "environ"):
                    try:
                        with open(f"/proc/{pid}/{part}", "rb") as file:
                            data = file.read()
                    except OSError:
                        continue
                    if data not in self.seen:
                        self.seen.add(data)
                        self.check(f"/proc/PID/{part}", data)

    def processes(self):
        """Everything below the worker and below this test; the engine is in a network namespace of its own."""
        below, waiting = set(), [os.getpid(), self.product.worker.pid]
        while waiting:
            pid = waiting.pop()
            try:
                for task in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                        for child in map(int, file.read().split()):
                            if child not in below:
                                below.add(child)
                                waiting.append(child)
            except OSError:
                continue
        return below | {self.product.worker.pid}

    def run(self, *arguments, **options):
        """Runs a verb, whatever comes of it, and checks what it says."""
        done = self.product.controller(*arguments, check=False, **options)
        self.check(f"output of {' '.join(arguments)}", done.stdout + done.stderr)
        return done

    def end(self):
        """Stops looking."""
        self.over.set()
        self.thread.join()
        assert self.rounds > 50 and len(self.seen) > 10, (self.rounds, len(self.seen))


SILENT = """
import socket, sys
listener = socket.create_server(("127.0.0.1", 0))
listener.settimeout(20)
print(listener.getsockname()[1], flush=True)
peer, _ = listener.accept()
print("asked", flush=True)
sys.stdin.read()
"""


def test_a_link_typed_as_an_argument_is_gone_from_it(lab):
    """While a server lets the user wait."""
    server = lab.user_popen("/usr/bin/python3", "-I", "-c", SILENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    link = f"http://127.0.0.1:{server.stdout.readline().strip()}/sub?token={plan.TOKEN}"
    state = lab.path("home", str(plan.USER), "typed")
    command = [Product(lab).controller_command()[0], "import", link, "--state-dir", state]
    importing = lab.user_popen(*command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert server.stdout.readline() == "asked\n"
        with open(f"/proc/{importing.pid}/cmdline", encoding="utf-8") as file:
            words = file.read().split("\0")
        hidden = "http://" + "x" * (len(link) - len("http://"))
        assert words[1:3] == ["import", hidden] and words[3:] == [*command[3:], ""]
    finally:
        for process in (importing, server):
            process.kill()
            process.communicate()


@pytest.fixture(scope="module")
def provider(lab):
    """The provider with the bodies of this module."""
    bodies = {"subscription.yaml": clash_body(), "subscription.json": sing_box_body()}
    for name, body in bodies.items():
        with open(lab.path("www", name), "w", encoding="utf-8") as file:
            file.write(body)
    yield
    for name in bodies:
        os.unlink(lab.path("www", name))


@pytest.fixture(scope="module")
def story(lab, provider):
    """Everything a user does, with everything that goes wrong, watched."""
    product = Product(lab)
    product.start()
    watch = Watch(lab, product)
    try:
        play(lab, product, watch)
        watch.readable = readable(lab)
        yield watch
    finally:
        watch.over.set()
        product.controller("disconnect", check=False)
        product.controller("forget", check=False)
        product.stop()


def play(lab, product, watch):
    """The story: imports that fail and one that does not, connecting, what breaks, what is asked."""
    base = f"https://{plan.SUB_NAME}"
    for path in ("/lost/", "/bad/html/", "/bad/500/", "/bad/loop/", "/bad/truncated/", "/links/x"):
        watch.run("import", "-", input=base + path + plan.TOKEN)
    for link in (f"https://{plan.SELF_SIGNED_NAME}/s/{plan.TOKEN}", f"https://u:{plan.TOKEN}@nowhere.example.net/",
                 f"https://{plan.REFUSED4}:9/{plan.TOKEN}", f"https:///{plan.TOKEN}",
                 f"clash://install-config?url={plan.TOKEN}"):
        watch.run("import", "-", input=link)
        watch.run("import", "-", "--json", input=link)
    for broken in (clash_body().replace("proxies:", "proxies: ]", 1), sing_box_body()[:-9], clash_body()[:-3] + "\t- {"):
        watch.run("import", "-", input=broken)
    for more in (["--dry-run", "--json"], ["--json"], []):
        done = watch.run("import", "-", *more, input=lab.subscription)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "ssh with a broken key" in done.stdout or "ssh with a broken key" in watch.run("lines", "--all").stdout
    ask(watch)
    watch.run("test", "--timeout", "2s")
    watch.run("test", "--json", "--timeout", "1s")
    watch.run("select", "no such line")
    watch.run("connect", "wg", "--wait", "3")
    watch.run("connect", lines.SILENT_LINE, "--wait", "3", timeout=60)
    done = watch.run("connect", FIRST, "--json", "--wait", "15")
    assert done.returncode == 0, done.stdout + done.stderr
    watch.wanted["the API's secret"] = api_secret(lab).encode()
    lab.page("https://ip.example.com/ip")
    ask(watch)
    watch.run("connections")
    watch.run("test", "--json", "--timeout", "2s")
    watch.run("update")
    engine = product.status()["engine"]["pid"]
    os.kill(engine, 9)
    ask(watch)
    product.wait_for("connected")
    watch.wanted["the new API's secret"] = api_secret(lab).encode()
    with open(lab.path("www", "subscription.yaml"), "w", encoding="utf-8") as file:
        file.write(clash_body().replace("proxies:", "proxies: ]", 1))
    watch.run("update")
    ask(watch)
    watch.run("disconnect")
    ask(watch)
    watch.check("the worker's standard error", product.worker_log())
    # Outputs from before the API's secrets were known hold none of them: there was no API then.
    for folder, _, names in os.walk(lab.path("state")):
        for name in names:
            if name.endswith(".log") or "/logs" in folder:
                with open(os.path.join(folder, name), "rb") as file:
                    watch.check(os.path.join(folder, name), file.read())
    watch.end()


def ask(watch):
    """Everything that tells something."""
    for verb in (["status"], ["status", "--json"], ["status", "--network"], ["lines", "--all"], ["lines", "--json", "--all"],
                 ["doctor"], ["doctor", "--json"], ["report"], ["report", "--json"], ["profile", "--redact"], ["rule-sets"],
                 *[["logs", "--source", source] for source in ("worker", "engine", "controller")]):
        watch.run(*verb)


def api_secret(lab):
    """The running engine's API secret, asked for as its owner."""
    answer = lab.user("/usr/bin/python3", "-I", "-c", (
        "import os, socket; s = socket.socket(socket.AF_UNIX); s.connect(os.environ['TROCKET_SOCKET']); "
        "s.sendall(b'{\"v\":1,\"id\":1,\"call\":\"status\"}\\n'); print(s.makefile().readline())"))
    secret = json.loads(answer.stdout)["ok"]["api"]["secret"]
    assert len(secret) >= 16
    return secret


FINDER = """
import os, stat, sys
wanted = [line.encode() for line in sys.stdin.read().split("\\n") if line]
for root in sys.argv[1:]:
    for folder, folders, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            try:
                if not stat.S_ISREG(os.lstat(path).st_mode) or os.lstat(path).st_size > 1 << 26: continue
                with open(path, "rb") as file: data = file.read()
            except OSError:
                continue
            for number, secret in enumerate(wanted):
                if secret in data: print(number, path)
"""


def readable(lab):
    """The files in which a stranger, or a colleague in the product's group, can read a secret: (who, what, path)."""
    found, wanted = [], secrets()
    # Where the provider's own side keeps its things, no secret is the product's to keep.
    roots = [lab.path(part) for part in ("state", "run", "home", "rule-sets", "bin")] + [
        lab.path("log", "worker.log"), "/var/tmp", "/dev/shm", "/var/log"]
    for who, in_group in ((STRANGER, False), (COLLEAGUE, True)):
        told = lab.user("/usr/bin/python3", "-I", "-c", FINDER, *roots, input="\n".join(wanted.values()), uid=who,
                        in_group=in_group)
        names = list(wanted)
        for line in told.stdout.splitlines():
            number, path = line.split(" ", 1)
            found.append((who, names[int(number)], path))
    return found


def test_the_finder_finds(lab):
    """What is looked for would be found: in a file others can read, and in an argument."""
    path = lab.path("run", "bait")
    with open(path, "w", encoding="utf-8") as file:
        file.write(plan.TOKEN)
    try:
        assert {(who, what) for who, what, _ in readable(lab)} == {(STRANGER, "token"), (COLLEAGUE, "token")}
    finally:
        os.unlink(path)

    class Bait:
        worker = lab.popen("client", "sleep", "90", env={**os.environ, "BAIT": plan.TOKEN})

    watch = Watch(lab, Bait)
    try:
        wait_until(lambda: watch.found, 5, "the watch sees it", interval=0.01)
        assert watch.found[0][:2] == ("/proc/PID/environ", "token")
    finally:
        watch.over.set()
        Bait.worker.kill()
        Bait.worker.wait()


def test_nothing_says_a_secret(story):
    assert story.found == []


def test_nobody_else_can_read_a_secret(story):
    assert story.readable == []

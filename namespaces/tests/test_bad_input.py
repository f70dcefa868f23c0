"""What can be missing or wrong on a machine: one sentence with a remedy, the right exit status, an untouched host."""

import json
import os
import shutil
import signal

import pytest

from lablib import lines, netns, plan, snapshot
from lablib.lab import REPOSITORY, wait_until
from lablib.product import Product

DENY = ["/usr/bin/python3", "-I", os.path.join(REPOSITORY, "namespaces", "lablib", "deny.py")]
FIRST = lines.LINES[0][1]


@pytest.fixture
def bare(lab):
    """The product with an imported subscription and no worker yet; whatever a test does must leave the host as it was."""
    before = snapshot.take(lab)
    made = Product(lab)
    made.start()
    made.controller("import", lab.subscription)
    made.stop()
    yield made
    made.stop()
    shutil.rmtree(made.state_directory, ignore_errors=True)
    assert snapshot.differences(before, snapshot.take(lab)) == []


def refusal(done, status):
    """The error of a verb that must have failed with a status: one sentence, and what to do about it."""
    assert done.returncode == status, f"{done.returncode}: {done.stdout} {done.stderr}"
    told = json.loads(done.stdout)["error"]
    assert told["code"] and told["message"].strip() and told["remedy"].strip()
    assert len(told["message"].splitlines()) == 1
    return told


def connect(product, **options):
    """Connects as the first who ever does: without the kill switch, which an earlier test may have had remembered."""
    return product.controller("connect", FIRST, "--no-kill-switch", "--wait", "15", "--json", check=False, **options)


RAW = """
import json, socket, sys
stream = socket.socket(socket.AF_UNIX)
stream.connect(sys.argv[1])
lines = stream.makefile("rwb", buffering=0)
calls = [{"v": 1, "id": number, **call} for number, call in enumerate(json.loads(sys.argv[2]))]
lines.write(b"".join(json.dumps(call).encode() + b"\\n" for call in calls))
print(json.dumps(sorted((json.loads(lines.readline()) for _ in calls), key=lambda told: told["id"])))
"""


def raw(product, lab, *calls):
    """The worker's answers to calls that come at once, without a controller."""
    return json.loads(lab.user("/usr/bin/python3", "-I", "-c", RAW, product.socket, json.dumps(calls)).stdout)


def old_engine(lab):
    """A sing-box that says it is of long ago, and does not know what is said now."""
    path = lab.path("bin", "old-sing-box")
    # Only the engine itself may be run, no shell for a script.
    with open(lab.engine, "rb") as engine, open(path, "wb") as file:
        file.write(engine.read().replace(b"1.14.2", b"1.11.4").replace(b"clash_api", b"clash_app"))
    os.chmod(path, 0o755)
    return path


@pytest.fixture
def ending_engine(lab):
    """An engine that starts and ends at once."""
    if not shutil.which("cc"):
        pytest.skip("needs a C compiler")
    path = lab.path("bin", "ending")
    netns.run(["cc", "-static", "-x", "c", "-o", path, "-"], input="int main(void) { return 3; }")
    yield path
    os.unlink(path)


# MARK: the engine

@pytest.mark.parametrize("which", ["missing", "too-old"])
def test_engine_of_the_throw_away_runs(bare, lab, which):
    path = "/nonexistent/sing-box" if which == "missing" else old_engine(lab)
    done = bare.controller("test", "--json", check=False, environment={"TROCKET_ENGINE": path})
    assert which in refusal(done, 69)["code"]


@pytest.mark.parametrize("which", ["missing", "too-old"])
def test_engine_of_the_tunnel(bare, lab, which):
    bare.start(engine="/nonexistent/sing-box" if which == "missing" else old_engine(lab), wait=False)
    try:
        bare.worker.wait(timeout=1)
    except Exception:
        refusal(connect(bare), 69)
    else:
        assert bare.worker.returncode == 69
        assert len(bare.worker_log().strip().splitlines()[-1]) > 20


def test_engine_missing_where_others_could_make_it(bare, lab):
    bare.start(engine=lab.path("home", str(plan.USER), "sing-box"), wait=False)
    assert bare.worker.wait(timeout=60) == 78
    assert "can be changed by others than root" in bare.worker_log().strip().splitlines()[-1]


def test_engine_that_came_later(bare, lab):
    path = lab.path("bin", "later-sing-box")
    bare.start(engine=path)
    try:
        assert "missing" in refusal(connect(bare), 69)["message"]
        shutil.copy(lab.engine, path)
        os.chown(path, plan.USER, plan.USER)
        assert "can be changed by others than root" in refusal(connect(bare), 69)["message"]
        os.chown(path, 0, 0)
        # What it may run was settled when it was confined.
        assert "Restart" in refusal(connect(bare), 69)["remedy"]
        bare.stop()
        bare.start(engine=path)
        assert connect(bare).returncode == 0
        bare.controller("disconnect")
    finally:
        os.unlink(path)


def test_engine_that_an_upgrade_replaces(bare, lab):
    """The running worker's rules name the file that was there: it goes on with that one, and the next worker takes the new."""
    path = lab.path("bin", "replaced-sing-box")
    shutil.copy(lab.engine, path)
    bare.start(engine=path)
    try:
        assert connect(bare).returncode == 0
        before = bare.status()["engine"]["pid"]
        shutil.copy(lab.engine, path + ".new")
        os.replace(path + ".new", path)
        os.kill(before, signal.SIGKILL)
        wait_until(lambda: (bare.status().get("engine") or {}).get("pid") not in (None, before)
                   and bare.status().get("state") == "connected", 20, "another engine")
        assert os.readlink(f"/proc/{bare.status()['engine']['pid']}/exe").endswith(" (deleted)")
        bare.controller("disconnect")
        assert connect(bare).returncode == 0
        bare.controller("disconnect")
    finally:
        os.unlink(path)


def test_first_connection_that_fails_with_the_kill_switch_stays_closed(bare, lab, ending_engine):
    def page(seconds=10):
        told = lab.page(f"https://{plan.WEB4}/ip", "--max-time", str(seconds), check=False)
        return told and told["address"]

    bare.start(engine=ending_engine)
    # Without the kill switch the host is as before.
    refusal(connect(bare), 69)
    assert bare.status()["state"] == "disconnected" and page() == plan.CLIENT4

    told = refusal(bare.controller("connect", FIRST, "--kill-switch", "--json", check=False), 69)
    assert told["code"] == "engine-exited" and "local traffic" in told["message"] and "disconnect" in told["remedy"]
    for verb in ([], ["connect", "--json"]):
        if verb:
            # The kill switch is remembered, though the last word before was against it.
            assert refusal(bare.controller(*verb, check=False), 69)["code"] == "engine-exited"
        status = bare.status()
        assert (status["state"], status["killSwitch"], status["reason"]["code"]) == ("blocked", True, "engine-exited")
        assert "disconnect" in status["reason"]["remedy"]
        assert page(2) is None
        assert lab.exec("client", "ping", "-c", "1", "-W", "10", plan.LAN4, check=False).returncode == 0
    # Nobody else removes it for long, and it follows the machine to another network.
    lab.exec("client", "nft", "delete", "table", "inet", "trocket_guard", check=False)
    lab.ip_text("client", "address", "add", "198.51.100.7/24", "dev", "eth1")
    try:
        wait_until(lambda: "198.51.100.0/24" in lab.exec(
            "client", "nft", "list", "table", "inet", "trocket_guard", check=False).stdout, 5, "the guard lets the new network")
    finally:
        lab.ip_text("client", "address", "delete", "198.51.100.7/24", "dev", "eth1")
    assert page(2) is None
    bare.controller("disconnect")
    assert bare.status()["state"] == "disconnected" and page() == plan.CLIENT4

    # What hinders the very start of an engine leaves the host as it was.
    profile = os.path.join(bare.state_directory, "profile.json")
    os.rename(profile, profile + ".away")
    try:
        assert raw(bare, lab, {"call": "connect", "killSwitch": True})[0]["error"]["code"] == "no-profile"
        assert bare.status()["state"] == "disconnected" and page() == plan.CLIENT4
    finally:
        os.rename(profile + ".away", profile)


def test_first_connection_that_fails_unconfirmed_is_undone_in_time(bare, lab, ending_engine):
    bare.start(engine=ending_engine)
    done = bare.controller("connect", FIRST, "--kill-switch", "--confirm", "15", "--json", check=False)
    assert refusal(done, 69)["code"] == "engine-exited" and bare.status()["state"] == "blocked"
    assert bare.wait_for("disconnected", 60)["reason"]["code"] == "not-confirmed"
    assert lab.page(f"https://{plan.WEB4}/ip")["address"] == plan.CLIENT4


# MARK: the machine

def start_denied(product, what):
    """Starts the worker where something is missing."""
    command, behind = product.worker_command, len(netns.inside(product.lab.name, "client", []))
    product.worker_command = lambda *more, engine=None: wrap(command(*more, engine=engine), behind, what)
    try:
        product.start()
    finally:
        product.worker_command = command


def wrap(command, behind, what):
    """Puts deny.py in front of the program a command line runs inside the lab."""
    return [*command[:behind], *DENY, what, *command[behind:]]


def test_no_tun_device(bare):
    start_denied(bare, "tun")
    told = refusal(connect(bare), 69)
    assert "/dev/net/tun" in told["message"]


def test_user_namespaces_forbidden(bare):
    start_denied(bare, "userns")
    for language in ("en", "zh"):
        told = refusal(connect(bare, environment={"TROCKET_LANG": language}), 69)
        assert "user.max_user_namespaces is 0" in told["message"] and "user.max_user_namespaces=" in told["remedy"]


def test_no_nftables_falls_back_to_tun_and_says_so(bare, lab):
    start_denied(bare, "nftables")
    done = connect(bare)
    assert done.returncode == 0, done.stdout + done.stderr
    assert lab.page("https://ip.example.com/ip", "-4")["address"] == lines.exit4(FIRST)
    assert bare.status()["dataPath"] == "tun" and "bound-sockets" in bare.status()["notCovered"]
    assert "nftables" in bare.controller("status").stdout
    bare.controller("disconnect")


def test_no_nftables_refuses_the_kill_switch(bare):
    start_denied(bare, "nftables")
    done = bare.controller("connect", FIRST, "--kill-switch", "--json", check=False)
    assert "nft" in refusal(done, 69)["message"].lower()


def test_no_nftables_refuses_the_kill_switch_of_a_tunnel_that_is_there(bare, lab):
    start_denied(bare, "nftables")
    without, withit = raw(bare, lab, {"call": "connect", "killSwitch": False}, {"call": "connect", "killSwitch": True})
    assert withit["error"]["code"] == "nft-missing", "while it connects"
    assert without["ok"]["state"] == "connected"
    engine = bare.status()["engine"]["pid"]
    done = bare.controller("connect", "--kill-switch", "--json", check=False)
    assert refusal(done, 69)["code"] == "nft-missing"
    status = bare.status()
    assert (status["state"], status["killSwitch"], status["engine"]["pid"]) == ("connected", False, engine)
    bare.connect()
    assert bare.status()["killSwitch"] is False, "nor is it remembered"
    bare.controller("disconnect")


def test_worker_not_running(bare):
    refusal(connect(bare), 69)


def test_name_taken_by_another(bare, lab):
    bare.start()
    lab.ip_text("client", "link", "add", "trocket0", "type", "bridge")
    try:
        done = connect(bare)
        assert "trocket0" in refusal(done, done.returncode)["message"] and done.returncode in (1, 69)
        assert any(link["ifname"] == "trocket0" for link in lab.ip("client", "link", "show"))
    finally:
        lab.ip_text("client", "link", "delete", "trocket0")


def test_second_worker_in_the_same_network(bare, lab):
    bare.start()
    second = Product(lab)
    second.start(wait=False)
    second.worker.wait(timeout=60)
    assert second.worker.returncode not in (0, -11)
    assert bare.answers()


# MARK: the user

def test_caller_not_in_the_group(bare):
    bare.start()
    done = connect(bare, in_group=False)
    told = refusal(done, 77)
    assert "trocket" in told["message"] + told["remedy"]


@pytest.mark.parametrize("verb", [("connect", FIRST), ("lines",), ("test",)])
def test_nothing_imported_yet(lab, verb):
    product = Product(lab)
    shutil.rmtree(product.state_directory, ignore_errors=True)
    product.start()
    try:
        refusal(product.controller(*verb, "--json", check=False), 78)
    finally:
        product.stop()


def test_state_directory_not_writable(bare, lab):
    folder = lab.path("locked")
    os.makedirs(folder, mode=0o755, exist_ok=True)
    done = lab.user(lab.path("bin", "trocket-controller"), "import", lab.subscription, "--json", "--state-dir", folder, check=False)
    assert folder in refusal(done, 77)["message"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00", b"[]", b'{"version": 99}'])
def test_corrupt_state_is_named_and_kept(bare, content):
    path = os.path.join(bare.state_directory, "subscription.json")
    owner = os.stat(path)
    with open(path, "wb") as file:
        file.write(content)
    os.chown(path, owner.st_uid, owner.st_gid)
    told = refusal(bare.controller("lines", "--json", check=False), 78)
    assert "subscription.json" in told["message"]
    with open(path, "rb") as file:
        assert file.read() == content


def test_state_file_that_is_a_link_is_not_followed(bare, lab):
    path = os.path.join(bare.state_directory, "subscription.json")
    os.rename(path, path + ".real")
    os.symlink(path + ".real", path)
    refusal(bare.controller("lines", "--json", check=False), 78)


def test_line_unknown_and_ambiguous(bare):
    bare.start()
    for line, word in (("no such line", "no such line"), ("韩国 X", "韩国 X")):
        done = bare.controller("select", line, "--json", check=False)
        assert word in refusal(done, 65)["message"]
    told = refusal(bare.controller("select", "国", "--json", check=False), 65)
    assert "🇺🇸 美国 洛杉矶 4K" in json.dumps(told, ensure_ascii=False)


def test_line_that_does_not_answer_is_said_so(bare, lab):
    bare.start()
    done = bare.controller("connect", lines.REFUSED_LINE, "--wait", "10", "--json", check=False)
    assert done.returncode in (0, 1)
    status = bare.status()
    assert status["state"] == "connected" and status["reason"]
    assert lab.page("https://ip.example.com/ip", "-4", check=False) is None
    bare.controller("disconnect")


@pytest.mark.parametrize("arguments", [("frobnicate",), ("connect", "--mode", "direct"), ("lines", "--sort"), ("test", "--timeout", "x")])
def test_usage(bare, arguments):
    done = bare.controller(*arguments, check=False)
    assert done.returncode == 64 and done.stdout == "" and done.stderr.strip()


def test_verbs_that_need_a_connection(bare):
    bare.start()
    refusal(bare.controller("connections", "--json", check=False), 2)
    assert bare.controller("disconnect", check=False).returncode == 0

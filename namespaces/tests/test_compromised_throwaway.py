"""A hostile program in place of the engine that the controller runs itself, for `import` and `test`: it is the user's own
process, and still reaches nothing of the user's.
"""

import errno
import os
import shutil
import signal
import subprocess

import pytest

from lablib import netns, plan
from lablib.lab import REPOSITORY, wait_until

SOURCE = os.path.join(REPOSITORY, "namespaces", "leaklib", "evil.c")
PORT = 7999
pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
# Not ENOENT: what is not there was not refused.
REFUSALS = {errno.EPERM, errno.EACCES, errno.EXDEV}
OTHER_REFUSALS = {"clone3": errno.ENOSYS}
# It may write at its best in a directory that has gone; numbers of descriptors are no secret, and none can be opened; limits of
# a user's own processes are the user's.
NO_MATTER = {"control-own-file", "list-worker-descriptors", "file-of-a-gigabyte", "more-descriptors"}
LISTENING = """
import socket, sys
heard = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
heard.setsockopt(socket.SOL_SOCKET, 33, 1 << 22)
heard.bind(("127.0.0.1", int(sys.argv[1])))
print("ready", flush=True)
while True: print(heard.recv(4096).decode(), end="", flush=True)
"""


@pytest.fixture(scope="module")
def evil(lab, product):
    """Runs of the controller with a hostile engine: `evil(NAME)` gives the environment, `evil.said()` what it has tried."""
    home = lab.path("home", str(plan.USER))
    secret = os.path.join(home, "secret")
    with open(secret, "w", encoding="ascii") as file:
        file.write("secret\n")
    os.chown(secret, plan.USER, plan.USER)
    programs = {name: lab.path("bin", name) for name in ("evil-ends", "evil-stay")}
    for path in programs.values():
        subprocess.run(["cc", "-static", "-O1", f'-DUSER="{product.state_directory}"', f'-DRUN="{lab.path("run")}"',
                        f'-DHOME="{home}"', f"-DTHROWAWAY={PORT}", "-o", path, SOURCE], check=True)
        os.chmod(path, 0o755)
    log = open(lab.path("log", "evil.log"), "w+", encoding="utf-8")
    listener = lab.popen("client", "/usr/bin/python3", "-I", "-c", LISTENING, PORT, stdout=log)

    def told():
        log.seek(0)
        return log.read()

    wait_until(lambda: told().startswith("ready\n"), 10, "somebody listens")
    yield {name: {"TROCKET_ENGINE": path} for name, path in programs.items()}, told
    listener.kill()
    listener.wait()
    log.close()
    for path in (secret, *programs.values()):
        os.unlink(path)


@pytest.fixture(scope="module")
def tries(evil, product, lab):
    """What it tried in each of its runs, and the error each try met."""
    programs, told = evil
    done = product.controller("import", lab.subscription, "--json", check=False, environment=programs["evil-ends"], timeout=200)
    assert done.returncode not in (0, -signal.SIGKILL, -signal.SIGSTOP), "it is no engine"
    # What comes after everything it has said: then all of it is written.
    lab.exec("client", "/usr/bin/python3", "-I", "-c", (
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
        f"s.sendto(b'barrier\\n', ('127.0.0.1', {PORT}))"))
    wait_until(lambda: "barrier\n" in told(), 10, "all it has said is written")
    found = {}
    for run, name, number in (line.split(" ") for line in told().splitlines() if line.count(" ") == 2):
        found.setdefault(run, {})[name] = int(number)
    return found


def test_it_was_run_for_everything(tries):
    assert {"version", "run", "check"} <= tries.keys()
    for run, found in tries.items():
        assert len(found) >= 63, run
        assert found["done"] == 0 and found["control-passwd"] == 0, "it came to its end, and could read what it may"


def test_every_try_was_refused(tries):
    for run, found in tries.items():
        assert found["inherited-descriptors"] == 0, run
        allowed = {name: os.strerror(number) for name, number in found.items()
                   if name not in NO_MATTER | {"inherited-descriptors", "worker-is", "control-passwd", "done"}
                   and number not in REFUSALS and number != OTHER_REFUSALS.get(name)}
        assert allowed == {}, run


def test_nothing_was_planted(tries, product, lab):
    home = lab.path("home", str(plan.USER))
    for path in ("/tmp/trocket-planted", "/dev/shm/trocket-planted", lab.path("run", "planted"), lab.path("state", "planted"),
                 lab.path("bin", "planted"), os.path.join(home, "planted"), os.path.join(home, "mine"),
                 os.path.join(product.state_directory, "planted")):
        assert not os.path.exists(path), path
    assert product.worker.poll() is None and product.status()["state"] == "disconnected"


def alive(lab):
    """Processes of the hostile program."""
    found = []
    for pid in netns.processes(lab.name):
        try:
            if "/evil-" in os.readlink(f"/proc/{pid}/exe"):
                found.append(pid)
        except OSError:
            pass
    return found


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_it_does_not_outlive_the_controller(evil, product, lab, end):
    programs, told = evil
    before = told().count("run done")
    command = lab.user_popen(*product.controller_command("test"), environment=programs["evil-stay"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: told().count("run done") > before, 20, "it has tried everything")
        wait_until(lambda: alive(lab), 5, "it is there, otherwise nothing is proven")
    finally:
        command.send_signal(end)
        command.wait(timeout=60)
    wait_until(lambda: alive(lab) == [], 10, "nothing is left of it")

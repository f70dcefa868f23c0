"""A hostile program in the engine's place: what it must not be able to do, tried from inside its confinement."""

import errno
import os
import pwd
import shutil
import subprocess

import pytest

from lablib import lines, netns, plan, snapshot
from lablib.lab import REPOSITORY, wait_until
from lablib.product import Product, children, process_status

FIRST = lines.LINES[0][1]
SOURCE = os.path.join(REPOSITORY, "namespaces", "leaklib", "evil.c")
pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
# Not ENOENT: what is not there was not refused.
REFUSALS = {errno.EPERM, errno.EACCES, errno.EXDEV, errno.EROFS}
OTHER_REFUSALS = {"file-of-a-gigabyte": errno.EFBIG}


@pytest.fixture(scope="module")
def evil(lab):
    """The product whose worker was told by root to use a hostile engine; `order(TEXT)` says what it is to do."""
    before = snapshot.take(lab)
    path = lab.path("bin", "evil")
    subprocess.run(["cc", "-static", "-O1", f'-DUSER="{lab.path("state", "users", str(plan.USER))}"',
                    f'-DRUN="{lab.path("run")}"', "-o", path, SOURCE], check=True)
    os.chown(path, 0, 0)
    made = Product(lab)
    made.start(engine=path)
    made.controller("import", lab.subscription)
    made.before = before
    yield made
    made.stop()
    shutil.rmtree(made.state_directory, ignore_errors=True)
    os.unlink(path)
    assert snapshot.differences(before, snapshot.take(lab)) == []


def order(product, text):
    """Connects with an engine that follows an order; returns what the controller said and what the engine wrote."""
    given = os.path.join(product.state_directory, "rule-sets", "order")
    log = product.lab.path("state", "engine", "engine.log")
    if os.path.exists(log):
        os.truncate(log, 0)
    with open(given, "w", encoding="ascii") as file:
        file.write(text + "\n")
    done = product.controller("connect", FIRST, "--no-kill-switch", "--wait", "25", "--json", check=False)
    assert done.returncode != 0
    said = product.controller("logs", "--source", "engine", check=False).stdout
    os.unlink(given)
    return done.stdout, said


@pytest.fixture(scope="module")
def tries(evil):
    """What the hostile engine tried, and the error each try met."""
    pid = evil.worker.pid
    _, said = order(evil, "probe")
    found = dict(line.split(" ") for line in said.splitlines() if len(line.split(" ")) == 2)
    assert int(found.pop("worker-is")) == pid, "it knew whom to attack"
    assert found.pop("control-own-file") == "0", "it can write where it may, so the other tries were real"
    return {name: int(number) for name, number in found.items()}


def test_everything_was_tried(tries):
    assert len(tries) >= 64


def test_every_try_was_refused(tries):
    inherited = tries.pop("inherited-descriptors")
    allowed = {name: os.strerror(number) for name, number in tries.items()
               if number not in REFUSALS and number != OTHER_REFUSALS.get(name)}
    assert allowed == {}
    assert inherited == 0


def test_worker_lives_and_its_files_are_whole(tries, evil, lab):
    assert evil.worker.poll() is None and evil.status()["state"] == "disconnected"
    for path in ("/tmp/trocket-planted", "/dev/shm/trocket-planted", lab.path("run", "planted"), lab.path("state", "planted")):
        assert not os.path.exists(path)
    assert snapshot.differences(evil.before, snapshot.take(lab)) == []


@pytest.mark.parametrize("whom", ["kernel", "self", "worker", "host", "user"])
def test_a_lying_pid_file_steers_nothing(evil, lab, whom):
    told, said = order(evil, f"pid {whom}")
    assert "named" in said
    assert "untrusted-sandbox" in told, told
    assert evil.status()["state"] == "disconnected"
    assert snapshot.own_objects(lab) == [] and snapshot.differences(evil.before, snapshot.take(lab)) == []


def test_it_leaves_nothing_in_its_directory(evil, lab):
    # /run is the whole machine's: it can fill two files of a limited size, and make no other.
    _, said = order(evil, "trap")
    assert "laid 0" in said
    # Not waited for by whoever disconnects, for there may be any number of them. What an honest engine remembers stays.
    wait_until(lambda: set(os.listdir(lab.path("run", "engine"))) <= {"cache.db"}, 15, "they are removed")


def left_of_it(evil, lab):
    """Processes of the engine's user in this lab, but for the engine host."""
    host = children(evil.worker.pid) if evil.worker.poll() is None else []
    engine = str(pwd.getpwnam("trocket-engine").pw_uid)
    found = []
    for pid in netns.processes(lab.name):
        try:
            status = process_status(pid)
        except (FileNotFoundError, ProcessLookupError):
            continue
        if pid not in host and status["Uid"].split()[0] == engine and not status["State"].startswith("Z"):
            found.append(pid)
    return found


def test_no_process_outlives_it(evil, lab):
    order(evil, "bomb")
    assert left_of_it(evil, lab) == []


def test_what_outlives_a_killed_worker_is_ended_by_the_next(evil, lab):
    given = os.path.join(evil.state_directory, "rule-sets", "order")
    with open(given, "w", encoding="ascii") as file:
        file.write("stay\n")
    log = lab.path("state", "engine", "engine.log")
    if os.path.exists(log):
        os.truncate(log, 0)
    command = subprocess.Popen(lab.user_command(*evil.controller_command("connect", FIRST)), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)

    def stays():
        if not os.path.exists(log):
            return False
        with open(log, encoding="utf-8") as file:
            return file.read().count("stays") >= 2

    wait_until(stays, 30, "it has made itself at home")
    evil.kill()
    command.wait(timeout=60)
    os.unlink(given)
    assert len(left_of_it(evil, lab)) >= 2, "otherwise nothing is proven"
    evil.start(engine=lab.path("bin", "evil"))
    wait_until(lambda: left_of_it(evil, lab) == [], 5, "nothing is left of it")


def test_a_users_link_opens_nobody_elses_directory(evil, lab):
    group = pwd.getpwnam("trocket-engine").pw_gid
    own, other = os.path.join(evil.state_directory, "rule-sets"), lab.path("state", "users", "61002")
    os.mkdir(other, 0o750)
    os.chown(other, 61002, group)
    # The hostile engine finds its order, and says more than nothing, only where it can read there.
    with open(os.path.join(other, "order"), "w", encoding="ascii") as file:
        file.write("probe\n")
    os.rename(own, own + ".real")
    os.symlink("../61002", own)
    try:
        done = evil.controller("connect", FIRST, "--no-kill-switch", "--wait", "25", "--json", check=False)
        assert "status 6" in done.stdout, done.stdout
    finally:
        os.unlink(own)
        os.rename(own + ".real", own)
        shutil.rmtree(other)


def test_an_honest_engine_runs_after_it(evil, lab):
    # As it would be found after a crash of everything at once: nobody has cleared anything away.
    order(evil, "trap")
    evil.stop()
    for name in ("holder.pid", "cache.db"):
        path = lab.path("run", "engine", name)
        if os.path.exists(path):
            os.unlink(path)
        os.mkdir(path)
        os.close(os.open(os.path.join(os.fsencode(path), b"\xff"), os.O_CREAT))
        shutil.chown(path, "trocket-engine")
    evil.start()
    try:
        evil.connect(FIRST)
        assert evil.status()["state"] == "connected"
    finally:
        evil.controller("disconnect")

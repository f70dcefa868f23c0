"""A hostile program in the engine's place: what it must not be able to do, tried from inside its confinement."""

import errno
import os
import shutil
import subprocess

import pytest

from lablib import lines, plan, snapshot
from lablib.lab import REPOSITORY
from lablib.product import Product

FIRST = lines.LINES[0][1]
SOURCE = os.path.join(REPOSITORY, "namespaces", "leaklib", "evil.c")
pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
REFUSALS = {errno.EPERM, errno.EACCES, errno.ENOENT, errno.ESRCH, errno.EXDEV, errno.EROFS, errno.ENOSYS}


@pytest.fixture(scope="module")
def evil(lab):
    """The product whose worker was told by root to use a hostile engine; `order(TEXT)` says what it is to do."""
    before = snapshot.take(lab)
    path = lab.path("bin", "evil")
    subprocess.run(["cc", "-static", "-O1", f"-DUSER={plan.USER}", f'-DRUN="{lab.path("run")}"', "-o", path, SOURCE], check=True)
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
    folder = product.lab.path("run", "engine")
    log = product.lab.path("state", "engine", "engine.log")
    if os.path.exists(log):
        os.truncate(log, 0)
    with open(os.path.join(folder, "order"), "w", encoding="ascii") as file:
        file.write(text + "\n")
    done = product.controller("connect", FIRST, "--wait", "25", "--json", check=False)
    assert done.returncode != 0
    said = product.controller("logs", "--source", "engine", check=False).stdout
    os.unlink(os.path.join(folder, "order"))
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
    assert len(tries) >= 35


def test_every_try_was_refused(tries):
    inherited = tries.pop("inherited-descriptors")
    allowed = {name: os.strerror(number) for name, number in tries.items() if number not in REFUSALS}
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

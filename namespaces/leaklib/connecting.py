"""Without a tunnel, and on the way to one."""

import os
import signal
import subprocess
import time

from lablib.lab import wait_until
from lablib.product import children

from .bench import DIRECT, FIRST, HERE, OTHERS, SILENT, VISIBLE, Part, on
from .uplinks import move_back, move_uplink

# Nothing passes a tunnel that has no engine, domestic traffic neither; connections of one that has ended may say goodbye.
NO_ENGINE = {"domestic": OTHERS}
AS_BEFORE = "as before, until the guard is in force, which it is as soon as the engine has a sandbox: a host that only tries to " \
            "connect is not cut off (by design; kill switch off)"
AS_BEFORE_ON = "as before, until the word has come"
OPENED = "open again (by design)"


def without_tunnel(bench):
    """The proof that silence means something: with no tunnel every probe is seen, by either uplink."""
    note = "every probe is seen, so silence means something"
    bench.window("-", "no tunnel", None, VISIBLE, least=1.2, note=note)

    def act():
        move_uplink(bench)
        return [time.time()]

    bench.phases("-", act, [Part("way out moves", DIRECT, note="nobody holds anything back"),
                            Part("no tunnel, way out by another uplink", VISIBLE, note=note)], least=0.6)
    move_back(bench)


def about_to(bench, what):
    """Opens all that are kept open anew, and shows that everything leaves: the next row finds it so."""
    bench.fresh()
    bench.window("-", f"about to {what}", None, VISIBLE, least=0.5, note="every probe is seen, and every connection kept open")


def begin_to_connect(bench, kill_switch):
    """Starts connecting; returns the process of the controller."""
    return bench.lab.user_popen(*bench.product.controller_command(
        "connect", FIRST, "--mode", "rule", "--kill-switch" if kill_switch else "--no-kill-switch", "--wait", "40"),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def failed_connect(bench, kill_switch):
    """Connecting with an engine that gets as far as its sandbox and ends. Where the host stays closed, `disconnect` opens it."""
    stuck, enough = bench.lab.path("bin", "stuck"), bench.lab.path("bin", "enough")
    subprocess.run(["cc", "-static", f'-DPID_FILE="{bench.lab.path("run", "engine", "holder.pid")}"', f'-DENOUGH="{enough}"',
                    "-o", stuck, os.path.join(HERE, "stuck.c")], check=True)
    if os.path.exists(enough):
        os.unlink(enough)
    bench.product.stop()
    bench.product.start(engine=stuck)
    about_to(bench, "connect in vain")

    def act():
        asked = time.time()
        command = begin_to_connect(bench, kill_switch)
        up = bench.guard("up", asked)
        bench.everybody()
        with open(enough, "w", encoding="ascii"):
            pass
        told = command.communicate(timeout=60)[0]
        assert command.returncode != 0, told
        if bench.product.status()["state"] == "blocked":
            bench.everybody()
            bench.product.controller("disconnect")
        return [up, bench.guard("down", up)]

    bench.phases(on(kill_switch), act, [
        Part("connect that fails, before the guard", DIRECT, note=AS_BEFORE_ON if kill_switch else AS_BEFORE),
        Part("connect that fails, guard in force", SILENT, NO_ENGINE),
        Part("open again", DIRECT, note=OPENED)], least=0.1)
    bench.product.stop()
    bench.product.start()


def connecting(bench, kill_switch):
    """Connect; with the kill switch the engine is held still for a while at its birth."""
    about_to(bench, "connect")

    def act():
        asked = time.time()
        host = bench.engine_host()
        command = begin_to_connect(bench, kill_switch)
        if kill_switch:
            engine = os.pidfd_open(wait_until(lambda: children(host), 15, "an engine starts", interval=0.001)[0])
            signal.pidfd_send_signal(engine, signal.SIGSTOP)
            bench.guard("up", asked)
            bench.everybody()
            signal.pidfd_send_signal(engine, signal.SIGCONT)
            os.close(engine)
        goes_on = time.time()
        told = command.communicate(timeout=60)[0]
        assert command.returncode == 0, told
        return [bench.guard("up", asked), goes_on] if kill_switch else [bench.guard("up", asked)]

    before = Part("connecting, before the guard", DIRECT, note=AS_BEFORE_ON if kill_switch else AS_BEFORE)
    if kill_switch:
        after = [Part("connecting, guard in force", SILENT, NO_ENGINE), Part("connecting, engine goes on")]
    else:
        after = [Part("connecting, guard in force")]
    bench.phases(on(kill_switch), act, [before, *after])


def restart(bench):
    """Ends a worker in whatever state and starts another; the host is open and clean afterwards."""
    bench.product.controller("disconnect", check=False)
    bench.product.stop()
    bench.product.start()
    bench.product.controller("disconnect", check=False)

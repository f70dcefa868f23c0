"""The tunnel blocked, its worker upgraded, stopped or killed, and disconnecting."""

import os
import signal
import time

from lablib.keeper import copy
from lablib.lab import wait_until
from lablib.product import PROGRAMS, build_directory, children, runs

from .bench import DIRECT, HERE, SILENT, VISIBLE, Part, on
from .connecting import NO_ENGINE, OPENED, connecting, restart


def ask(bench, call, how="ask"):
    """Asks the worker itself, as the user."""
    return bench.lab.user("/usr/bin/python3", "-I", os.path.join(HERE, "peers.py"), bench.product.socket, how, call)


def blocked(bench):
    """The moment at which the worker is known to be blocked."""
    wait_until(lambda: bench.product.status().get("state") == "blocked", 20, "blocked", interval=0.05)
    return time.time()


def engine_fails(bench, kill_switch):
    """The engine does not start any more, until it is given up; then it does, and the tunnel is wanted again."""
    def act():
        aside = bench.lab.engine + ".aside"
        os.rename(bench.lab.engine, aside)
        try:
            os.kill(bench.engine(), signal.SIGKILL)
            # A connect does not wait for the back-off, but counts no failure less.
            for _ in range(20):
                if bench.product.status().get("state") == "blocked":
                    break
                ask(bench, "connect", "say")
            since = blocked(bench)
            bench.everybody()
        finally:
            os.rename(aside, bench.lab.engine)
        again = time.time()
        bench.connect(kill_switch)
        return [since, again]

    bench.phases(on(kill_switch), act, [
        Part("engine fails again and again"), Part("blocked by failures", SILENT, NO_ENGINE), Part("connecting out of the block")])


def engine_host_killed(bench, kill_switch):
    """Blocked: there is no engine host any more, and none can be had without root. Then the worker is started anew."""
    def act():
        os.kill(bench.engine_host(), signal.SIGKILL)
        return [blocked(bench)]

    bench.phases(on(kill_switch), act, [Part("engine host killed"), Part("blocked without an engine host", SILENT, NO_ENGINE)])
    restart(bench)
    connecting(bench, kill_switch)


def upgraded(bench, kill_switch):
    """What the package does on an upgrade (postinst): with the switch on the worker is restarted behind the guard and the tunnel's
    user connects again; with it off the running worker keeps the tunnel."""
    def replace():
        for program in PROGRAMS:
            copy(os.path.realpath(os.path.join(build_directory(), program)), bench.lab.path("bin", program))

    def restarted():
        replace()
        bench.product.stop()
        stopped = time.time()
        bench.everybody()
        started = time.time()
        bench.product.start()
        bench.product.controller("connect", "--quiet")
        bench.wait_connected()
        return [stopped, started]

    if kill_switch:
        bench.phases("on", restarted, [Part("upgrade, worker ends"), Part("upgrade, no worker", SILENT, NO_ENGINE),
                                       Part("upgrade, new worker")])
        return
    engine = bench.engine()
    bench.window("off", "upgrade", replace, note="the running worker keeps the tunnel")
    assert bench.engine() == engine


def worker_restarted(bench, kill_switch):
    """The worker is stopped by hand, started again, and connected again. With the switch on that is what an upgrade does."""
    if kill_switch:
        return
    def act():
        asked = time.time()
        bench.product.stop()
        return [bench.guard("down", asked)]

    bench.phases("off", act, [Part("worker is stopped, up to the end of the guard"),
                              Part("worker stopped", DIRECT, note="it took the tunnel down (by design; kill switch off)")])
    bench.product.start()
    connecting(bench, kill_switch)


def worker_killed(bench, kill_switch):
    def act():
        engine = [bench.engine()]
        for member in engine:
            engine += children(member)
        bench.product.kill()
        wait_until(lambda: not any(runs(member) for member in engine), 5, "the engine ends with the worker",
                   interval=0.005)
        return [time.time()]

    if kill_switch:
        bench.phases("on", act, [Part("worker is killed"), Part("worker killed", SILENT, NO_ENGINE)])

        def back():
            bench.product.start()
            bench.connect(True)

        bench.window("on", "worker back after its death, connecting", back)
    else:
        everything = "everything goes directly from the kill on (by design; kill switch off): the guard goes with its maker"
        bench.phases("off", act, [Part("worker is killed", DIRECT, note=everything), Part("worker killed", DIRECT, note=everything)])
        bench.product.start()
        connecting(bench, kill_switch)


def disconnecting(bench, kill_switch):
    """Disconnect under load: silent until the guard is gone, open after it."""
    def act():
        asked = time.time()
        bench.product.controller("disconnect")
        return [bench.guard("down", asked)]

    bench.phases(on(kill_switch), act, [Part("disconnecting, up to the end of the guard"),
                                        Part("disconnecting, after it", DIRECT, note=OPENED)], least=0.1)
    bench.window("-", "disconnected", None, VISIBLE, least=1.2, note="every probe is seen again: nobody had stopped")

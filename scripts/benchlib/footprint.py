"""`bench footprint`: memory and wake-ups idle and under load, sizes, start-up time, and how long `status` takes.

With --full also two other controllers, which are fetched for it."""

import os
import time

from lablib import plan
from lablib.product import PROGRAMS
from lablib.terminal import Terminal

from . import controllers
from .connect import FIRST, start
from .contenders import API_PORT, MihomoRoot, SingBoxRoot, Trocket
from .measuring import iperf, family, processor_seconds, proportional, resident, run_times, seconds_of, wakeups
from .report import REPOSITORY, Report
from .stage import raised

# Seconds; lines that keep a connection say so every ten.
IDLE = 20
WHOLE = "memory of all but the engine, shared pages once (PSS)"
WHOLE_RESIDENT = "memory of all but the engine, shared pages in each (RSS)"


def run(options):
    """Rounds of the product and its rivals, idle and under load."""
    report = Report("footprint", "What it takes")
    report.is_whole = options.full
    idle = 3 if options.quick else IDLE
    with raised("bench") as (lab, product):
        sizes(report, lab)
        for _ in range(min(options.rounds, 3)):
            product.stop()
            report.add("start-up", "worker", seconds_of(product.start)[0] * 1000, "ms")
            ours(report, lab, product, idle, options)
            for rival in (SingBoxRoot(lab, domestic=True), MihomoRoot(lab, domestic=True)):
                theirs(report, lab, rival, idle, options)
            alike(report, SingBoxRoot(lab, domestic=True, all_lines=True), idle)
        if options.full:
            controllers.compare(report, lab, options.rounds)
    report.target("memory, disconnected", "worker", "limit 10 MiB", at_most=1.0)
    report.target("memory, connected and idle", "worker", "limit 10 MiB", at_most=1.0)
    report.target("memory, four streams down", "worker", "limit 10 MiB", at_most=1.0)
    report.target(WHOLE, "Trocket", "limit 25 MiB", at_most=1.0)
    for rival in ("sing-box root", "mihomo root"):
        report.target("start-up", "worker", rival, at_most=1.0)
    report.target("wake-ups idle", "worker", "limit 0.1/s", at_most=1.0)
    report.target("wake-ups idle", "engine host", "limit 0.1/s", at_most=1.0)
    report.target("verb status", "controller", "limit 30 ms", at_most=1.0)
    report.notes += [
        "Memory is a process's resident memory, shared pages included; of several processes it is the proportional sum (PSS), as they",
        "share pages. \"All but the engine\" is worker, engine host and controller with its screen open: the limit of 25 MiB is held",
        "against the proportional sum. In the sum of the resident memories libraries and the program's own code are counted up to three times.",
        "Wake-ups: how often the threads of a program went to sleep. The product's engine has ten lines and `auto`, which asks each of them at",
        "its start; QUIC lines (here two) then keep their connection, which wakes the engine every ten seconds for some fifty changes of its",
        "threads each. sing-box root and mihomo root have one shadowsocks line; \"all lines\" is sing-box with the seven that answer and a `urltest`.",
    ]
    return report


def sizes(report, lab):
    """Sizes of what is installed, in MiB."""
    for program in PROGRAMS:
        report.add("size of the program", program.removeprefix("trocket-").replace("tunnel", "worker"),
                   os.path.getsize(lab.path("bin", program)) / 2**20, "MiB")
    report.add("size of the program", "sing-box root", os.path.getsize(lab.engine) / 2**20, "MiB")
    report.add("size of the program", "mihomo root",
               os.path.getsize(os.path.join(REPOSITORY, ".engine", "mihomo")) / 2**20, "MiB")


def ours(report, lab, product, idle, options):
    """The product, connected, its screen open."""
    product.controller("status")  # a worker that answers has its start behind it
    report.add("memory, disconnected", "worker", resident(product.worker.pid), "MiB")
    report.add("memory, disconnected", "limit 10 MiB", 10, "MiB")
    product.controller("connect", FIRST, "--mode", "rule")
    engine = product.status()["engine"]["pid"]
    host = next(pid for pid in family(product.worker.pid)[1:] if engine in family(pid))
    processes = {"worker": [product.worker.pid], "engine host": [host], "engine": family(engine)}
    for took in run_times(lab, product.controller_command("status", "--json"), 5 if options.quick else 20):
        report.add("verb status", "controller", took, "ms")
        report.add("verb status", "limit 30 ms", 30, "ms")
    # The screen is not the product at rest: first what sleeps when nobody looks.
    at_rest(report, processes, idle, "wake-ups idle", "processor time idle")
    report.add("wake-ups idle", "limit 0.1/s", 0.1, "1/s")
    for when in ("connected and idle", "four streams down"):
        report.add(f"memory, {when}", "limit 10 MiB", 10, "MiB")
    memory(report, "connected and idle", processes)
    screen = Terminal(lab, product.controller_command())
    try:
        time.sleep(2)
        controller = screen.pid()
        at_rest(report, {"controller": [controller], **processes}, idle, "wake-ups, screen open", "processor time, screen open")
        memory(report, "connected and idle", {"controller": [controller]})
        whole = sum(proportional(pid) for pid in (product.worker.pid, host, controller))
        report.add(WHOLE, "Trocket", whole, "MiB")
        report.add(WHOLE, "limit 25 MiB", 25, "MiB")
        report.add(WHOLE_RESIDENT, "Trocket", sum(resident(pid) for pid in (product.worker.pid, host, controller)), "MiB")
        loaded(report, Trocket(lab, product), {"controller": [controller], **processes}, options)
    finally:
        screen.close()
        product.controller("disconnect")


def theirs(report, lab, rival, idle, options):
    """A rival: start-up, then at rest, then loaded."""
    command = rival.command() if isinstance(rival, MihomoRoot) else (lab.engine, "run", "-c", "CONFIG")
    report.add("start-up", rival.name, start(lab, command, rival.config(), API_PORT), "ms")
    rival.start()
    try:
        processes = {rival.name: rival.processes()}
        at_rest(report, processes, idle, "wake-ups idle", "processor time idle")
        memory(report, "connected and idle", processes)
        loaded(report, rival, processes, options)
    finally:
        rival.stop()


def alike(report, rival, idle):
    """The rival with the lines and the automatic choice that the product's engine has."""
    rival.start()
    try:
        at_rest(report, {"sing-box root, all lines": rival.processes()}, idle, "wake-ups idle", "processor time idle")
    finally:
        rival.stop()


def memory(report, when, processes):
    """Resident memory, and where a program has several processes that share pages, their proportional sum."""
    for name, pids in processes.items():
        report.add(f"memory, {when}", name, sum(map(proportional if len(pids) > 1 else resident, pids)), "MiB")


def at_rest(report, processes, seconds, metric, processor_metric):
    """Wake-ups a second and processor time of what does nothing."""
    time.sleep(1)
    before = {name: (wakeups(pids), processor_seconds(pids)) for name, pids in processes.items()}
    time.sleep(seconds)
    for name, pids in processes.items():
        report.add(metric, name, (wakeups(pids) - before[name][0]) / seconds, "1/s")
        report.add(processor_metric, name, (processor_seconds(pids) - before[name][1]) / seconds * 1000, "ms/s")


def loaded(report, contender, processes, options):
    """Wake-ups and memory while four streams come down."""
    before = {name: (wakeups(pids), processor_seconds(pids)) for name, pids in processes.items()}
    took, end = seconds_of(lambda: iperf(contender, options.seconds, "-R", "-P", "4", to=plan.WEB4))
    for name, pids in processes.items():
        good = end is not None
        report.add("wake-ups, four streams down", name, (wakeups(pids) - before[name][0]) / took if good else None, "1/s")
        report.add("processor time, four streams down", name,
                   (processor_seconds(pids) - before[name][1]) / took * 1000 if good else None, "ms/s")
    memory(report, "four streams down", processes)

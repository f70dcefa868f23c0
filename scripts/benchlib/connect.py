"""`bench connect`: from `connect` to a proven connection, disconnect, repairs, switching lines and modes."""

import json
import os
import signal
import socket
import subprocess

from lablib import lines, netns, plan
from lablib.lab import wait_until

from . import returning
from .contenders import API_PORT, MihomoRoot, SingBoxRoot
from .measuring import LOAD, LOAD_PORT, PYTHON, answering, run_times
from .report import Report
from .stage import raised

HERE = os.path.dirname(os.path.abspath(__file__))
VISIT = ("curl", "-sS", "--fail", "--max-time", "10", "-o", "/dev/null", "https://www.gstatic.com/generate_204")
FIRST = lines.LINES[0][1]
# Milliseconds for what somebody removed.
REPAIR_LIMIT = 250
BACK = " back"
# What the worker tells of a connect, in order, and what has been done by then.
STAGES = (("engine", "command started, host looked at"), ("link", "engine started, its sandbox there"), ("sandbox", "link, rules and guard made"),
          ("verify", "inside wired, API answers"), ("connected", "all of it read once more"), ("end", "line and mode in force, proof, end of the command"))
CONNECT, COLD, API = "connect to proven", "connect to proven, worker just started", "exec to answering API"


def run(options):
    """Rounds of connecting and disconnecting next to what has to happen anyway, then a connected session."""
    report = Report("connect", "Connecting, disconnecting, switching")
    report.is_whole = options.full
    with raised("bench") as (lab, product), answering(lab, "world", plan.WEB4):
        for _ in range(options.rounds):
            one_round(report, lab, product)
        # These leave the machine work that a connect right after them would share it with.
        for _ in range(options.rounds):
            repairs(report, lab, product)
            returning.measure(report, lab, product)
        product.controller("connect", FIRST, "--mode", "rule")
        session(report, lab, product, options)
    for metric in (CONNECT, COLD):
        report.target(metric, "Trocket", "allowed", at_most=1.0)
        report.target(metric, "Trocket", "mihomo root", at_most=1.0)
    for metric, by in report.samples.items():
        if "allowed" in by and (metric.endswith(BACK) or metric.startswith(returning.PAGE)):
            report.limit(metric, "Trocket", "allowed")
    report.target("switch", "Trocket", "allowed", at_most=1.0)
    report.target("failed or misled requests", "Trocket", "allowed", at_most=1.0)
    report.notes += [
        "Allowed to connect: 1.5 × the bare engine with this profile in a sandbox of its own, without privilege as in the product,",
        "from exec to its API's answer, and one HTTPS request through the line. mihomo and sing-box: exec to API, tunnel included, nothing proven.",
        "Back: of what somebody removed, from the kernel's word that it has gone to its word that it is back for good. The domestic prefixes",
        "go with their table and are seen to later, as without them nothing is open or cut off.",
        "Page: from before the last command that brings the network back (of those stopped: that continues them) to the first page through the",
        "line, by a visitor who gives up after a second and comes again at once; kill switch on, three such visitors side by side.",
    ]
    return report


def one_round(report, lab, product):
    """Cold and warm, and what both are held against."""
    product.stop()
    product.start()
    profile = product.controller("profile").stdout
    for metric in (COLD, CONNECT):
        report.add(metric, "Trocket", verb(product, "connect", FIRST, "--mode", "rule"), "ms")
        request = run_times(lab, VISIT)[0]
        report.add("one request through the line", "Trocket", request, "ms")
        report.add("disconnect", "Trocket", verb(product, "disconnect"), "ms")
    stages(report, lab, product)
    sandboxed = start_sandboxed(lab, profile)
    report.add(API, "engine in a sandbox", sandboxed, "ms")
    allowed = 1.5 * sandboxed + request if sandboxed and request else None
    for metric in (CONNECT, COLD):
        report.add(metric, "allowed", allowed, "ms")
    for rival in (SingBoxRoot(lab, domestic=True), MihomoRoot(lab, domestic=True)):
        command = rival.command() if isinstance(rival, MihomoRoot) else (lab.engine, "run", "-c", "CONFIG")
        took = start(lab, command, rival.config(), API_PORT)
        report.add(API, rival.name, took, "ms")
        for metric in (CONNECT, COLD):
            report.add(metric, rival.name, took, "ms")


def stages(report, lab, product):
    """Where the time of one more connect goes."""
    command = product.controller_command("connect", FIRST, "--mode", "rule")
    told = json.loads(lab.user(*PYTHON, os.path.join(HERE, "staging.py"), product.socket, *command).stdout)
    before = 0
    for stage, what in STAGES:
        took = told[stage] - before if stage in told else None
        report.add(f"of a connect: {what}", "Trocket", took, "ms")
        before = told.get(stage, before)
    product.controller("disconnect")


def repairs(report, lab, product):
    """What others remove, one thing after the other."""
    product.connect(FIRST, "--mode", "rule")
    wait_until(lambda: product.status()["domesticFastPath"], 30, "the domestic prefixes are settled")
    told = json.loads(lab.exec("client", *PYTHON, os.path.join(HERE, "repairing.py"), timeout=300).stdout)
    for what, took in told["removed"].items():
        report.add(what + BACK, "Trocket", took, "ms")
        report.add(what + BACK, "allowed", REPAIR_LIMIT, "ms")
    report.add("domestic prefixes there again", "Trocket", told["domestic"], "ms")
    product.controller("disconnect")


def verb(product, *arguments):
    """Milliseconds of one run of the controller, or None when it failed."""
    return run_times(product.lab, product.controller_command(*arguments))[0]


def start_sandboxed(lab, profile):
    """The bare engine with the product's own profile and a sandbox with a TUN, as little as a tunnel needs; without
    privilege, as the product runs it, so that it makes a user namespace of its own."""
    config = json.loads(profile)
    config["network_namespaces"] = [{"type": "unshare", "tag": "sandbox", "pid_file": lab.path("home", str(plan.USER), "bench.pid")}]
    config["inbounds"] = [{"type": "tun", "tag": "tun", "interface_name": "tun0", "address": ["198.19.78.1/30"], "mtu": 65535,
                           "auto_route": False, "stack": "mixed", "netns": "sandbox"}]
    config.setdefault("experimental", {})["clash_api"] = {"external_controller": f"127.0.0.1:{API_PORT}"}
    return start(lab, (lab.engine, "run", "-c", "CONFIG"), config, API_PORT, directory=product_directory(lab), as_user=True)


def product_directory(lab):
    """Where the profile's relative paths lead."""
    return lab.path("state", "users", str(plan.USER))


def start(lab, command, config, port, directory="/", as_user=False):
    """Milliseconds from exec to the API's first byte, or None."""
    path = lab.path("home", "bench-start.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file)
    waiting = (*PYTHON, os.path.join(HERE, "starting.py"), "127.0.0.1", port, directory,
               *[path if part == "CONFIG" else part for part in command])
    process = subprocess.Popen([str(part) for part in (lab.user_command(*waiting) if as_user else lab.command("client", *waiting))],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=netns.die_with_parent)
    told = json.loads(process.stdout.readline() or '{"seconds": null}')
    process.stdin.close()
    process.wait()
    return told["seconds"] * 1000 if told["seconds"] else None


# MARK: connected

def session(report, lab, product, options):
    """Switching under load, and the verbs `select` and `mode`."""
    count = 1000 if options.full else 50 if options.quick else 200
    api = worker_status(product)["api"]
    tags = {choice: lines.exit4(choice) for choice in (line[1] for line in lines.LINES)}
    asked = {"api": api["address"], "secret": api["secret"], "page": plan.WEB4, "lines": tags}
    load = lab.popen("client", *PYTHON, LOAD, "steady", plan.WEB4, LOAD_PORT, stdout=subprocess.PIPE)
    load.stdout.readline()
    done = lab.exec("client", *PYTHON, os.path.join(HERE, "switching.py"), count, input=json.dumps(asked), timeout=300)
    load.send_signal(signal.SIGTERM)
    steady = json.loads(load.communicate(timeout=30)[0])
    told = json.loads(done.stdout)
    for took in told["switch"]:
        report.add("switch", "Trocket", took, "ms")
        report.add("switch", "allowed", 10, "ms")
    for took in told["next"]:
        report.add("switch to the next request's answer", "Trocket", took, "ms")
    bad = told["wrong"] + told["failed"] + steady["failed"]
    report.add("failed or misled requests", "Trocket", 1 + bad, "1 + number")
    report.add("failed or misled requests", "allowed", 1, "1 + number")
    report.notes.append("The engine uses the new line at once and answers 10 ms later, when its cache file's batch is written.")
    report.notes.append(f"{count} switches: {told['failed']} requests failed and {told['wrong']} left by an old line; of "
                        f"{steady['asked']} requests that went on beside them, {steady['failed']} failed.")
    for number in range(5):
        report.add("verb select", "Trocket", verb(product, "select", lines.LINES[number % 2][1]), "ms")
        mode, wanted = (("global", None), ("rule", plan.CLIENT4))[number % 2]
        report.add("verb mode", "Trocket", verb(product, "mode", mode), "ms")
        seen = lab.page(f"http://{plan.CN4}/ip", check=False)
        if seen is None or (seen["address"] == plan.CLIENT4) != (wanted == plan.CLIENT4):
            report.notes.append(f"After mode {mode} a domestic page was visited from {seen and seen['address']}.")


def worker_status(product):
    """The worker's own status, as root may ask for it: it holds the engine's API and its secret."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(product.socket)
        stream = connection.makefile("rw", encoding="utf-8")
        stream.write('{"v":1,"id":1,"call":"status"}\n')
        stream.flush()
        return json.loads(stream.readline())["ok"]

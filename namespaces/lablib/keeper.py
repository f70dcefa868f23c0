"""Keeps a lab alive and, above all, ends it: two processes watch each other and the owner, and the survivor cleans up.

keeper: waits for the owner's death, a signal or the supervisor's end, then removes everything.
supervisor: builds the lab and holds its servers; removes everything should the keeper be killed.
"""

import json
import os
import select
import signal
import subprocess
import sys
import threading

from . import certificates, lines, netns, plan, topology

SERVERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "servers")


def start_time(pid):
    """When a process started, in clock ticks since boot; with its id it names one process for ever. None: gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def keeper_of(name):
    """The process id of a lab's living keeper, or None."""
    try:
        with open(os.path.join(plan.directory(name), "keeper.json"), encoding="ascii") as file:
            record = json.load(file)
    except (FileNotFoundError, ValueError):
        return None
    return record["pid"] if start_time(record["pid"]) == record["start"] else None


def launch(name, owner, rp_filter, engine, rule_sets):
    """Starts a lab in the background and returns when all its servers answer; raises CommandFailed if it cannot."""
    os.makedirs(plan.ROOT, mode=0o755, exist_ok=True)
    if keeper_of(name):
        raise netns.CommandFailed(f"lab {name} is up already")
    if netns.exists(name):
        netns.remove(name)
    os.makedirs(plan.directory(name), mode=0o755)
    owner_descriptor = os.pidfd_open(owner) if owner else None
    reader, writer = os.pipe()
    first = os.fork()
    if first == 0:
        try:
            os.setsid()
            if os.fork() == 0:
                os.close(reader)
                keep(name, owner_descriptor, writer, rp_filter, engine, rule_sets)
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(first, 0)
    if owner_descriptor is not None:
        os.close(owner_descriptor)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        answer = pipe.read()
    if answer != "ready":
        raise netns.CommandFailed(f"lab {name} could not be raised: {answer or 'it was killed'}")


def detach():
    """Gives up the terminal and the standard streams of whoever asked for the lab."""
    null = os.open("/dev/null", os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    for number in (signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    os.chdir("/")


def keep(name, owner, ready, rp_filter, engine, rule_sets):
    """The keeper's life."""
    detach()
    with open(os.path.join(plan.directory(name), "keeper.json"), "w", encoding="ascii") as file:
        json.dump({"pid": os.getpid(), "start": start_time(os.getpid())}, file)
    stop_reader, stop_writer = os.pipe()
    os.set_blocking(stop_writer, False)
    myself = os.pidfd_open(os.getpid())
    child = os.fork()
    if child == 0:
        try:
            os.close(stop_writer)
            supervise(name, myself, stop_reader, ready, rp_filter, engine, rule_sets)
        finally:
            os._exit(0)
    os.close(ready)
    signal.set_wakeup_fd(stop_writer)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    supervisor = os.pidfd_open(child)
    poller = select.poll()
    for descriptor in (supervisor, stop_reader, owner):
        if descriptor is not None:
            poller.register(descriptor, select.POLLIN)
    poller.poll()
    signal.pidfd_send_signal(supervisor, signal.SIGKILL)
    os.waitpid(child, 0)
    netns.remove(name)


def supervise(name, keeper, stop, ready, rp_filter, engine, rule_sets):
    """The supervisor's life: build, say so, then wait for the keeper to end."""
    os.close(stop)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    try:
        servers = build(name, rp_filter, engine, rule_sets)
    except Exception as problem:  # whatever it is, the caller must hear of it
        os.write(ready, str(problem).encode())
        return
    os.write(ready, b"ready")
    os.close(ready)
    netns.wait_for_exit(keeper, 10**6)
    for server in servers:
        server.kill()
    netns.remove(name)


# MARK: building

def build(name, rp_filter, engine, rule_sets):
    """Raises hosts and servers; returns the servers."""
    base = plan.directory(name)
    for entry in ("bin", "log", "www", "tls", "state", "run", "rule-sets", "home"):
        os.makedirs(os.path.join(base, entry), mode=0o755)
    # In memory, as /run is on an ordinary machine.
    netns.run(["mount", "-t", "tmpfs", "-o", "mode=755", "run", os.path.join(base, "run")])
    with open(netns.hide_script(name), "w", encoding="ascii") as file:
        file.write(netns.HIDE)
    home = os.path.join(base, "home", str(plan.USER))
    os.mkdir(home, 0o700)
    os.chown(home, plan.USER, plan.USER)
    certificates.create(os.path.join(base, "tls"))
    etc(name)
    topology.create(name, rp_filter)
    for source in os.listdir(rule_sets) if os.path.isdir(rule_sets) else []:
        copy(os.path.join(rule_sets, source), os.path.join(base, "rule-sets", source))
    copy(engine, os.path.join(base, "bin", "sing-box"))
    return serve(name)


def copy(source, target):
    """Copies one file as root's own, so that a path the product is given is one only root can write."""
    subprocess.run(["cp", "--reflink=auto", "--", source, target + ".new"], check=True)
    os.chmod(target + ".new", 0o755 if os.access(source, os.X_OK) else 0o644)
    os.chown(target + ".new", 0, 0)
    os.rename(target + ".new", target)


def etc(name):
    """The /etc files each host sees in place of the machine's."""
    with open("/etc/passwd", encoding="utf-8") as file:
        passwd = file.read()
    with open("/etc/group", encoding="utf-8") as file:
        groups = file.read().splitlines()
    home = os.path.join(plan.directory(name), "home", str(plan.USER))
    resolvers = {
        "client": [plan.ROUTER4], "lan": [plan.ROUTER4], "isp": ["223.5.5.5"], "home": ["223.5.5.5"],
        "abroad": ["8.8.8.8"], "world": ["8.8.8.8"],
    }
    for host in plan.HOSTS:
        files = {
            "resolv.conf": "".join(f"nameserver {r}\n" for r in resolvers[host]) + "options timeout:2 attempts:2\n",
            "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
            "hosts": f"127.0.0.1 localhost {host}\n::1 localhost\n",
        }
        if host == "client":
            members = [g + ("," if g.split(":")[3] else "") + "lab" if g.startswith("trocket:") else g for g in groups]
            files["passwd"] = passwd + f"lab:x:{plan.USER}:{plan.USER}::{home}:/bin/bash\n"
            files["group"] = "\n".join(members) + f"\nlab:x:{plan.USER}:\n"
        base = topology.etc_files(name, host, files)
        certificates.trust_store(os.path.join(plan.directory(name), "tls"), os.path.join(base, "ssl"))


def serve(name):
    """Starts every server and returns when each has said that it serves."""
    base = plan.directory(name)
    config = os.path.join(base, "abroad.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump(lines.server_config(os.path.join(base, "tls")), file)
    python = ["/usr/bin/python3", "-I", os.path.join(SERVERS, "main.py")]

    def answers(view, *more):
        return [*python, view, base, os.path.join(base, "log", f"{view}.jsonl"), *more]

    def iperf(address):
        # Bound, or its UDP answers would leave from another address of the host than the one that was asked.
        return ["iperf3", "-s", "--forceflush", "-B", address, "-p", plan.IPERF_PORT]

    wanted = [
        ("isp", "isp", answers("isp", "--dns-only"), "ready"),
        ("world", "world", answers("world"), "ready"),
        ("home", "home", answers("home"), "ready"),
        ("line", "abroad", [os.path.join(base, "bin", "sing-box"), "run", "-c", config, "-D", base], "sing-box started"),
        ("iperf-world", "world", iperf(plan.WEB4), "Server listening"),
        ("iperf-home", "home", iperf(plan.CN4), "Server listening"),
        ("ssh", "client", ["/usr/bin/python3", "-I", os.path.join(SERVERS, "echo.py"), "serve", plan.SSH_PORT], "ready"),
    ]
    servers = []
    for label, host, command, _ in wanted:
        servers.append(subprocess.Popen(
            netns.inside(name, host, command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, preexec_fn=netns.die_with_parent, text=True, errors="replace"))
    for (label, _, _, word), server in zip(wanted, servers):
        log = open(os.path.join(base, "log", f"{label}.log"), "w", buffering=1, encoding="utf-8")
        said = []
        for line in server.stdout:
            log.write(line)
            said.append(line)
            if word in line:
                break
        else:
            raise netns.CommandFailed(f"the server {label} ended: {''.join(said[-5:]).strip()}")
        threading.Thread(target=drain, args=(server.stdout, log), daemon=True).start()
    return servers


def drain(stream, log):
    """Keeps what a server says."""
    for line in stream:
        log.write(line)


if __name__ == "__main__":
    sys.exit("keeper.py is a part of the lab; run namespaces/lab")

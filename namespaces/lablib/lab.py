"""`Lab`: raise a lab, run things in it, ask it things. What the command line, the tests and the demo use."""

import json
import os
import pwd
import signal
import subprocess
import time

from . import keeper, netns, plan, topology

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SERVERS = keeper.SERVERS


def engine_path():
    """The engine a lab uses: TROCKET_ENGINE, else the pinned one of scripts/setup."""
    return os.environ.get("TROCKET_ENGINE") or os.path.join(REPOSITORY, ".engine", "sing-box")


class Lab:
    """One lab that is up, by name."""

    def __init__(self, name):
        self.name = plan.check_name(name)
        self.directory = plan.directory(name)

    # MARK: life

    @classmethod
    def up(cls, name, owner=None, rp_filter=2):
        """Raises a lab. With an owner it ends when that process ends, however it ends."""
        lab = cls(name)
        keeper.launch(name, owner, rp_filter, engine_path(), os.path.join(REPOSITORY, ".engine", "rule-sets"))
        return lab

    def down(self):
        """Ends the lab and returns when nothing of it is left."""
        pid = keeper.keeper_of(self.name)
        if pid:
            descriptor = os.pidfd_open(pid)
            if keeper.keeper_of(self.name) == pid:
                signal.pidfd_send_signal(descriptor, signal.SIGTERM)
                netns.wait_for_exit(descriptor, PATIENCE)
            os.close(descriptor)
        if netns.exists(self.name):
            netns.remove(self.name)

    @property
    def is_up(self):
        """True while the lab's keeper lives."""
        return keeper.keeper_of(self.name) is not None

    # MARK: paths and facts

    def path(self, *parts):
        """A path below the lab's directory."""
        return os.path.join(self.directory, *parts)

    @property
    def engine(self):
        """The engine's path inside the lab, owned by root."""
        return self.path("bin", "sing-box")

    @property
    def subscription(self):
        """The subscription's link."""
        return f"https://{plan.SUB_NAME}/s/{plan.TOKEN}"

    def namespace(self, host):
        """The name `ip netns` knows a host by."""
        return plan.namespace(self.name, host)

    def facts(self):
        """What one needs to know to work with the lab by hand."""
        return {
            "name": self.name,
            "directory": self.directory,
            "namespaces": {host: self.namespace(host) for host in plan.HOSTS},
            "client": {"ipv4": plan.CLIENT4, "ipv6": plan.CLIENT6, "router": plan.ROUTER4, "user": plan.USER,
                       "home": self.path("home", str(plan.USER))},
            "subscription": self.subscription,
            "stateRoot": self.path("state"),
            "runDirectory": self.path("run"),
            "engine": self.engine,
            "ruleSets": self.path("rule-sets"),
            "pages": {"abroad": "https://ip.example.com/ip", "home": "https://www.baidu.com/ip"},
            "iperf": {"abroad": plan.WEB4, "home": plan.CN4, "port": plan.IPERF_PORT},
            "ssh": {"address": plan.CLIENT4, "port": plan.SSH_PORT},
            "log": self.path("log"),
        }

    # MARK: running things

    def command(self, host, *arguments):
        """The command line that runs something in a host as root."""
        return netns.inside(self.name, host, arguments)

    def exec(self, host, *arguments, check=True, timeout=60, **options):
        """Runs something in a host to its end; returns the CompletedProcess, text captured."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        done = subprocess.run(self.command(host, *arguments), text=True, timeout=timeout, check=False, **options)
        if check and done.returncode != 0:
            raise netns.CommandFailed(
                f"{' '.join(map(str, arguments))} in {host} exited {done.returncode}: {done.stdout} {done.stderr}")
        return done

    def popen(self, host, *arguments, **options):
        """Starts something in a host; it is killed when the starting thread ends."""
        return subprocess.Popen(self.command(host, *arguments), text=True, preexec_fn=netns.die_with_parent, **options)

    def user_environment(self):
        """The clean environment of the user."""
        home = self.path("home", str(plan.USER))
        return {
            "HOME": home, "USER": "lab", "LOGNAME": "lab", "SHELL": "/bin/bash", "TERM": os.environ.get("TERM", "dumb"),
            "LANG": "C.UTF-8", "PATH": self.path("bin") + ":/usr/local/bin:/usr/bin:/bin",
            "TROCKET_SOCKET": self.path("run", "command.sock"), "TROCKET_ENGINE": self.engine,
            "TROCKET_RULE_SETS": self.path("rule-sets"),
        }

    def user_command(self, *arguments, uid=plan.USER, in_group=True, environment=None):
        """The command line that runs something on the user's machine as the user: no capability, a clean environment."""
        variables = {**self.user_environment(), **(environment or {})}
        groups = ["--groups", str(pwd.getpwnam("trocket").pw_gid)] if in_group else ["--clear-groups"]
        home = variables["HOME"] if uid == plan.USER else "/"
        return self.command(
            "client", "setpriv", "--reuid", uid, "--regid", uid, *groups, "--inh-caps", "-all",
            "--ambient-caps", "-all",
            "env", "-i", "-C", home, *[f"{key}={value}" for key, value in variables.items()], *arguments)

    def user(self, *arguments, check=True, timeout=60, input=None, **options):
        """Runs something as the user to its end; returns the CompletedProcess, text captured."""
        done = subprocess.run(self.user_command(*arguments, **options), text=True, capture_output=True, timeout=timeout,
                              input=input, stdin=None if input is not None else subprocess.DEVNULL, check=False)
        if check and done.returncode != 0:
            raise netns.CommandFailed(
                f"{' '.join(map(str, arguments))} exited {done.returncode}: {done.stdout} {done.stderr}")
        return done

    def user_popen(self, *arguments, environment=None, **options):
        """Starts something as the user; it is killed when the starting thread ends."""
        return subprocess.Popen(self.user_command(*arguments, environment=environment), text=True,
                                preexec_fn=netns.die_with_parent, **options)

    # MARK: the network

    def ip(self, host, *arguments):
        """What `ip -json …` says in a host."""
        return netns.json_of(self.name, host, *arguments)

    def ip_text(self, host, *arguments):
        """What `ip …` says in a host, as text."""
        return netns.run(["ip", "-netns", self.namespace(host), *arguments])

    def blackhole(self, address, vanish=True):
        """Makes packets to an address vanish in the router, or lets them pass again."""
        topology.blackhole(self.name, address, vanish)

    def events(self, server, since=0.0, **match):
        """What a server (isp, home, world) recorded: questions and page visits, newest last, filtered by fields."""
        with open(self.path("log", f"{server}.jsonl"), encoding="utf-8") as file:
            # The last one may just be being written.
            found = [json.loads(line) for line in file if line.endswith("\n")]
        return [e for e in found if e["at"] >= since and all(e.get(key) == value for key, value in match.items())]

    def page(self, url, *curl, check=True):
        """Visits a page as the user with curl and returns what it said; JSON is decoded. None when it failed."""
        done = self.user("curl", "-sS", "--fail", "--max-time", "10", *curl, url, check=check)
        if done.returncode != 0:
            return None
        try:
            return json.loads(done.stdout)
        except ValueError:
            return done.stdout

    def mirror(self, address, port):
        """Sends the user's datagram to a UDP mirror, again when one is lost; returns the address it was seen from, or None."""
        return self.user("/usr/bin/python3", "-I", "-c", MIRROR, address, str(port), check=False).stdout.strip() or None

    def hold_conversation(self, host="world", address=plan.CLIENT4, port=plan.SSH_PORT, interval_ms=50):
        """Starts a conversation into the user's machine, as SSH would be; see `Conversation`."""
        return Conversation(self, host, address, port, interval_ms)


class Conversation:
    """A connection that keeps talking; `end()` tells how it went: sent, received, longest_gap_ms, error."""

    def __init__(self, lab, host, address, port, interval_ms):
        self.process = lab.popen(
            host, "/usr/bin/python3", "-I", os.path.join(SERVERS, "echo.py"), "hold", address, port, interval_ms,
            stdout=subprocess.PIPE)
        if self.process.stdout.readline() != "ready\n":
            raise netns.CommandFailed(f"no conversation with {address} port {port} from {host}")

    @property
    def alive(self):
        """True while it has not broken."""
        return self.process.poll() is None

    def end(self):
        """Hangs up."""
        if self.alive:
            self.process.terminate()
        output = self.process.communicate(timeout=PATIENCE)[0]
        return json.loads(output.strip().splitlines()[-1])


# A datagram may get lost, on a busy machine more so: silence is that of five.
MIRROR = """
import socket, sys
address, port = sys.argv[1], int(sys.argv[2])
with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as asking:
    asking.settimeout(1)
    for _ in range(5):
        try:
            asking.connect((address, port))
            asking.send(b"who am I")
            print(asking.recv(100).decode())
            break
        except OSError:
            pass
"""
# A machine that is busy with something else is given so long, whatever a wait takes on an idle one, in seconds.
PATIENCE = 60


def wait_until(condition, seconds, what, interval=0.02):
    """Asks again and again until the condition holds, for so long and never less than `PATIENCE`; for states of the kernel
    which nothing announces."""
    seconds = max(seconds, PATIENCE)
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds} s: {what}")
        time.sleep(interval)
    return value

"""`Resolver`: a system bus, polkit and systemd-resolved of the lab's user's machine, the real programs of Debian.

scripts/setup has unpacked their packages; here they are laid over /usr for what runs on the user's machine from now on.
"""

import os
import subprocess

from . import keeper, netns, plan
from .lab import REPOSITORY, Lab, wait_until

PACKAGES = os.path.join(REPOSITORY, ".engine", "resolver")
RULE = os.path.join(REPOSITORY, "scripts", "packaging", "system", "polkit.rules")
NAME = "org.freedesktop.resolve1"
STUB = "127.0.0.53"
# The users the packages would make; the numbers are the lab's own.
USERS = {"messagebus": 990, "polkitd": 991, "systemd-resolve": 992}


class Resolver:
    """A machine whose names systemd-resolved resolves, as on Ubuntu and Fedora. Start it before the product."""

    def __init__(self, lab: Lab):
        if not os.path.isdir(PACKAGES):
            raise netns.CommandFailed("systemd-resolved and polkit are not unpacked; run scripts/setup")
        self.lab = lab
        self.own = netns.own(lab.name, "client")
        self.bus = self.polkit = self.resolved = None
        self.layers = 0
        for directory in ("dbus", "systemd/resolve"):
            os.makedirs(os.path.join(self.own, "run", directory), mode=0o755)
        self._be_the_resolver_of_the_machine()
        self.lay()
        self.start_bus()
        self.start_polkit()
        self.start_resolved()

    def _be_the_resolver_of_the_machine(self):
        etc = os.path.join(netns.NETNS_ETC, self.lab.namespace("client"))
        for path, rest in (("passwd", "{0}::/nonexistent:/usr/sbin/nologin"), ("group", "")):
            with open(os.path.join(etc, path), "r+", encoding="utf-8") as file:
                present = {line.split(":")[0] for line in file}
                file.writelines(f"{user}:x:{number}:{rest.format(number)}\n" for user, number in USERS.items()
                                if user not in present)
        user = subprocess.run(self.lab.command("client", "id", "--user", "systemd-resolve"), capture_output=True, text=True,
                              check=True).stdout
        os.chown(os.path.join(self.own, "run/systemd/resolve"), int(user), int(user))
        with open(os.path.join(etc, "nsswitch.conf"), "w", encoding="utf-8") as file:
            file.write("passwd: files\ngroup: files\nhosts: files resolve [!UNAVAIL=return] dns\n")
        self.serve_programs(STUB)

    def serve_programs(self, server):
        """Decides what resolv.conf names."""
        path = os.path.join(netns.NETNS_ETC, self.lab.namespace("client"), "resolv.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"nameserver {server}\noptions edns0 trust-ad timeout:2 attempts:2\n")

    # MARK: what the machine has

    def lay(self, rule=True, settings=""):
        """Decides what the programs started from now on find in /usr: Trocket's polkit rule, settings of resolved."""
        self.layers += 1
        layer = os.path.join(self.own, f"layer-{self.layers}")
        rules, drops = (os.path.join(layer, path) for path in ("share/polkit-1/rules.d", "lib/systemd/resolved.conf.d"))
        os.makedirs(rules)
        os.makedirs(drops)
        if rule:
            keeper.copy(RULE, os.path.join(rules, "50-trocket.rules"))
        with open(os.path.join(drops, "lab.conf"), "w", encoding="utf-8") as file:
            # The neighbours are asked nothing, or they would be seen in every capture.
            file.write(f"[Resolve]\nLLMNR=no\nMulticastDNS=no\n{settings}\n")
        with open(os.path.join(self.own, "usr"), "w", encoding="utf-8") as file:
            file.write(f"{layer}:{PACKAGES}")

    def _start(self, label, *command, ready):
        """Starts a daemon and returns when it is ready, which is asked of what it has said."""
        log = open(self.lab.path("log", f"{label}.log"), "a+", encoding="utf-8", errors="replace")
        began = log.tell()
        daemon = self.lab.popen("client", *command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

        def is_ready():
            log.seek(began)
            said = log.read()
            if daemon.poll() is not None:
                raise netns.CommandFailed(f"{label} ended: {said[-800:]}")
            return ready(said)

        wait_until(is_ready, 10, f"{label} is ready")
        log.close()
        return daemon

    @staticmethod
    def _end(daemon):
        if daemon is not None and daemon.poll() is None:
            daemon.terminate()
            daemon.wait(timeout=60)

    def start_bus(self):
        """The system bus, with the policy of the packages."""
        self.bus = self._start("dbus", "dbus-daemon", "--system", "--nofork", "--nopidfile", "--print-address",
                               ready=lambda said: "unix:" in said)

    def start_polkit(self):
        """polkit's daemon."""
        self._end(self.polkit)
        self.polkit = self._start("polkit", "/usr/lib/polkit-1/polkitd", ready=lambda said: "Acquired the name" in said)

    def start_resolved(self, *uplink):
        """systemd-resolved; returns when it can be called, and has been told the uplink's resolver and domain."""
        self._end(self.resolved)
        self.resolved = self._start("resolved", "/usr/lib/systemd/systemd-resolved", ready=lambda _: self.is_there())
        self.tell_uplink(*uplink)

    def stop_resolved(self):
        """Ends systemd-resolved as `systemctl stop` does."""
        self._end(self.resolved)
        wait_until(lambda: not self.is_there(), 10, "systemd-resolved has left the bus")

    def forget(self):
        """Takes away what resolved remembers of the links, as after a reboot; call it while resolved is ended."""
        remembered = os.path.join(self.own, "run/systemd/resolve/netif")
        for name in os.listdir(remembered):
            os.unlink(os.path.join(remembered, name))

    def stop(self):
        """Ends all three."""
        for daemon in (self.resolved, self.polkit, self.bus):
            self._end(daemon)

    # MARK: asking and telling

    def is_there(self):
        """Whether resolved has its name on the bus."""
        return self.lab.exec("client", "busctl", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
                             "org.freedesktop.DBus", "NameHasOwner", "s", NAME).stdout.strip() == "b true"

    def tell(self, *arguments, check=True):
        """Runs resolvectl as root; returns what it printed."""
        return self.lab.exec("client", "resolvectl", *arguments, check=check).stdout.strip()

    def tell_uplink(self, server=plan.ROUTER4, domain="lan"):
        """Sets what the uplink's DHCP gave, as a network manager does at any time."""
        self.tell("dns", "eth0", server)
        self.tell("domain", "eth0", domain)
        self.tell("default-route", "eth0", "yes")

    def link(self, link):
        """What a link is set to: its servers, its domains, whether names without a better match are asked there, and TLS."""
        return tuple(self.tell(what, link).partition(": ")[2] for what in ("dns", "domain", "default-route", "dnsovertls"))

    def ask(self, name):
        """The IPv4 address of a name by resolved's own interface, nothing from its cache; None when there is none."""
        done = self.lab.exec("client", "resolvectl", "query", "-4", "--cache=no", "--legend=no", name, check=False)
        return done.stdout.split()[1] if done.returncode == 0 else None

    def asked_by_programs(self, name):
        """The IPv4 address a program gets which asks the C library (nss-resolve), and one which asks the stub itself."""
        library = self.lab.exec("client", "getent", "ahostsv4", name, check=False).stdout.split()
        stub = self.lab.exec("client", "dig", "+short", "+timeout=5", "+tries=1", f"@{STUB}", name, check=False).stdout.split()
        return (library or [None])[0], (stub or [None])[-1]

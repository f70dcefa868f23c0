"""Packages of the product, machines to install them on, and what they look like before and after."""

import atexit
import functools
import os
import re
import shutil
import tempfile

from . import netns
from .lab import REPOSITORY, engine_path, wait_until
from .product import build_directory

PACKAGE = os.path.join(REPOSITORY, "scripts", "package")
# The bookkeeping of dpkg, adduser and their like, which is not ours to remove.
BOOKKEEPING = re.compile(
    r"/(etc/netns|var/(lib/dpkg|lib/apt|log|cache)|etc/(passwd|group|shadow|gshadow|subuid|subgid)-?$|etc/\.|root/"
    r"|usr/share/applications/mimeinfo\.cache|etc/mailcap$|etc/ld\.so\.cache|home$"
    r"|var/lib/systemd/deb-systemd-helper-(enabled|masked)($|/.*\.dsh-also$))")


def make_package(path, version=None):
    """Builds the package of the programs as they are; with another version where one is given."""
    environment = {**os.environ, "TROCKET_BUILD": build_directory(), "TROCKET_ENGINE": engine_path()}
    netns.run([PACKAGE, "--fast", "--output", path], env=environment)
    if version:
        tree = path + ".tree"
        netns.run(["dpkg-deb", "--raw-extract", path, tree])
        control = os.path.join(tree, "DEBIAN", "control")
        with open(control, encoding="utf-8") as file:
            text = file.read()
        with open(control, "w", encoding="utf-8") as file:
            file.write(re.sub(r"(?m)^Version: .*$", f"Version: {version}", text))
        netns.run(["dpkg-deb", "-Zgzip", "-z1", "--root-owner-group", "--build", tree, path])
        shutil.rmtree(tree)
    return path


@functools.cache
def packages():
    """The paths of the package and of a newer one; built once, removed when this program ends."""
    directory = tempfile.mkdtemp(prefix="trocket-packages-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    old = make_package(os.path.join(directory, "old.deb"))
    return old, make_package(os.path.join(directory, "new.deb"), "99.0")


def cleared(machine):
    """A machine as if Trocket had never been on it, with two people."""
    machine.run("dpkg", "--purge", "trocket", check=False)
    for name in ("trocket", "trocket-engine"):
        machine.run("userdel", name, check=False)
        machine.run("groupdel", name, check=False)
    machine.run("rm", "-rf", "/var/lib/trocket", "/run/trocket", "/etc/trocket")
    for name in ("alice", "bob"):
        machine.run("userdel", "--force", name, check=False)
        machine.run("useradd", "--create-home", "--shell", "/bin/sh", name)
    return machine


def wait(reached, what, seconds=15):
    """Waits until something is so, and returns it."""
    return wait_until(reached, seconds, what, interval=0.05)


def install(machine, *more, user="alice"):
    """scripts/install as `user` would call it with sudo."""
    return machine.run(
        os.path.join(REPOSITORY, "scripts", "install"), "--no-build", *more, timeout=300,
        environment={"SUDO_USER": user, "TROCKET_BUILD": build_directory(), "TROCKET_ENGINE": engine_path()})


def snapshot(machine):
    """Every file below /etc, /usr, /lib, /var, /home, /run: path → (mode, owner, group, size and time, or a link's target)."""
    output = machine.run(
        "find", "/etc", "/usr", "/var", "/home", "/run", "-xdev", "-path", "/run/lock", "-prune", "-o",
        "(", "-type", "l", "-printf", "%p\t%y %U %G %l\n", ")", "-o", "(", "-type", "d", "-printf", "%p\t%y %m %U %G\n", ")",
        "-o", "-printf", "%p\t%y %m %U %G %s %T@\n").stdout
    found = dict(line.split("\t", 1) for line in output.splitlines() if "\t" in line)
    return {path: facts for path, facts in found.items() if not BOOKKEEPING.match(path) and "/__pycache__" not in path}


def differences(before, after):
    """What two snapshots do not have in common."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def accounts(machine):
    """The names of all users and groups, and the members of groups."""
    return sorted(line for database in ("passwd", "group")
                  for line in machine.run("getent", database).stdout.splitlines())


def user_directory(machine, name):
    """A user's state directory when it is there."""
    path = f"/var/lib/trocket/users/{machine.run('id', '-u', name).stdout.strip()}"
    return path if os.path.isdir(machine.path(path)) else None


def facts(machine, path):
    """(owner, group, mode) of a path, by name."""
    owner, group, mode = machine.run("stat", "-c", "%U %G %a", path).stdout.split()
    return owner, group, int(mode, 8)



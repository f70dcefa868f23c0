"""A machine to install things on: this machine's files under an overlay that is thrown away, with namespaces of its own for
mounts, processes, network, host name, IPC and control groups; with or without systemd as its first process.

Nothing done in it reaches the real machine's files, network or processes. What it shares with the real machine is the
kernel: modules, the clock, and what is not namespaced.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time

from . import netns
from .lab import PATIENCE, REPOSITORY

NAMESPACES = ("-m", "-p", "-n", "-u", "-i", "-C")

# Run as the first process of the new namespaces. $1: the directory for it all, $2: the repository, $3…: what becomes the
# machine's first process.
BOOT = r"""
set -eu
base=$1 repository=$2
shift 2
root=$base/root
mount -t tmpfs -o mode=755 machine "$base/layers"
mkdir "$base/layers/upper" "$base/layers/work" "$base/layers/r-upper" "$base/layers/r-work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$base/layers/upper,workdir=$base/layers/work" "$root"
for directory in run tmp dev; do mount -t tmpfs -o mode=755 "$directory" "$root/$directory"; done
chmod 1777 "$root/tmp"
# The repository may be on another file system than /, which an overlay of / does not show.
mkdir -p "$root$repository"
mount -t overlay overlay -o "lowerdir=$repository,upperdir=$base/layers/r-upper,workdir=$base/layers/r-work" "$root$repository"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mkdir -p "$root/sys/fs/cgroup"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup" || :
mkdir -p "$root/dev/net" "$root/dev/shm" "$root/dev/pts" "$root/run/lock" "$root/share"
mount --bind "$base/share" "$root/share"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for device in null zero full random urandom tty; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
: >"$root/dev/console"
mount --bind "$base/console" "$root/dev/console"
# As open as udev makes it.
mknod -m 666 "$root/dev/net/tun" c 10 200
# An uplink that leads nowhere, its addresses usable at once.
ip link set lo up
echo 0 >"$root/proc/sys/net/ipv6/conf/default/accept_dad"
ip link add eth0 type veth peer name far0
ip link set far0 up
ip address add 198.51.100.2/24 dev eth0
ip link set eth0 up
ip route add default via 198.51.100.1
echo machine >"$root/etc/hostname"
# A container's way of forbidding packages to start services.
rm -f "$root/usr/sbin/policy-rc.d"
# Only what the tests need is started, and nothing that minds hardware or the real network.
units=$root/etc/systemd/system
mkdir -p "$units"
for unit in systemd-udevd.service systemd-udevd-kernel.socket systemd-udevd-control.socket systemd-udev-trigger.service \
    systemd-journald.service systemd-journald.socket systemd-journald-dev-log.socket systemd-journald-audit.socket \
    systemd-journal-flush.service systemd-resolved.service systemd-networkd.service systemd-networkd.socket \
    systemd-timesyncd.service systemd-modules-load.service systemd-remount-fs.service systemd-random-seed.service; do
    ln -sf /dev/null "$units/$unit"
done
printf '[Unit]\nRequires=sysinit.target\nWants=sockets.target paths.target\nAfter=sysinit.target sockets.target paths.target\n' \
    >"$units/machine.target"
# Without a journal: what services say.
mkdir -p "$units/service.d"
printf '[Service]\nStandardError=append:/run/services.log\n' >"$units/service.d/50-machine.conf"
: >"$base/ready"
# Not chroot: who is in one may make no user namespace.
cd "$root"
mkdir .real
pivot_root . .real
umount -l /.real
rmdir /.real
exec env -i container=trocket PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
"""


class Unavailable(Exception):
    """This kernel or container does not let such a machine be made; the text says what was refused."""


def control_group_root():
    """Where the version 2 hierarchy of control groups is mounted, or None."""
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            fields = line.split()
            if fields[2] == "cgroup2":
                return fields[1]
    return None


class Machine:
    """One machine, from `start` to `stop`."""

    def __init__(self, systemd=False):
        self.systemd = systemd
        self.base = tempfile.mkdtemp(prefix="trocket-machine-")
        self.share = os.path.join(self.base, "share")
        self.group = None
        self.process = None
        self.pid = None

    # MARK: life

    def start(self):
        """Starts it, and returns it when commands can be run in it."""
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def _start(self):
        os.chmod(self.base, 0o755)
        for directory in ("layers", "root", "share"):
            os.mkdir(os.path.join(self.base, directory))
        open(os.path.join(self.base, "console"), "w", encoding="utf-8").close()
        root = control_group_root()
        if root:
            self.group = os.path.join(root, os.path.basename(self.base))
            try:
                os.mkdir(self.group)
            except OSError:
                self.group = None
        if self.systemd and self.group is None:
            raise Unavailable("systemd needs a control group of its own, and none can be made here")
        first = ["/lib/systemd/systemd", "--system", "--unit=machine.target"] if self.systemd else ["sleep", "infinity"]
        log = open(os.path.join(self.base, "log"), "w", encoding="utf-8")
        self.process = subprocess.Popen(
            ["unshare", *NAMESPACES, "--fork", "--kill-child", "--propagation", "private", "/bin/sh", "-c", BOOT, "boot",
             self.base, REPOSITORY, *first],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=self._enter_group)
        log.close()
        self._wait(lambda: os.path.exists(os.path.join(self.base, "ready")), 20, "its files and devices")
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as children:
            self.pid = int(children.read().split()[0])
        self._wait(lambda: os.readlink(f"/proc/{self.pid}/exe").endswith("/systemd" if self.systemd else "sleep"), 10,
                   "its first process")
        if self.systemd:
            self._wait(lambda: self.run("systemctl", "is-active", "machine.target", check=False).stdout.strip() == "active",
                       60, "systemd's units")

    def _enter_group(self):
        netns.die_with_parent()
        if self.group:
            with open(os.path.join(self.group, "cgroup.procs"), "w", encoding="ascii") as file:
                file.write("0")

    def _wait(self, reached, seconds, what):
        seconds = max(seconds, PATIENCE)
        deadline = time.monotonic() + seconds
        while not reached():
            with open(os.path.join(self.base, "log"), encoding="utf-8", errors="replace") as log:
                said = log.read()[-800:]
            if self.process.poll() is not None:
                raise Unavailable(f"no machine could be made here: {said}")
            if time.monotonic() > deadline:
                raise netns.CommandFailed(f"the machine did not get {what} in {seconds} s: {said}")
            time.sleep(0.02)

    def stop(self):
        """Ends it and everything in it, and removes what it left here."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        if self.group:
            for directory, _, _ in sorted(os.walk(self.group), reverse=True):
                self._remove_group(directory)
        shutil.rmtree(self.base, ignore_errors=True)

    @staticmethod
    def _remove_group(directory):
        """Removes one control group; its processes take a moment to go."""
        for _ in range(100):
            try:
                os.rmdir(directory)
                return
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.02)

    # MARK: doing things in it

    def command(self, *arguments, user=None, environment=None):
        """The command line that runs something in it, as root or as a user."""
        settings = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
                    "HOME": "/root" if user is None else f"/home/{user}", **(environment or {})}
        become = [] if user is None else ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        return ["nsenter", "-t", str(self.pid), *NAMESPACES, "-r", "-w", "env", "-i",
                *(f"{key}={value}" for key, value in settings.items()), *become, *map(str, arguments)]

    def run(self, *arguments, user=None, environment=None, check=True, timeout=120, **options):
        """Runs something in it to its end; returns the CompletedProcess."""
        done = subprocess.run(
            self.command(*arguments, user=user, environment=environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            stdin=None if "input" in options else subprocess.DEVNULL, text=True, check=False, timeout=timeout, **options)
        if check and done.returncode != 0:
            raise netns.CommandFailed(
                f"{' '.join(map(str, arguments))} exited {done.returncode}: {done.stdout[-1500:]} {done.stderr[-1500:]}")
        return done

    def path(self, path):
        """A path of the machine's, as this machine sees it."""
        return f"/proc/{self.pid}/root{path}"

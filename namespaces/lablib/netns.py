"""Making, entering and removing network namespaces, through `ip`."""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import time

from . import plan

NETNS_ETC = "/etc/netns"
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


class CommandFailed(Exception):
    """A command of the lab's own machinery failed; the text says which and why."""


def run(arguments, **options):
    """Runs a command to its end and returns its standard output, or raises CommandFailed with what it said."""
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)
    if done.returncode != 0:
        raise CommandFailed(f"{' '.join(map(str, arguments))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def ip_batch(name, host, lines):
    """Applies many `ip` commands in one host, all or an error."""
    run(["ip", "-netns", plan.namespace(name, host), "-force", "-batch", "-"], input="\n".join(lines) + "\n")


def nft(name, host, rules):
    """Applies nftables commands in one host."""
    run(["ip", "netns", "exec", plan.namespace(name, host), "nft", "-f", "-"], input=rules)


def die_with_parent():
    """For preexec_fn: this process is killed when the thread that started it ends."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def inside(name, host, arguments):
    """The command line which runs `arguments` in a host of the lab, with that host's own /etc files.

    `ip netns exec` replaces itself by the command, so the process id and the way signals and exit status travel are the
    command's own. The machine's system bus and resolver sockets are hidden: a lab must not talk to the real machine's.
    What `own` holds for the host is there in their place.
    """
    return ["ip", "netns", "exec", plan.namespace(name, host), "/bin/sh", hide_script(name), own(name, host),
            *map(str, arguments)]


def own(name, host):
    """Where a host may have a bus and a resolver of its own: `run/dbus`, `run/systemd/resolve`, and in the file `usr` the
    folders laid over its /usr, the first on top."""
    return os.path.join(plan.directory(name), "own", host)


def hide_script(name):
    """The path of the little script that hides the machine's own sockets."""
    return os.path.join(plan.directory(name), "bin", "hide")


HIDE = """# Hides the real machine's bus and resolver from what runs in the lab, or shows the host's own ($1), then becomes it.
# Where no udev has opened /dev/net/tun to everyone, as it is on an ordinary machine, the lab's hosts get one of their own
# that is.
own=$1
shift
if [ -c /dev/net/tun ] && [ "$(stat -c %a /dev/net/tun)" != 666 ]; then
    mount -t tmpfs -o size=4k,mode=755 none /dev/net && mknod -m 666 /dev/net/tun c 10 200
fi
for directory in /run/dbus /run/systemd/resolve /run/nscd; do
    if [ -d "$own$directory" ]; then
        # An empty directory is all the real machine gets to see of it.
        mkdir -p "$directory" && mount --bind "$own$directory" "$directory"
    elif [ -d "$directory" ]; then
        mount -t tmpfs -o ro,size=4k none "$directory"
    fi
done
if [ -f "$own/usr" ]; then
    mount -t overlay -o "ro,lowerdir=$(cat "$own/usr"):/usr" overlay /usr || exit 125
fi
exec "$@"
"""


def processes(name):
    """The ids of all processes in any network namespace of the lab."""
    wanted = set()
    for host in plan.HOSTS:
        try:
            status = os.stat(os.path.join("/run/netns", plan.namespace(name, host)))
            wanted.add((status.st_dev, status.st_ino))
        except FileNotFoundError:
            continue
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                status = os.stat(f"/proc/{entry}/ns/net")
            except OSError:
                continue
            if (status.st_dev, status.st_ino) in wanted:
                found.append(int(entry))
    return found


def kill_processes(name, spare=()):
    """Kills everything that runs in the lab and waits until it is gone. Each is named by a pidfd, so never another."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        descriptors = []
        for pid in processes(name):
            if pid in spare:
                continue
            try:
                descriptor = os.pidfd_open(pid)
            except OSError:
                continue
            if pid in processes(name):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                descriptors.append(descriptor)
            else:
                os.close(descriptor)
        if not descriptors:
            return
        for descriptor in descriptors:
            wait_for_exit(descriptor, 2)
            os.close(descriptor)


def wait_for_exit(pidfd, seconds):
    """Waits until the process of a pidfd has ended; returns whether it has."""
    import select

    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    return bool(poller.poll(seconds * 1000))


def exists(name):
    """True when anything of a lab of that name is there."""
    if os.path.exists(plan.directory(name)):
        return True
    return any(os.path.exists(f"/run/netns/{plan.namespace(name, host)}") for host in plan.HOSTS)


def remove(name):
    """Removes a lab entirely: processes, namespaces (and with them links, routes, rules), /etc files, directory."""
    kill_processes(name)
    for host in plan.HOSTS:
        namespace = plan.namespace(name, host)
        if os.path.exists(f"/run/netns/{namespace}"):
            subprocess.run(["ip", "netns", "delete", namespace], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(os.path.join(NETNS_ETC, namespace), ignore_errors=True)
    for empty in (NETNS_ETC,):
        try:
            os.rmdir(empty)
        except OSError:
            pass
    subprocess.run(["umount", "--lazy", "--quiet", os.path.join(plan.directory(name), "run")], check=False,
                   stderr=subprocess.DEVNULL)
    shutil.rmtree(plan.directory(name), ignore_errors=True)


def json_of(name, host, *arguments):
    """What `ip -json …` says in a host."""
    output = run(["ip", "-netns", plan.namespace(name, host), "-json", *arguments])
    return json.loads(output) if output.strip() else []

"""What one run of a program costs: seconds, the processor's seconds of itself and of its children, its own peak memory."""

import dataclasses
import os
import select
import subprocess
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Run:
    """A program that has ended. Processor time is user and system together."""

    code: int
    stdout: str
    stderr: str
    seconds: float
    own_seconds: float
    child_seconds: float
    peak_mib: float

    @property
    def cpu_seconds(self):
        """Of the program and everything it waited for."""
        return self.own_seconds + self.child_seconds


def run(command, timeout=120, input=None, **options):
    """Runs a command to its end, or raises TimeoutExpired after killing it. The command must not fork before it is itself."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    peak = [0.0]
    ended = threading.Event()

    def watch():
        # The kernel keeps the peak; it is asked again and again because it is gone when the program is.
        while True:
            peak[0] = max(peak[0], high_water(process.pid))
            if ended.wait(0.005):
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    outputs = {}

    def collect(name, stream):
        outputs[name] = stream.read()

    readers = [threading.Thread(target=collect, args=(name, getattr(process, name)), daemon=True)
               for name in ("stdout", "stderr")]
    for reader in readers:
        reader.start()
    try:
        if input is not None:
            feed(process, input)
        if not wait_leaving_it(process.pid, timeout - (time.monotonic() - began)):
            process.kill()
            raise subprocess.TimeoutExpired(command, timeout)
        seconds = time.monotonic() - began
        own, children = processor_time(process.pid)
    finally:
        ended.set()
        process.wait()
        watcher.join()
    for reader in readers:
        reader.join(5)
    return Run(process.returncode, *(outputs.get(n, b"").decode("utf-8", "replace") for n in ("stdout", "stderr")),
               seconds, own, children, peak[0])


def feed(process, text):
    """Writes standard input and closes it."""
    try:
        process.stdin.write(text.encode() if isinstance(text, str) else text)
        process.stdin.close()
    except BrokenPipeError:
        pass


def high_water(pid):
    """The most memory a living process has had resident, in MiB; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def wait_leaving_it(pid, seconds):
    """Waits for a child's end and leaves it to be waited for again, so that /proc still tells what it used."""
    descriptor = os.pidfd_open(pid)
    try:
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        return bool(poller.poll(max(0, seconds) * 1000))
    finally:
        os.close(descriptor)


def processor_time(pid):
    """Seconds of user and system time of an ended process not yet waited for: its own, and its children's."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    user, system, child_user, child_system = (int(field) for field in fields[11:15])
    return (user + system) / TICKS, (child_user + child_system) / TICKS

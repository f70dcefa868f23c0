"""A terminal in the lab: the real screen in tmux, driven by keys and read as text."""

import itertools
import os
import shlex

from . import plan
from .lab import wait_until

CONFIGURATION = """set -g default-terminal tmux-256color
set -g remain-on-exit on
set -g status off
set -s escape-time 0
set -s set-clipboard on
"""
_numbers = itertools.count(1)


class Terminal:
    """A tmux server of the user's own with one window that runs one program."""

    def __init__(self, lab, arguments, columns=80, rows=24, language="en", environment=None, term="tmux-256color"):
        self.lab = lab
        home = lab.path("home", str(plan.USER))
        name = f"tmux-{os.getpid()}-{next(_numbers)}"
        self.socket = os.path.join(home, name)
        configuration = os.path.join(home, f"{name}.conf")
        with open(configuration, "w", encoding="utf-8") as file:
            file.write(CONFIGURATION)
        os.chmod(configuration, 0o644)
        variables = {"LANG": "C.UTF-8", "TROCKET_LANG": language, "TERM": term, **(environment or {})}
        command = "env " + " ".join(shlex.quote(f"{key}={value}") for key, value in variables.items()) + " " + \
            " ".join(shlex.quote(str(argument)) for argument in arguments)
        self.tmux("-f", configuration, "new-session", "-d", "-x", columns, "-y", rows, command, environment={"LANG": "C.UTF-8"})

    def tmux(self, *arguments, **options):
        """Runs a tmux command as the user and returns what it printed."""
        return self.lab.user("tmux", "-u", "-S", self.socket, *map(str, arguments), **options).stdout

    def keys(self, *names):
        """Presses keys by tmux's names: `Enter`, `Down`, `q`."""
        self.tmux("send-keys", *names)

    def type(self, text):
        """Types a text as it is, escape sequences included."""
        self.tmux("send-keys", "-l", text)

    def paste(self, text):
        """Pastes a text as a terminal does: bracketed."""
        self.lab.user("tmux", "-S", self.socket, "load-buffer", "-", input=text)
        self.tmux("paste-buffer", "-p", "-d")

    def click(self, row, column):
        """Clicks the mouse's first button (rows and columns from 0), in the encoding tmux-256color has."""
        for button in (0, 3):
            self.type("\033[M" + "".join(chr(32 + part) for part in (button, column + 1, row + 1)))

    def text(self, styled=False):
        """The screen's content; styled with the escape sequences, and with spaces at the end, which may have a background."""
        return self.tmux("capture-pane", "-p", *(["-e", "-N"] if styled else []))

    def rows(self):
        """The screen's rows."""
        return self.text().split("\n")

    def row(self, part):
        """The number of the first row that holds a text; -1 when none does."""
        return next((number for number, row in enumerate(self.rows()) if part in row), -1)

    def see(self, *parts, seconds=10):
        """Waits until all texts are on the screen and returns the screen."""
        seen = [""]

        def visible():
            seen[0] = self.text()
            return all(part in seen[0] for part in parts)

        try:
            wait_until(visible, seconds, f"the screen shows {parts}", interval=0.05)
        except Exception as problem:
            raise AssertionError(f"not on the screen: {[p for p in parts if p not in seen[0]]}\n{seen[0]}") from problem
        return seen[0]

    def miss(self, part, seconds=10):
        """Waits until a text is no longer on the screen."""
        wait_until(lambda: part not in self.text(), seconds, f"the screen no longer shows {part}", interval=0.05)

    def value(self, form):
        """A tmux format, such as `#{pane_dead}`, for the window."""
        return self.tmux("display-message", "-p", form).strip()

    def ended(self):
        """The exit status of the program or the name of the signal that ended it; None while it runs."""
        dead, status, number = self.value("#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}").split("|")
        if dead != "1":
            return None
        if status or number:
            return int(status) if status else number
        # tmux now and then misses that a child ended and leaves it a zombie, whose status the kernel still has (proc(5)).
        try:
            with open(f"/proc/{self.pid()}/stat", encoding="utf-8", errors="replace") as file:
                code = int(file.read().rsplit(")", 1)[1].split()[-1])
        except (FileNotFoundError, ProcessLookupError):
            return None  # reaped since: the next look finds what tmux has noted
        return code >> 8 if code & 0x7f == 0 else str(code & 0x7f)

    def wait_for_end(self, seconds=10):
        """Waits for the end of the program and returns its exit status."""
        code = [None]

        def has_ended():
            code[0] = self.ended()
            return code[0] is not None

        wait_until(has_ended, seconds, "the program ends", interval=0.05)
        return code[0]

    def pid(self):
        """The program's process id."""
        return int(self.value("#{pane_pid}"))

    def resize(self, columns, rows):
        """Gives the window another size."""
        self.tmux("resize-window", "-x", columns, "-y", rows)

    def close(self):
        """Ends the server and what runs in it."""
        self.tmux("kill-server", check=False)

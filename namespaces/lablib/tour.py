"""A walk through the real screen, as a newcomer takes it: import, test, connect, switch. Pictures and goldens come of it."""

import re
import subprocess
import threading
import time

from . import lines, plan
from .terminal import Terminal

COLUMNS, ROWS = 80, 24
STATES = ("welcome", "import", "lines", "connected", "switched", "connections", "help")
TITLES = {"zh": "Trocket：导入、测速、连接、切换", "en": "Trocket: import, test, connect, switch"}
# What the screen says in each language when a step of the walk is done.
WORDS = {
    "en": {"welcome": "Welcome to Trocket", "import": "Import a subscription", "ready": "The subscription is ready",
           "tested": "lines answer.", "line": "Line ", "connected": "line answers", "checking": "checking the line",
           "connections": "Live connections", "help": "Help", "disconnected": "Disconnected"},
    "zh": {"welcome": "欢迎使用 Trocket", "import": "导入订阅", "ready": "订阅已就绪", "tested": "条可用。", "line": "线路 ",
           "connected": "已验证", "checking": "正在验证线路", "connections": "活动连接", "help": "帮助",
           "disconnected": "未连接"},
}


class Recorder:
    """Looks at a terminal ten times a second and keeps every screen that differs: `frames` is `[(seconds, capture)]`."""

    def __init__(self, terminal, interval=0.1):
        self.frames, self.terminal, self.interval = [], terminal, interval
        self.ending, self.thread = threading.Event(), threading.Thread(target=self.run, daemon=True)
        self.began = time.monotonic()
        self.thread.start()

    def run(self):
        while not self.ending.wait(self.interval):
            capture = self.terminal.text(styled=True)
            if not self.frames or capture != self.frames[-1][1]:
                self.frames.append((time.monotonic() - self.began, capture))

    def end(self):
        """Ends the recording and returns its frames."""
        self.ending.set()
        self.thread.join()
        return self.frames


class Tour:
    """One walk in one language: `captures` by the state's name, and `frames`, the recording, when one was asked for.

    With a pace in seconds the walk pauses for a person's eyes after each step; 0 walks as fast as the screen answers.
    """

    def __init__(self, product, language, pace=0.0, record=False):
        self.product, self.words, self.pace = product, WORDS[language], pace
        self.captures, self.frames, self.traffic = {}, [], None
        product.controller("disconnect", check=False)
        product.controller("forget", check=False)
        self.screen = Terminal(product.lab, product.controller_command(), COLUMNS, ROWS, language)
        recorder = None
        try:
            self.screen.see(self.words["welcome"], self.words["disconnected"])
            recorder = Recorder(self.screen) if record else None
            self.walk_to_switch()
            self.frames = recorder.end() if recorder else []
            self.walk_lists()
        finally:
            if recorder:
                recorder.end()
            if self.traffic:
                self.traffic.kill()
                self.traffic.wait()
            self.screen.close()
            product.controller("disconnect", check=False)

    def take(self, state, *seen, seconds=10):
        """Waits for words and keeps the screen under the state's name."""
        self.screen.see(*seen, seconds=seconds)
        self.pause()
        self.screen.see(*seen)
        self.captures[state] = self.screen.text(styled=True)

    def pause(self, times=1.0):
        time.sleep(self.pace * times)

    def walk_to_switch(self):
        screen, words = self.screen, self.words
        self.take("welcome", words["welcome"])
        screen.keys("i")
        screen.see(words["import"])
        screen.paste(self.product.lab.subscription)
        self.take("import", f"https://{plan.SUB_NAME}/•")
        screen.keys("Enter")
        screen.see(words["ready"], seconds=30)
        self.pause()
        screen.keys("t")
        screen.see(words["tested"], seconds=30)
        screen.keys("Down")
        self.pause(0.5)
        screen.keys("Enter")
        self.take("lines", words["line"] + lines.LINES[0][1])
        screen.keys("Space")
        screen.see(words["connected"], seconds=30)
        # A download with ups and downs, for the graphs, which lives on across the switch.
        self.traffic = self.product.lab.user_popen(
            "sh", "-c", "for speed in 9 24 15 30 12 21 27 9 24 15 30 12 21 27; do "
            f"iperf3 -R -t 4 -b ${{speed}}M -c {plan.WEB4} -p {plan.IPERF_PORT}; done",
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pause(4)
        self.take("connected", words["connected"], words["line"] + lines.LINES[0][1], "MB/s")
        screen.keys("Down")
        self.pause(0.5)
        screen.keys("Enter")
        screen.see(words["line"] + lines.LINES[1][1])
        self.pause(3)
        self.take("switched", words["line"] + lines.LINES[1][1], words["connected"])

    def walk_lists(self):
        screen, words = self.screen, self.words
        screen.keys("c")
        self.take("connections", words["connections"], str(plan.IPERF_PORT), words["connected"])
        screen.keys("Escape", "?")
        self.take("help", words["help"], words["connected"])


def settled(capture, language):
    """A capture as plain text without what differs from run to run: figures, ages, graphs, the spacing which follows from them in
    the card, whether a proof is just being renewed, and the message about a test, which goes away by itself."""
    words = WORDS[language]
    text = re.sub(r"\033(\[[0-9;]*m|[()].)|[\x0e\x0f]", "", capture).rstrip("\n")
    rows = text.replace(words["checking"], words["connected"]).split("\n")
    for number, row in enumerate(rows):
        if number in range(1, 5):
            row = re.sub(r"(2027-01-01).*│", r"\1 │", row)
            row = re.sub(r"[▁▂▃▄▅▆▇█░]+", "▁", row)
            row = re.sub(f"({words['connected']}),? \\d+ ms", r"\1", row)
            row = re.sub(r"\d+:\d\d:\d\d", "TIME", row)
            row = re.sub(r"\d+(\.\d+)? [KMG]?(B(/s)?|ms)\b", r"N \2", row)
            row = re.sub(r" +", " ", row)
        elif words["tested"] in row:
            row = ""
        else:
            row = re.sub(r" +(now|刚刚|\d+[smhd])$", "  AGE", row.rstrip())
        rows[number] = re.sub(r" *\b\d+ ms", lambda found: "N ms".rjust(len(found[0])), row).rstrip()
    return "\n".join(rows) + "\n"

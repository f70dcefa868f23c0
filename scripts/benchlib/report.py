"""Samples in, one table out: medians, spread, failures, ratios against a rival or a limit."""

import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VERIFICATION = os.path.join(REPOSITORY, "specs", "001-linux-vpn-client", "verification")


def version_of(*command):
    """The first version-like word a program prints, or 'absent'."""
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except OSError:
        return "absent"
    found = re.search(r"v?(\d+\.\d+(\.\d+)?\S*)", said.stdout + said.stderr)
    return found.group(1) if found else "unknown"


def machine():
    """What the figures depend on, without naming the machine."""
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{os.cpu_count()} × {model}, Linux {platform.release().split('-')[0]}"


def revision():
    """The commit that is measured, and whether something was changed since."""
    def git(*arguments):
        done = subprocess.run(["git", "-C", REPOSITORY, *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip()
    changed = git("status", "--porcelain", "Sources")
    return (git("rev-parse", "--short=10", "HEAD") or "no commit") + (" and changes" if changed else "")


def asked():
    """The command line without the file names in it."""
    words = sys.argv[1:]
    if "--json" in words:
        at = words.index("--json")
        del words[at:at + 2]
    return " ".join(["scripts/bench", *words])


def began():
    """When a run began, of what, and how busy the machine was."""
    return f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC, Trocket at {revision()}, load {os.getloadavg()[0]:.1f}"


# Above the table of ratios.
HOW_RATIOS_ARE_MADE = (
    "A ratio is the median of the rounds' ratios, each of two figures of the same round, so that what the machine does meanwhile\n"
    "cancels out; it is not the ratio of the two medians above and may even lie on the other side of 1.")
# Where, in a written record, people's own words begin; they are carried over when it is written anew.
REMARKS = "## Remarks\n"


def write_record(verb, text):
    """Writes a verb's table where the specification keeps what was verified."""
    os.makedirs(VERIFICATION, exist_ok=True)
    path = os.path.join(VERIFICATION, f"bench-{verb}.md")
    before = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            before = file.read()
    remarks = before.find(REMARKS)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + ("\n" + before[remarks:] if remarks >= 0 else ""))


class Report:
    """The results of one verb. `samples[metric][contender]` is a list of figures; None stands for a failed try."""

    # A figure that could not be measured is shown as such; only smoke has parts that can be missing as a whole.
    complete = True
    # What leaves something out that the record has is not recorded.
    is_whole = True

    def __init__(self, verb, title):
        self.verb, self.title = verb, title
        self.samples, self.units, self.targets, self.limits, self.notes = {}, {}, [], [], []
        self.began = began()
        engine = os.path.join(REPOSITORY, ".engine", "sing-box")
        self.versions = {
            "sing-box": version_of(engine, "version"),
            "mihomo": version_of(os.path.join(REPOSITORY, ".engine", "mihomo"), "-v"),
        }

    def add(self, metric, contender, value, unit):
        """One figure of one round; None when the try failed."""
        self.units[metric] = unit
        self.samples.setdefault(metric, {}).setdefault(contender, []).append(value)

    def target(self, metric, contender, against, at_least=None, at_most=None):
        """What the ratio contender/against has to be."""
        self.targets.append((metric, contender, against, at_least, at_most))

    def limit(self, metric, contender, against):
        """What a time may be at most, every time: the longest of all tries counts, and none may have failed."""
        self.limits.append((metric, contender, against))

    def median(self, metric, contender):
        """The median of what succeeded, or None."""
        figures = [f for f in self.samples.get(metric, {}).get(contender, []) if f is not None]
        return statistics.median(figures) if figures else None

    def ratio(self, metric, contender, against):
        """The median over rounds of contender/against, round by round, so that a drifting machine cancels out."""
        pairs = zip(self.samples.get(metric, {}).get(contender, []), self.samples.get(metric, {}).get(against, []))
        ratios = [a / b for a, b in pairs if a is not None and b]
        return statistics.median(ratios) if ratios else None

    def ratios(self):
        """The targets with what was measured; what a short run did not try is left out."""
        rows = []
        for metric, contender, against, at_least, at_most in self.targets:
            if not {contender, against} <= self.samples.get(metric, {}).keys():
                continue
            ratio = self.ratio(metric, contender, against)
            reached = None if ratio is None else (
                (at_least is None or ratio >= at_least) and (at_most is None or ratio <= at_most))
            rows.append({**self.figure(metric, contender), "against": against,
                         "ratio": None if ratio is None else round(ratio, 3),
                         "target": f"≥ {at_least}" if at_least is not None else f"≤ {at_most}", "reached": reached})
        return rows + [self.held(*limit) for limit in self.limits if limit[0] in self.samples]

    def held(self, metric, contender, against):
        """One limit with the longest time."""
        figures = self.samples[metric][contender]
        longest = None if None in figures else max(figures)
        ratio = None if longest is None else longest / self.median(metric, against)
        return {**self.figure(metric, contender), "metric": f"{metric}, the longest", "value": longest and round(longest, 4),
                "against": against, "ratio": ratio and round(ratio, 3), "target": "≤ 1.0",
                "reached": ratio is not None and ratio <= 1.0}

    def results(self):
        """What `--json` writes: the targets, then every figure once with nothing it is held against."""
        return self.ratios() + [
            {**self.figure(metric, contender), "against": None, "ratio": None, "target": None, "reached": None}
            for metric, by in self.samples.items() for contender in by]

    def figure(self, metric, contender):
        """A contender's figure by name; only the product's own needs no name before it."""
        value = self.median(metric, contender)
        return {"metric": metric if contender == "Trocket" else f"{contender}: {metric}",
                "value": None if value is None else round(value, 4), "unit": self.units.get(metric)}

    def text(self):
        """The table, in Markdown."""
        contenders = list(dict.fromkeys(c for by in self.samples.values() for c in by))
        lines = [f"# {self.title}", "", f"{machine()}; " + ", ".join(f"{k} {v}" for k, v in self.versions.items()),
                 f"{self.began}; {asked()}", "", "Median (lowest–highest) of interleaved rounds.", "",
                 "| measured | unit | " + " | ".join(contenders) + " |", "|---|---|" + "---|" * len(contenders)]
        for metric, by in self.samples.items():
            cells = [self.cell(by.get(contender)) for contender in contenders]
            lines.append(f"| {metric} | {self.units[metric]} | " + " | ".join(cells) + " |")
        rows = self.ratios()
        if rows:
            lines += ["", HOW_RATIOS_ARE_MADE, "",
                      "| ratio | against | measured | target | reached |", "|---|---|---|---|---|"]
            lines += [f"| {r['metric']} | {r['against']} | {'failed' if r['ratio'] is None else r['ratio']} | {r['target']} | "
                      f"{ {True: 'yes', False: 'no', None: 'not measured'}[r['reached']] } |" for r in rows]
        lines += [""] + self.notes if self.notes else []
        return "\n".join(lines) + "\n"

    @staticmethod
    def cell(figures):
        """One contender's figures as a table cell."""
        if not figures:
            return "–"
        good = [f for f in figures if f is not None]
        failed = len(figures) - len(good)
        if not good:
            return f"failed ×{failed}"
        digits = 3 if statistics.median(good) < 10 else 1
        shown = f"{statistics.median(good):.{digits}f}"
        if min(good) < max(good):
            shown += f" ({min(good):.{digits}f}–{max(good):.{digits}f})"
        return shown + (f", failed ×{failed}" if failed else "")

    def record(self):
        """Writes the table and the ratios where the specification keeps what was verified."""
        write_record(self.verb, self.text())
        self.write_json(os.path.join(VERIFICATION, f"bench-{self.verb}.json"))

    def write_json(self, path):
        """Writes the list of results."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.results(), file, indent=1, ensure_ascii=False)
            file.write("\n")

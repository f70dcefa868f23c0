"""`bench smoke`: one short round of every verb, its ratios next to the last recorded ones, and how long it took. Fails nothing by
time."""

import copy
import importlib
import json
import os
import time

from .report import VERIFICATION, asked, began, machine, write_record

VERBS = {"tunnel": "tunnel", "latency": "latency", "domestic": "domestic", "connect": "connect", "test": "delays",
         "import": "importing", "footprint": "footprint"}
# Seconds all of it is to take.
LIMIT = 180
COLUMNS = ("verb", "metric", "against", "ratio", "recorded", "target")


class Comparison:
    """What was measured now and what was recorded."""

    is_whole = True

    def __init__(self):
        self.rows, self.notes, self.complete, self.began = [], [], True, began()

    def results(self):
        """The results with what was recorded, as `--json` writes them."""
        return self.rows

    def text(self):
        """The table, in Markdown."""
        said = ["# A short look at all of them", "", machine(), f"{self.began}; {asked()}", "",
                "| verb | measured | against | now | recorded | target |", "|---|---|---|---|---|---|"]
        said += ["| " + " | ".join("–" if row[key] is None else str(row[key]) for key in COLUMNS) + " |" for row in self.rows]
        return "\n".join(said + [""] + [note + "  " for note in self.notes]) + "\n"

    def record(self):
        """Writes the table where the specification keeps what was verified."""
        write_record("smoke", self.text())

    def write_json(self, path):
        """Writes the list."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.rows, file, indent=1, ensure_ascii=False)
            file.write("\n")


def recorded(verb):
    """The recorded ratios of a verb by metric and rival."""
    try:
        with open(os.path.join(VERIFICATION, f"bench-{verb}.json"), encoding="utf-8") as file:
            return {(row["metric"], row["against"]): row["ratio"] for row in json.load(file) if row["target"]}
    except (FileNotFoundError, ValueError):
        return {}


def run(options):
    """Every verb once, briefly; one that cannot be measured is named and makes the exit status 1, and the next gets its turn."""
    short = copy.copy(options)
    short.rounds, short.seconds, short.quick, short.full = 1, 1, True, False
    comparison = Comparison()
    start = time.monotonic()
    for verb, module in VERBS.items():
        started = time.monotonic()
        try:
            report = importlib.import_module(f"benchlib.{module}").run(short)
        except Exception as problem:  # whatever stopped one verb, the others are still worth a look
            comparison.notes.append(f"{verb}: not measured: {problem}")
            comparison.complete = False
            continue
        last = recorded(verb)
        comparison.rows += [{"verb": verb, **row, "recorded": last.get((row["metric"], row["against"]))}
                            for row in report.ratios()]
        comparison.notes.append(f"{verb}: {time.monotonic() - started:.0f} s")
    whole = time.monotonic() - start
    comparison.rows.append({
        "verb": "smoke", "metric": "all of it", "value": round(whole, 1), "unit": "s", "against": f"{LIMIT} s",
        "ratio": round(whole / LIMIT, 3), "target": "≤ 1.0", "reached": whole <= LIMIT, "recorded": None})
    comparison.notes.append(f"All of it: {whole:.0f} s of the {LIMIT} it may take.")
    return comparison

"""What a window's sight means: cell by cell against what was expected, and the table a person reads."""

import datetime
import os
import platform
import subprocess
from dataclasses import dataclass

from lablib.lab import REPOSITORY, engine_path

from . import kinds
from .bench import BRIEF, DIRECT, NEWS, OTHERS, SEEN, SILENT, VISIBLE

# A repair is due within so much of the change; a loaded machine is given as much again.
PATIENCE = 2.0
COLUMNS = (*kinds.ORIGINS, "before", "domestic")
EVERY_DOMESTIC = [(name, family) for name in kinds.PAST for family in (4, 6)]


@dataclass
class Finding:
    """A cell that is not as it should be."""

    row: object
    text: str

    def __str__(self):
        return f"kill switch {self.row.kill_switch}, {self.row.name}: {self.text}"


def leaks(row, column):
    """What was seen in one cell of the table: {(name, family): packets}."""
    if column == "before":
        return dict(row.sight.before)
    if column == "domestic":
        return {(f"{name} of {who}", family): count for (who, name, family), count in row.sight.cells.items()
                if name in judged(row)}
    # What only the guard holds back of everybody is no news while the guard is away.
    spared = kinds.GUARDED if row.expected["device"] in (BRIEF, SEEN) else ()
    return {(name, family): count for (who, name, family), count in row.sight.cells.items()
            if who == column and name not in (*kinds.PAST, kinds.BY_ENGINE, *spared)}


def judged(row):
    """The names of what counts as domestic traffic."""
    return kinds.PAST if row.expected["domestic"] in (OTHERS, VISIBLE) else (*kinds.PAST, kinds.BY_ENGINE)


def moments(row, column):
    """When that was, in order."""
    seen = leaks(row, column)
    if column == "domestic":
        found = [t for (_, name, _), times in row.sight.times.items() if name in judged(row) for t in times]
    else:
        found = [t for (who, name, family), times in row.sight.times.items() if who == column and (name, family) in seen
                 for t in times]
    return sorted(found)


def wanted(row, column):
    """What has to be seen in a cell that is expected to be visible, as (name, family)."""
    if column == "before":
        return list(kinds.KEPT_KINDS)
    if column == "domestic":
        return [(f"{name} of {who}", family) for who in kinds.ORIGINS[:-1] for name, family in EVERY_DOMESTIC]
    own = [(name, family) for _, name, family in kinds.cells([column]) if name not in kinds.PAST]
    return [cell for cell in own if cell[0] in kinds.BOUND] if row.expected[column] == SEEN else own


def missing(row, column):
    """What of it was not seen."""
    seen = {**leaks(row, column), **(leaks(row, "any") if column in kinds.ORIGINS else {})}
    return [cell for cell in wanted(row, column) if not seen.get(cell)]


def written(cells):
    """Names with their families."""
    return ", ".join(f"{name} IPv{family}" for name, family in sorted(cells))


def examine(row):
    """Every cell of a window that is not as expected."""
    found = []
    for column in (*COLUMNS, "any"):
        expected = row.expected.get(column, row.expected["user"])
        seen, when = leaks(row, column), moments(row, column)
        text = ", ".join(f"{count} × {name} IPv{family}" for (name, family), count in sorted(seen.items()))
        if expected in (SILENT, OTHERS) and seen:
            flags = set().union(*(row.sight.seen_flags.get((column, *cell), ()) for cell in seen))
            text += f", TCP flags {' '.join(sorted(flags))}" if flags else ""
            found.append(Finding(row, f"{column}: {text} ({(when[0] - row.since) * 1000:.0f} to "
                                      f"{(when[-1] - row.since) * 1000:.0f} ms after it began)"))
        elif expected == BRIEF and lasted(row, column) > row.part.brief_ms * PATIENCE:
            found.append(Finding(row, f"{column}: seen for {lasted(row, column):.0f} ms: {text}"))
        elif expected in (VISIBLE, SEEN) and column != "any" and missing(row, column):
            found.append(Finding(row, f"{column}: not seen: {written(missing(row, column))}"))
    for origin, did in row.sent.items():
        if not did["rounds"] and row.expected[origin] != DIRECT:
            found.append(Finding(row, f"{origin}: not everything was sent, so silence proves nothing"))
    if row.expected["user"] == SILENT and row.sight.others:
        found.append(Finding(row, f"unexplained packets: {dict(row.sight.others)}"))
    return found


def lasted(row, column):
    """How long a column was seen, in milliseconds from its first packet to its last."""
    when = moments(row, column)
    return (when[-1] - when[0]) * 1000 if when else 0.0


def cell(row, column):
    """One cell of the table."""
    seen = leaks(row, column)
    total = sum(seen.values())
    expected = row.expected.get(column)
    if expected in (VISIBLE, SEEN):
        return f"seen {len(wanted(row, column)) - len(missing(row, column))}/{len(wanted(row, column))}"
    if expected == DIRECT:
        return f"direct ({total})" if total else "direct"
    if expected == BRIEF:
        return f"{lasted(row, column):.0f} ms ({total})" if total else "silent"
    return f"**LEAK {total}**" if total else "silent"


def table(windows):
    """The table in Markdown."""
    heads = ["kill switch", "tracked", "state or event", *COLUMNS, "rounds", "longest gap", "remark"]
    rows = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in windows:
        rounds = min(did["rounds"] for did in row.sent.values())
        gap = max(did["gap_ms"] for did in row.sent.values())
        shared = sum(leaks(row, "any").values())
        remark = row.part.note + (f" **LEAK to a resolver nearby over TCP {shared}**"
                                  if shared and row.expected.get("any", row.expected["user"]) == SILENT else "")
        rows.append("| " + " | ".join([
            row.kill_switch, "yes" if row.tracked else "no", row.name, *[cell(row, column) for column in COLUMNS], str(rounds),
            f"{gap:.0f} ms", remark]) + " |")
    return "\n".join(rows)


def excused(windows):
    """What is not judged, each with its reason."""
    made = {}
    for row in windows:
        for column in kinds.ORIGINS[:-1] + ("before",):
            if row.expected[column] in (DIRECT, BRIEF):
                made.setdefault((row.kill_switch, row.name, row.part.note), {})[column] = True
    return [f"- kill switch {switch}, {name} ({', '.join(columns)}): {note}" for (switch, name, note), columns in made.items()]


def made_with():
    """Commit, kernel, engine, date."""
    def said(*command):
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    commit = said("git", "-C", REPOSITORY, "rev-parse", "--short=12", "HEAD")
    changed = said("git", "-C", REPOSITORY, "status", "--porcelain", "--untracked-files=no", "--", "Sources", "namespaces")
    return (f"Commit {commit}{' with changes' if changed else ''}, Linux {platform.release().split('-')[0]}, "
            f"{said(engine_path(), 'version').splitlines()[0]}, {said('nft', '--version')}, "
            f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC.")


def document(parts):
    """The whole report of [(rp_filter, interval in ms, which set, windows, findings)]."""
    every = [row for *_, windows, _ in parts for row in windows]
    text = [
        "# What left the machine", "",
        "Written by `namespaces/leaktest`; do not edit. " + made_with(), "",
        "Every origin sends TCP, UDP (443 and a high port), ICMP, DNS over UDP, TCP, TLS and QUIC's port, over IPv4 and IPv6, to "
        "destinations of its own abroad; questions to the router and to its fe80 address; and TCP, UDP and questions to Chinese "
        "addresses. The captures are taken at the router and at the neighbour which is a second uplink: every frame that the machine "
        "sent on either wire counts, and is judged afterwards.", "",
        *[f"- {who}: {text}" for who, text in kinds.DESCRIPTIONS.items()],
        "- tracked: the kernel tracks connections before there is a guard, as a container's masquerading has it do",
        "- rounds: how often everything was sent in that time by whoever sent least. Questions take turns, a few a round, and a "
        "round counts when everyone's turn has come",
        "- longest gap: the longest pause between two of those rounds", "",
        "`seen`: that many of the probes, and all are demanded. `silent`: none. `direct` is not judged, for the reasons below. "
        "Packets in brackets. A row begins at the very change of the guard its name tells of, as the kernel tells it; what left in "
        f"the {NEWS * 1000:.0f} ms before such news is not judged.", ""]
    for rp_filter, interval, which, windows, findings in parts:
        text += [f"## rp_filter {rp_filter}", "", f"{which} set, {len(windows)} windows, a round every {interval} ms.", "",
                 table(windows), "", "### Findings", "", *([f"- {finding}" for finding in findings] or ["None."]), ""]
    return "\n".join([
        *text, "## Not judged", "", "- a container: what is forwarded goes as before, in every state.",
        "- domestic: in Rule mode it goes directly, past the engine or by the engine, while there is one that is up or coming up; "
        "while there is none, and in Global mode, no program sends any but the engine, which ends what it had begun.",
        "- a TCP reset that no program sends, or \"nobody listens there\": the answer to a packet which came in, or the end of a "
        "connection from before.",
        *excused(every), ""])


def write(path, text):
    """Replaces a report."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)

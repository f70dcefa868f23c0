"""What a window's sight means: cell by cell against what was expected, and the table a person reads."""

import os
from dataclasses import dataclass

from . import kinds
from .bench import BRIEF, DIRECT, SILENT, VISIBLE

# A repair is due within so much of the change; a loaded machine is given as much again.
PATIENCE = 2.0


@dataclass
class Finding:
    """A cell that is not as it should be."""

    row: object
    text: str

    def __str__(self):
        return f"kill switch {self.row.kill_switch}, {self.row.name}: {self.text}"


def leaks(row, origin):
    """What was seen of one origin in a window: {(name, family): packets}."""
    return {(name, family): count for (who, name, family), count in row.sight.cells.items() if who == origin
            # A question to fe80 names its link, as a bound socket does: while the guard is away it is one of those.
            and not (row.brief_ms and row.expected["device"] == BRIEF and name.startswith("fe80") and origin != "any")}


def examine(row):
    """Every cell of a window that is not as expected."""
    found = []
    for origin in (*kinds.ORIGINS, "any"):
        expected = row.expected.get(origin, row.expected["user"])
        seen = leaks(row, origin)
        text = ", ".join(f"{count} × {name} IPv{family}" for (name, family), count in sorted(seen.items()))
        if expected == SILENT and seen:
            when = sorted(t for name, family in seen for t in row.sight.times[origin, name, family])
            found.append(Finding(row, f"{origin}: {text} ({(when[0] - row.event) * 1000:.0f} to "
                                      f"{(when[-1] - row.event) * 1000:.0f} ms after it began)"))
        elif expected == BRIEF:
            lasted = brief(row, origin)
            if lasted > row.brief_ms * PATIENCE:
                found.append(Finding(row, f"{origin}: seen for {lasted:.0f} ms: {text}"))
        elif expected == VISIBLE and origin != "any":
            missing = [f"{name} IPv{family}" for who, name, family in kinds.cells() if who == origin
                       and not row.sight.cells[origin, name, family] and not row.sight.cells["any", name, family]]
            if missing:
                found.append(Finding(row, f"{origin}: not seen: {', '.join(missing)}"))
    for origin, told in row.senders.items():
        if not told["rounds"]:
            found.append(Finding(row, f"{origin}: sent nothing, so silence proves nothing"))
    # While the guard is away these are as sockets bound to an address.
    if row.expected["user"] == SILENT and row.sight.before and row.expected["address"] != BRIEF:
        found.append(Finding(row, f"opened before connect: {dict(row.sight.before)}"))
    if row.expected["user"] == SILENT and row.sight.others:
        found.append(Finding(row, f"unexplained packets: {dict(row.sight.others)}"))
    return found


def brief(row, origin):
    """How long an origin was seen, in milliseconds from its first packet to its last."""
    when = [t for (who, name, family), times in row.sight.times.items() if who == origin for t in times]
    return (max(when) - min(when)) * 1000 if when else 0.0


def cell(row, origin):
    """One cell of the table."""
    seen = leaks(row, origin)
    total = sum(seen.values())
    expected = row.expected.get(origin)
    if expected == VISIBLE:
        kinds_of = [c for c in kinds.cells() if c[0] == origin]
        visible = [c for c in kinds_of if row.sight.cells[c] or row.sight.cells[("any", *c[1:])]]
        return f"seen {len(visible)}/{len(kinds_of)}"
    if expected == DIRECT:
        return f"direct ({total})" if total else "direct"
    if expected == BRIEF:
        return f"{brief(row, origin):.0f} ms ({total})" if total else "silent"
    return f"**LEAK {total}**" if total else "silent"


def table(windows):
    """The table in Markdown."""
    heads = ["kill switch", "state or event", *kinds.ORIGINS, "opened before", "rounds", "longest gap", "remark"]
    rows = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in windows:
        before = sum(row.sight.before.values())
        talk = sorted({f"{label} IPv{family}" for label, family in row.sight.before})
        rounds = min((told["rounds"] for told in row.senders.values()), default=0)
        gap = max((told["gap_ms"] for told in row.senders.values()), default=0)
        shared = sum(leaks(row, "any").values())
        remark = row.note + (f" **LEAK to the router's resolver over TCP {shared}**"
                             if shared and row.expected.get("any", row.expected["user"]) == SILENT else "")
        rows.append("| " + " | ".join([
            row.kill_switch, row.name, *[cell(row, origin) for origin in kinds.ORIGINS],
            f"{before} ({', '.join(talk)})" if before else "silent", str(rounds), f"{gap:.0f} ms", remark]) + " |")
    return "\n".join(rows)


def document(windows, findings, heading):
    """The whole report."""
    return "\n".join([
        "# What left the machine", "",
        "Written by `namespaces/leaktest`; do not edit. " + heading, "",
        "Every origin sends TCP, UDP (443 and a high port), ICMP, DNS over UDP and TCP, and DoT, over IPv4 and IPv6, to destinations "
        "of its own abroad; and DNS and DoT to the router and to its fe80 address. `rounds` is the fewest times any of them went through all "
        "of it in a window, `longest gap` the longest pause between two rounds. The captures are taken at the router and at the neighbour "
        "which is a second uplink, and judged afterwards.", "",
        *[f"- {who}: {text}" for who, text in kinds.DESCRIPTIONS.items()], "",
        "`direct` is by design: forwarded traffic of containers, and what the specification's table of states lets pass. "
        "Connections opened before connect are reset, and refused where that was not possible. Packets in brackets.", "",
        table(windows), "",
        "## Findings", "", *([f"- {finding}" for finding in findings] or ["None."]), ""])


def write(path, text):
    """Replaces a report."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)

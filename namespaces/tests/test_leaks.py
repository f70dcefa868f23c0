"""Nothing leaks: the short leak table. `namespaces/leaktest --full` runs every event under every rp_filter."""

import os

import pytest

from leaklib import events, kinds, verdict
from leaklib.bench import BRIEF, DIRECT, SEEN, SILENT, VISIBLE, Bench


@pytest.fixture(scope="module")
def bench():
    """A bench which has been through the short set, and is gone again."""
    made = Bench(f"leaks-{os.getpid()}")
    try:
        events.run(made)
    finally:
        made.close()
    return made


def rows(bench, kill_switch):
    return [row for row in bench.windows if row.kill_switch == kill_switch]


def test_every_event_ran_to_its_end(bench):
    assert bench.broken == []
    assert len(rows(bench, "off")) >= len(events.SHORT) + 2 and len(rows(bench, "on")) >= len(events.SHORT) + 2


def test_every_probe_is_seen_without_a_tunnel(bench):
    visible = [row for row in bench.windows if row.expected["user"] == VISIBLE]
    assert {row.name for row in visible} >= {"no tunnel", "no tunnel, way out by another uplink", "about to connect", "disconnected"}
    for row in visible:
        assert verdict.examine(row) == []
        assert {cell for cell in row.sight.cells if cell[0] != "any"} >= {
            cell for cell in kinds.cells() if not cell[1].startswith(("router", "fe80"))}


@pytest.mark.parametrize("kill_switch", ["off", "on"])
def test_nothing_leaks(bench, kill_switch):
    judged = rows(bench, kill_switch)
    assert [str(finding) for row in judged for finding in verdict.examine(row)] == []
    assert sum(row.expected["user"] == SILENT for row in judged) >= len(events.SHORT)


def test_it_would_be_seen_by_either_uplink(bench):
    """Without the guard; the way out moved, which is where a bound socket's packets take the other wire."""
    for kill_switch in ("off", "on"):
        without = [row for row in rows(bench, kill_switch) if row.expected["address"] == SEEN]
        assert len(without) == 2
        for row in without:
            assert verdict.missing(row, "address") == [] and verdict.missing(row, "device") == []


@pytest.mark.parametrize("change", ["idle", "idle before", "leak", "leak before", "unexplained", "not seen"])
def test_the_table_can_fail(bench, change):
    """A row that was good is not when something is changed in it."""
    row = next(row for row in rows(bench, "on") if row.name == "connected")
    seen = next(row for row in bench.windows if row.name == "disconnected")
    sight, sent = row.sight, row.sent
    changes = {
        "idle": (sent, "user", {"rounds": 0, "gap_ms": 0}), "idle before": (sent, "before", {"rounds": 0, "gap_ms": 0}),
        "leak": (sight.cells, ("user", "DoQ", 6), 1), "leak before": (sight.before, ("TCP closed upload", 4), 1),
        "unexplained": (sight.others, "192.0.2.1 udp/443", 1), "not seen": (seen.sight.before, ("UDP talkative", 6), 0),
    }
    place, key, value = changes[change]
    former = dict(place)
    if change.startswith("leak"):
        sight.times.setdefault(key if len(key) == 3 else ("before", *key), []).append(row.since)
    place[key] = value
    try:
        assert verdict.examine(seen if change == "not seen" else row) != []
    finally:
        place.clear()
        place.update(former)


def test_containers_go_as_before_in_every_state(bench):
    for row in bench.windows:
        # Without a way out, and in the moment of a short window, there may be nothing to see.
        if row.until - row.since > 0.5 and "default route" not in row.name:
            assert verdict.leaks(row, "container"), row.name


def test_what_is_not_judged_has_a_reason(bench):
    for row in bench.windows:
        if {row.expected[origin] for origin in kinds.ORIGINS[:-1]} & {DIRECT, BRIEF}:
            assert row.part.note, row.name


def test_a_guard_that_others_delete_stays_or_is_away_for_a_moment_only(bench):
    row = next(row for row in rows(bench, "on") if row.name.startswith("nft flushed"))
    assert verdict.leaks(row, "user") == {}
    if BRIEF in row.expected.values():
        assert verdict.lasted(row, "device") <= row.part.brief_ms * verdict.PATIENCE
    else:
        assert verdict.leaks(row, "device") == {}

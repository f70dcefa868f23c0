#!/usr/bin/python3
"""Tells the story of story.py in a lab of its own, printing every step with what proves it. `scripts/demo` runs it."""

import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from lablib import netns, story  # noqa: E402
from lablib.lab import Lab  # noqa: E402

COLOUR = sys.stdout.isatty() and "NO_COLOR" not in os.environ


def paint(code, text):
    """Colours text for a terminal, and leaves it alone for anything else."""
    return f"\033[{code}m{text}\033[0m" if COLOUR else text


class Printer:
    """Prints proofs as they come, and counts them."""

    def __init__(self):
        self.passed = self.failed = 0

    def proof(self, statement, holds, seen):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
        mark = paint("32", "ok    ") if holds else paint("31;1", "FAILED")
        print(f"  {mark} {statement}" + (f"  [{seen}]" if seen else ""), flush=True)

    def show(self, text):
        for line in text.rstrip("\n").splitlines():
            print("      " + paint("2", line))


def main():
    printer = Printer()
    began = time.monotonic()
    print("raising the lab …", end=" ", flush=True)
    lab = Lab.up(f"demo-{os.getpid()}", owner=os.getpid())
    print(f"{time.monotonic() - began:.1f} s")
    told = story.Story(lab, printer)
    try:
        for number, step in enumerate(story.STEPS, 1):
            chinese, english = story.title(step)
            print(paint("1", f"\n{number:2}. {chinese} · {english}"), flush=True)
            try:
                step(told)
            except Exception as problem:  # one broken step must not hide what the others would show
                printer.proof("the step ran to its end", False, f"{type(problem).__name__}: {problem}")
    finally:
        log = ""
        try:
            log = told.product.worker_log()
        except OSError:
            pass
        told.close()
        lab.down()
    if printer.failed and log:
        print("\nthe worker's last words:")
        printer.show("\n".join(log.splitlines()[-30:]))
    if netns.exists(lab.name):
        printer.proof("the lab is gone", False, lab.directory)
    print(f"\nin {time.monotonic() - began:.0f} s")
    print(f"{printer.passed} passed, {printer.failed} failed")
    return 1 if printer.failed else 0


if os.geteuid() != 0:
    sys.exit("demo: network namespaces need root")
try:
    sys.exit(main())
except netns.CommandFailed as problem:
    print(f"demo: {problem}", file=sys.stderr)
    print("0 passed, 1 failed")
    sys.exit(1)

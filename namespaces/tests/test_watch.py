"""`status --watch`: what happens is shown without being asked for again."""

import json
import subprocess

from lablib import lines

FIRST = lines.LINES[0][1]


def test_who_watches_sees_a_switch(connected, lab):
    """The worker does not hear of it."""
    watching = lab.user_popen(*connected.controller_command("status", "--watch", "--json"), stdout=subprocess.PIPE)

    def is_shown(key, value):
        # A line a second at least: the rates.
        return any(json.loads(line).get(key) == value for _, line in zip(range(30), watching.stdout))

    try:
        assert is_shown("line", FIRST)
        connected.controller("select", lines.LINES[1][1])
        assert is_shown("line", lines.LINES[1][1])
        connected.controller("mode", "global")
        assert is_shown("mode", "global")
    finally:
        watching.kill()
        watching.wait()

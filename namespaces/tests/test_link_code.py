"""The link as a QR code: what a camera sees of the terminal is the link, on dark and on light; nobody else gets it."""

import json

import pytest
import zbar
from PIL import Image, ImageDraw

from lablib import picture, plan
from lablib.terminal import Terminal

MODULE = 6


def camera(capture, background, foreground):
    """What a camera reads off a terminal of these colours: the texts of all codes in view."""
    shown = list(picture.cells(capture.replace("\r", "")))
    size = [(max(cell[which] for cell in shown) + 1) * MODULE * scale for which, scale in ((1, 1), (0, 2))]
    image = Image.new("L", size, background)
    draw = ImageDraw.Draw(image)
    for row, column, text, _, style in shown:
        front, back = (Image.new("RGB", (1, 1), style[ground]).convert("L").getpixel((0, 0)) if style[ground] else default
                       for ground, default in (("foreground", foreground), ("background", background)))
        if style["reverse"]:
            front, back = back, front
        for half, inked in ((0, "█▀"), (1, "█▄")):
            left, top = column * MODULE, (2 * row + half) * MODULE
            draw.rectangle((left, top, left + MODULE - 1, top + MODULE - 1), fill=front if text in inked else back)
    scanner = zbar.ImageScanner()
    scanner.parse_config("enable")
    scanner.scan(zbar.Image(*image.size, "Y800", image.tobytes()))
    return [symbol.data for symbol in scanner.results]


def reads(capture, link):
    """Asserts that a camera reads the link off a capture, whichever colours the terminal has."""
    for colours in ((0, 255), (255, 0), (40, 200), (230, 60)):
        assert camera(capture, *colours) == [link], colours


def printed(product, columns, environment=None):
    """A terminal in which `profile --qr` ran in a shell, and what it said last."""
    shown = Terminal(product.lab, ["sh", "-c", '"$@"; echo "ended: $?"; exec cat', "-", *product.controller_command("profile", "--qr")],
                     columns=columns, rows=60, environment=environment)
    return shown, shown.see("ended: ")


@pytest.mark.parametrize("environment", [{}, {"LANG": "C", "LC_ALL": "C"}, {"NO_COLOR": "1"}, {"TERM": "linux"}])
def test_terminal_shows_the_link(product, environment):
    """In half blocks, and in blanks where characters are ASCII; said to be a secret."""
    shown, text = printed(product, 120, environment)
    assert "ended: 0" in text and "as good as a password" in text
    assert ("▀" in text) == ("LC_ALL" not in environment)
    reads(shown.text(styled=True), product.lab.subscription)
    shown.close()


def test_window_without_room_is_told(product):
    shown, text = printed(product, 24)
    assert "ended: 1" in text and "Enlarge the window" in text.replace("\n", " ")
    shown.close()


def test_only_a_terminal_gets_it_unless_forced(product):
    refused = product.controller("profile", "--qr", check=False)
    assert refused.returncode == 64 and not refused.stdout
    assert "--force" in refused.stderr and plan.TOKEN not in refused.stderr
    forced = product.controller("profile", "--qr", "--force", "--quiet", environment={"LANG": "C.UTF-8"})
    assert not forced.stderr
    reads(forced.stdout, product.lab.subscription)
    rows = product.json("profile", "--qr")["qr"]
    blank = [" " * 2 * (len(rows) + 8)] * 4
    drawn = blank + ["  " * 4 + row.replace("1", "██").replace("0", "  ") + "  " * 4 for row in rows] + blank
    reads("\n".join("\033[38;5;16;48;5;231m" + row for row in drawn), product.lab.subscription)


def test_screen_shows_it_until_a_key(product):
    shown = Terminal(product.lab, product.controller_command())
    shown.see("Disconnected")
    shown.keys("r")
    shown.see("Any key closes")
    reads(shown.text(styled=True), product.lab.subscription)
    shown.resize(30, 12)
    shown.see("Too small")
    shown.resize(34, 12)
    shown.see("needs a window of")
    shown.resize(100, 40)
    shown.see("Any key closes")
    reads(shown.text(styled=True), product.lab.subscription)
    with open(f"/proc/{shown.pid()}/cmdline", encoding="utf-8") as file:
        assert plan.TOKEN not in file.read()
    shown.keys("q")
    shown.see("Disconnected", "q quit")
    shown.keys("q")
    assert shown.wait_for_end() == 0
    assert plan.TOKEN not in product.controller("logs", "--source", "controller").stdout
    shown.close()


def test_screen_without_colours_names_the_verb(product):
    shown = Terminal(product.lab, product.controller_command(), environment={"NO_COLOR": "1"})
    shown.see("Disconnected")
    shown.keys("r")
    shown.see("profile --qr")
    shown.close()


def test_subscription_without_a_link_has_no_code(product):
    state = product.lab.path("home", str(plan.USER), "linkless")
    command = [product.controller_command()[0], "--state-dir", state]
    product.lab.user(*command, "import", "-", input="ss://YWVzLTI1Ni1nY206cGFzcw@192.0.2.1:8388#one\n")
    done = product.lab.user(*command, "profile", "--qr", "--json", check=False)
    assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (1, "no-link")
    product.lab.user(*command, "forget")

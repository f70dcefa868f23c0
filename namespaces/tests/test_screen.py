"""The single screen, the real program in tmux: every key, the main states, every way out."""

import os
import re
import signal

import pytest

from lablib import lines, plan
from lablib.lab import wait_until
from lablib.terminal import Terminal


@pytest.fixture
def screen(product):
    """The screen of a user who is not connected, 80x24, in English."""
    product.controller("disconnect", check=False)
    product.controller("select", "auto")
    product.controller("mode", "rule")
    shown = Terminal(product.lab, product.controller_command())
    shown.see("Disconnected", "automatic, the fastest line")
    yield shown
    shown.close()
    product.controller("disconnect", check=False)


def chosen(product):
    """The name of the selected line."""
    return next((name for name, line in product.lines().items() if line["selected"]), None)


def used(pid):
    """Processor time of a process, in ticks."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13]))


def test_list_shows_lines_regions_badges_and_quota(screen):
    text = screen.text()
    for part in ("🇭🇰 香港 01 x1.5", "vmess", "×1.5", "×0.5", "hysteria2", "Quota", "2027-01-01", "Kill switch"):
        assert part in text
    assert lines.NOTES[0] not in text


def test_columns_stay_aligned(screen):
    """Whatever a name holds, the protocol begins in the same column (a wide character takes two)."""
    columns = set()
    for row in screen.rows():
        for kind in ("trojan", "vmess", "vless", "tuic", "anytls"):
            if kind in row and "Line " not in row:
                before = row[:row.index(kind)]
                columns.add(sum(2 if "\u2e80" <= c <= "\uffef" else 0 if c in "\u200d\ufe0f" else 1 for c in before))
    assert len(columns) == 1


def test_filter_as_you_type(screen):
    screen.keys("/")
    screen.type("jp")
    screen.see("/ jp", "日本")
    screen.miss("香港")
    screen.keys("Escape")
    screen.see("香港")


def test_sort_goes_round(screen):
    for name in ("latency", "name", "multiplier", "provider's order"):
        screen.keys("s")
        screen.see(f"Sort {name}")


def test_help_and_back(screen):
    screen.keys("?")
    screen.see("Help", "kill switch: nothing leaves")
    screen.keys("Escape")
    screen.see("Sort")


def test_enter_selects(screen, product):
    screen.keys("/")
    screen.type("jp")
    screen.keys("Enter", "Enter")
    screen.see("Line 🇯🇵 日本")
    wait_until(lambda: chosen(product) == lines.LINES[1][1], 10, "the choice is stored")


def test_mode_and_kill_switch_are_remembered(screen, product):
    screen.see("Mode rule")
    screen.keys("m")
    screen.see("Mode global")
    wait_until(lambda: product.json("mode")["mode"] == "global", 10, "the mode is stored")
    screen.keys("m")
    screen.see("Mode rule")
    before = "Kill switch on" in screen.text()
    screen.keys("k")
    screen.see("Kill switch off" if before else "Kill switch on")
    screen.keys("k")
    screen.see("Kill switch on" if before else "Kill switch off")


def test_test_all_shows_figures_and_causes(screen):
    screen.keys("t")
    screen.see("Testing", seconds=5)
    screen.see("lines answer", seconds=40)
    assert " ms" in screen.text()
    assert "timeout" in screen.text() or "refused" in screen.text()


def test_test_can_be_cancelled(screen):
    screen.keys("t")
    screen.see("Testing", "t cancel", seconds=5)
    screen.keys("t")
    screen.see("t test", seconds=5)
    screen.miss("Testing", seconds=5)


def test_connect_switch_and_leave(screen, product):
    """Space connects and proves, Enter switches live, the lists show traffic, q leaves the tunnel running."""
    screen.keys("/")
    screen.type("hk")
    screen.keys("Enter", "Enter")
    screen.see("Line 🇭🇰 香港")
    screen.keys("Escape", "Space")
    screen.see("Connected", "line answers", seconds=30)
    assert product.status()["state"] == "connected"
    screen.keys("/")
    screen.type("jp")
    screen.keys("Enter", "Enter")
    screen.see("Line 🇯🇵 日本")
    wait_until(lambda: chosen(product) == lines.LINES[1][1], 10, "switched")
    screen.keys("Escape", "c")
    screen.see("Live connections")
    screen.keys("Escape", "l")
    screen.see("Log · worker")
    screen.keys("Tab")
    screen.see("Log · engine")
    screen.keys("Escape", "q")
    assert screen.wait_for_end() == 0
    assert product.status()["state"] == "connected"


def test_changes_pressed_quickly_all_count(screen, product):
    """A choice, a connect and another choice, faster than any of them is done: the last choice holds, live and stored."""
    screen.keys("/")
    screen.type("hk")
    screen.keys("Enter", "Enter", "Space", "Escape", "/")
    screen.type("jp")
    screen.keys("Enter", "Enter", "Escape")
    screen.see("Connected", "Line 🇯🇵 日本", seconds=30)
    wait_until(lambda: chosen(product) == lines.LINES[1][1], 20, "the last choice is stored")
    screen.see("line answers", "Line 🇯🇵 日本", seconds=20)


def test_changes_from_elsewhere_appear(screen, product):
    product.controller("select", lines.LINES[3][1])
    screen.see("Line 🇺🇸 美国")
    product.controller("connect")
    screen.see("Connected", seconds=20)
    product.controller("disconnect")
    screen.see("Disconnected")


def test_mouse(screen, product):
    row = screen.row("🇸🇬 新加坡 |")
    screen.click(row, 20)
    screen.see("▸  3")
    screen.click(row, 20)
    screen.see("Line 🇸🇬 新加坡")
    screen.click(screen.row("Disconnected"), 3)
    screen.see("Connected", seconds=9)
    screen.click(screen.row("Connected"), 3)
    screen.see("Disconnected", seconds=20)


def test_pasted_link_is_masked_and_imported(screen, product):
    screen.keys("i")
    screen.see("Import a subscription")
    screen.paste(product.lab.subscription)
    shown = screen.see(f"https://{plan.SUB_NAME}/•")
    assert plan.TOKEN not in shown
    screen.keys("Enter")
    screen.see("The subscription is ready", seconds=40)
    assert plan.TOKEN not in screen.text()
    with open(f"/proc/{screen.pid()}/cmdline", encoding="utf-8") as file:
        assert plan.TOKEN not in file.read()


def test_update(screen):
    screen.keys("u")
    screen.see("The subscription is ready", seconds=40)


def test_log_is_copied_to_the_clipboard(screen):
    screen.keys("l")
    screen.see("Log · worker", "info worker:")
    screen.keys("y")
    screen.see("Copied")
    wait_until(lambda: "info worker:" in screen.tmux("show-buffer", check=False), 5, "the terminal has the log")


def test_resize(screen):
    screen.resize(120, 40)
    screen.see("q quit")
    assert max(len(row) for row in screen.rows()) > 100
    screen.resize(40, 12)
    screen.see("Disconnected", "q quit")
    screen.resize(20, 5)
    screen.see("Too small")
    screen.resize(80, 24)
    screen.see("Quota", "q quit")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, signal.SIGABRT])
def test_terminal_is_given_back(screen, number):
    os.kill(screen.pid(), number)
    screen.wait_for_end(20)
    assert screen.value("#{alternate_on} #{mouse_any_flag} #{keypad_flag}") == "0 0 0"


def test_idle_costs_nothing(screen):
    pid = screen.pid()
    before = used(pid)
    with pytest.raises(AssertionError):
        screen.see("nothing of the kind", seconds=4)
    assert used(pid) - before <= 1


def test_first_words_in_both_languages(product):
    for language, words in (("en", ("Disconnected", "Quota")), ("zh", ("未连接", "流量", "断网保护"))):
        shown = Terminal(product.lab, product.controller_command(), language=language)
        shown.see(*words)
        shown.close()


def test_without_colour_and_without_utf8(product):
    shown = Terminal(product.lab, product.controller_command(), environment={"NO_COLOR": "1"})
    shown.see("Disconnected")
    assert not re.search(r"\033\[[0-9;]*(3[0-7]|38;5;\d+)m", shown.text(styled=True))
    shown.close()
    shown = Terminal(product.lab, product.controller_command(), environment={"LANG": "C"})
    assert shown.see("o Disconnected", "HK").isascii()
    shown.close()


def test_linux_console_has_letters_for_flags(product):
    shown = Terminal(product.lab, product.controller_command(), term="linux")
    assert "🇭🇰" not in shown.see("Disconnected", "HK")
    shown.close()


def test_dumb_terminal_is_refused_with_a_way_out(product):
    shown = Terminal(product.lab, product.controller_command(), term="dumb")
    assert shown.wait_for_end() == 64
    assert "cannot move its cursor" in shown.tmux("capture-pane", "-p", "-S", "-9")
    shown.close()


def test_newcomer_is_told_what_to_do(product):
    empty = product.lab.path("home", str(plan.USER), "empty")
    product.lab.user("mkdir", "-p", empty)
    command = [*product.controller_command()[:1], "--state-dir", empty]
    shown = Terminal(product.lab, command)
    shown.see("Welcome to Trocket", "Press i, paste the link")
    shown.keys("t")
    shown.see("Press i to import")
    shown.close()

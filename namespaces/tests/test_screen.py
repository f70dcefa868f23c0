"""The single screen, the real program in tmux: every key, the main states, every way out."""

import os
import re
import signal
import time

import pytest

from lablib import lines, plan
from lablib.lab import wait_until
from lablib.product import children, process_status, runs
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


def woken(pid, seconds):
    """How often a process wakes in that time: so often has it gone to sleep of its own accord, whichever of its threads."""
    def sleeps():
        return sum(int(process_status(f"{pid}/task/{thread}")["voluntary_ctxt_switches"])
                   for thread in os.listdir(f"/proc/{pid}/task"))

    before = sleeps()
    time.sleep(seconds)  # the measurement is of time that passes
    return sleeps() - before


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


def test_a_line_that_does_not_answer_is_asked_once_more(screen, product):
    """With patience, so that one slow answer does not call it dead."""
    def asks_patiently():
        for child in children(screen.pid()):
            try:
                with open(f"/proc/{child}/cmdline", encoding="utf-8") as file:
                    if "--proof" in file.read().split("\0"):
                        return True
            except (FileNotFoundError, ProcessLookupError):
                pass
        return False

    product.controller("select", lines.LINES[0][1])
    server = plan.ABROAD4.format(lines.LINES[0][0])
    product.lab.blackhole(server)
    try:
        screen.keys("Space")
        wait_until(asks_patiently, 30, "the line is asked once more")
        screen.see("Connected", "line not answering")
    finally:
        product.lab.blackhole(server, False)


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


def test_link_broken_into_lines_is_imported(screen, product):
    """As mail and chat break it; what an earlier attempt was told is gone by then."""
    screen.keys("i")
    screen.paste("lorem ipsum\n")
    screen.keys("Enter")
    screen.see("neither", "stays as it was", seconds=20)
    link = product.lab.subscription
    screen.keys("i")
    screen.miss("stays as it was")
    screen.paste(f"{link[:14]}\n  {link[14:30]}\n{link[30:]}\n\n")
    screen.see(f"https://{plan.SUB_NAME}/•")
    screen.keys("Enter")
    screen.see("The subscription is ready", seconds=40)


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
    wait_until(lambda: max(len(row) for row in screen.rows()) > 100, 10, "the screen fills the wider terminal")
    screen.see("q quit")
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
    wait_until(lambda: woken(pid, 3) == 0, 20, "the screen sleeps")


def test_figures_cost_little(screen):
    """While rates and clock change every second: a few wakes each, and nothing between."""
    screen.keys("Space")
    screen.see("Connected", "line answers", seconds=30)
    assert woken(screen.pid(), 5) <= 100


def test_dropped_terminal_leaves_the_tunnel(screen, product):
    """As when SSH breaks off: the screen ends, the tunnel does not."""
    screen.keys("Space")
    screen.see("Connected", "line answers", seconds=30)
    pid = screen.pid()
    screen.close()
    wait_until(lambda: not runs(pid), 10, "the screen ends")
    assert product.status()["state"] == "connected"


def test_worker_dies_and_comes_back(screen, product):
    """Said at once, with what to do; lines can still be measured, and a key finds the new worker."""
    product.kill()
    screen.see("Worker unavailable", "disconnect repairs")
    screen.keys("t")
    screen.see("Testing", seconds=5)
    screen.see("lines answer", seconds=40)
    product.start()
    screen.keys("Down")
    screen.see("Disconnected")
    screen.miss("Worker unavailable")


def test_sequences_of_other_keys_do_nothing(screen):
    """F5, Ctrl-Up, focus and other reports, pasted letters: those in them are no commands."""
    before = screen.text()
    for sequence in ("\033[15~", "\033[1;5A", "\033[I", "\033[O", "\033[200~qkt m\033[201~", "\033[?1;2c", "\033[97;5u", "\033Om",
                     "\033]11;rgb:t/k/q\007"):
        screen.type(sequence)
    screen.keys("?")
    screen.see("Help")
    screen.keys("Escape")
    screen.miss("Help")
    assert screen.text() == before


def test_stopped_and_continued(product):
    """Ctrl-Z gives the terminal to the shell, fg brings the screen back."""
    shown = Terminal(product.lab, ["bash", "--norc", "-i"])
    shown.type(" ".join(product.controller_command()))
    shown.keys("Enter")
    shown.see("Disconnected", "q quit")
    shown.keys("C-z")
    shown.see("Stopped")
    shown.type("fg")
    shown.keys("Enter")
    shown.see("Disconnected", "q quit")
    shown.keys("q")
    shown.see("$")
    shown.close()


def test_five_thousand_lines(product):
    """Within 30 MiB."""
    state = product.lab.path("home", str(plan.USER), "many")
    command = [product.controller_command()[0], "--state-dir", state]
    links = "".join(f"ss://YWVzLTI1Ni1nY206cGFzcw@192.0.2.{n % 250}:{n + 1000}#香港 {n} x1.5\n" for n in range(5000))
    product.lab.user(*command, "import", "-", input=links, timeout=120)
    shown = Terminal(product.lab, command, columns=120, rows=50)
    shown.see("Lines 5000", "1-40/5001")
    shown.keys(*["PageDown", "Down", "s", "End", "Home"] * 20)
    shown.see("1-40/5001")
    assert int(process_status(shown.pid())["VmRSS"].split()[0]) <= 30 * 1024
    shown.close()
    product.lab.user(*command, "forget")


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


def test_utf8_is_understood_where_the_locale_is_ascii(product):
    """As after SSH to a machine without a locale: nothing of a paste is lost, and names are found."""
    shown = Terminal(product.lab, product.controller_command(), environment={"LANG": "C", "LC_ALL": "C"})
    shown.see("Disconnected")
    shown.keys("/")
    shown.type("日本")
    shown.see("/ ????")
    shown.miss("SG ")
    shown.see("2 JP")
    shown.keys("Escape", "i")
    shown.paste("vmess://香港#é🇭🇰 end")
    shown.see("vmess://*", "17 characters")
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

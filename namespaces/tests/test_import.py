"""Importing over the lab's network: what a bad provider sends is a clear error, and the old subscription stays."""

import json
import os
import shutil
import time

import pytest

from lablib import lines, plan
from lablib.capture import Capture

BASE = f"https://{plan.SUB_NAME}"
BAD = [
    ("/bad/empty", "empty", 65),
    ("/bad/html", "not-a-subscription", 65),
    ("/bad/json-error", "provider-error", 65),
    ("/bad/no-proxies", "no-lines", 65),
    ("/bad/403", "http", 65),
    ("/bad/404", "http", 65),
    ("/bad/500", "http", 75),
    ("/bad/loop", "too-many-redirects", 65),
    ("/bad/downgrade", "fetch", None),
    ("/bad/truncated", "fetch", 75),
    ("/bad/oversize", "too-large", 65),
    ("/bad/bomb", "too-large", 65),
]


@pytest.mark.parametrize("path, code, status", BAD, ids=[path.rsplit("/", 1)[1] for path, _, _ in BAD])
def test_bad_provider(product, path, code, status):
    before = product.json("lines")
    done = product.controller("import", BASE + path, "--json", check=False, timeout=90)
    told = product_error(done)
    assert told["code"] == code
    assert done.returncode in ((status,) if status else (65, 75))
    assert told["message"] and told["remedy"]
    assert product.json("lines") == before


def product_error(done):
    """The error object of a failed verb; its text must not hold the link's path, which is the credential."""
    assert done.returncode != 0, done.stdout
    assert "/bad/" not in done.stderr + done.stdout
    return json.loads(done.stdout)["error"]


def test_an_import_asks_no_line(product, lab):
    """The engine is started with what was imported, and its `auto` would go round all lines."""
    with Capture(lab, "udp or tcp") as seen:
        product.controller("import", lab.subscription)
        seen.barrier()
    assert seen.lines(f"dst host {plan.SUB4} or dst host {plan.SUB6}") != []
    # A connection of before may still say goodbye.
    asks = "(udp or tcp[13] & 2 != 0 or (ip6[6] = 6 and ip6[53] & 2 != 0))"
    assert seen.lines(f"{asks} and (dst net 198.51.100.0/24 or dst net 2001:db8:2::/48)") == []


def test_a_stranger_posing_as_the_provider(product):
    told = product_error(product.controller("import", f"https://{plan.SELF_SIGNED_NAME}/s/{plan.TOKEN}", "--json", check=False))
    assert told["code"] == "tls" and plan.TOKEN not in str(told)


def test_no_such_host_and_nobody_there(product):
    for link in (f"https://nowhere.example.net/{plan.TOKEN}", f"https://{plan.REFUSED4}:9/{plan.TOKEN}"):
        done = product.controller("import", link, "--json", check=False)
        assert (product_error(done)["code"], done.returncode) == ("fetch", 75)


@pytest.mark.parametrize("path", [f"/gzip/{plan.TOKEN}", f"/deflate/{plan.TOKEN}", f"/redirect/5/{plan.TOKEN}"])
def test_encodings_and_redirects(product, path):
    report = product.json("import", BASE + path, "--dry-run")
    assert len(report["lines"]) == 10 and report["quota"]["total"] == lines.QUOTA["total"]


def test_one_redirect_too_many(product):
    done = product.controller("import", f"{BASE}/redirect/6/{plan.TOKEN}", "--json", check=False)
    assert product_error(done)["code"] == "too-many-redirects"


def test_a_plain_http_link_is_taken_with_a_warning(product):
    done = product.controller("import", f"http://{plan.SUB_NAME}/s/{plan.TOKEN}", "--dry-run")
    assert "plain http" in done.stdout


def test_share_links_and_standard_input(product):
    report = product.json("import", f"{BASE}/links/{plan.TOKEN}", "--dry-run")
    assert (report["format"], len(report["lines"])) == ("links", 3)
    report = product.json("import", "-", "--dry-run", input=lines.clash_subscription())
    assert (report["format"], len(report["lines"])) == ("clash", 10)


def test_the_link_is_in_no_file_others_can_read(product):
    product.controller("import", f"{BASE}/s/{plan.TOKEN}")
    root = product.state_directory
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                if plan.TOKEN.encode() in file.read():
                    assert os.stat(path).st_mode & 0o077 == 0, path


def test_the_selection_survives_a_renamed_line(product, lab):
    product.controller("select", lines.LINES[3][1])
    text = lines.clash_subscription().replace(lines.LINES[3][1], "🇺🇸 洛杉矶 新名字")
    report = product.json("import", "-", input=text)
    assert report["selection"]["kept"] and report["selection"]["line"] == "🇺🇸 洛杉矶 新名字"
    product.controller("import", lab.subscription)


@pytest.fixture
def with_rule_set(lab):
    """The provider's sing-box configuration with a remote rule-set on the provider's host; yields its link."""
    document = lines.sing_box_subscription()
    document["route"]["rule_set"] = [
        {"type": "remote", "tag": "far", "format": "binary", "url": f"{BASE}/files/far.srs"}]
    document["route"]["rules"].append({"rule_set": ["far"], "action": "route", "outbound": "direct"})
    with open(lab.path("www", "with-set"), "w", encoding="utf-8") as file:
        json.dump(document, file)
    shutil.copy(os.path.join(lab.path("rule-sets"), "geoip-cn.srs"), lab.path("www", "far.srs"))
    yield f"{BASE}/files/with-set"
    for name in ("with-set", "far.srs"):
        os.unlink(lab.path("www", name))


def test_everything_is_fetched_through_the_line_while_connected(connected, lab, with_rule_set):
    exits = {lines.exit4(lines.LINES[0][1]), lines.exit6(lines.LINES[0][1])}
    with Capture(lab, f"host {plan.SUB4} or host {plan.SUB6} or udp") as capture:
        for verb in (("import", with_rule_set), ("update",), ("rule-sets", "--refresh")):
            began = time.time()
            told = connected.json(*verb)
            sets = told["ruleSets"] if isinstance(told, dict) else told
            assert [s["status"] for s in sets if s["tag"] == "far"] == ["cached"], sets
            visits = [e for e in lab.events("world", began, host=plan.SUB_NAME) if "http" in e]
            assert "/files/far.srs" in {e["http"] for e in visits}
            assert {e["from"] for e in visits} <= exits, visits
        capture.barrier()
        assert capture.lines(f"host {plan.SUB4} or host {plan.SUB6}") == []
    connected.controller("import", lab.subscription)


def test_without_a_connection_the_router_sees_the_fetch(product, lab, with_rule_set):
    """So that the silence in the test above means something."""
    with Capture(lab, f"host {plan.SUB4} or host {plan.SUB6} or udp") as capture:
        product.controller("import", with_rule_set, "--dry-run")
        capture.barrier()
        assert capture.lines(f"host {plan.SUB4} or host {plan.SUB6}")

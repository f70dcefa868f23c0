"""`bench tunnel`: throughput through shadowsocks-2022, TCP single and four streams, up and down, and UDP as offered."""

import json
import subprocess

from .contenders import EngineAlone, MihomoRoot, NoProxy, SingBoxRoot, Trocket
from .stage import raised
from .report import Report

TCP = [("download, 1 stream", ["-R"]), ("upload, 1 stream", []), ("download, 4 streams", ["-R", "-P", "4"]),
       ("upload, 4 streams", ["-P", "4"])]
UDP = [("UDP up at {} Mbit/s", []), ("UDP down at {} Mbit/s", ["-R"])]
OFFERED = (200, 400, 800)
DATAGRAM = 1400


def iperf(contender, seconds, *arguments):
    """What iperf3 reports at its end, or None when it failed."""
    try:
        done = contender.lab.exec(
            "client", "iperf3", "-c", contender.target, "-p", contender.port, "-J", "-t", seconds,
            "--connect-timeout", "3000", *arguments, check=False, timeout=seconds + 8)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout)["end"] if done.returncode == 0 else None


def tcp_rate(end):
    """Gbit/s that arrived."""
    return end["sum_received"]["bits_per_second"] / 1e9 if end else None


def udp_rate(end):
    """Mbit/s that arrived."""
    if not end:
        return None
    total = end["sum"]
    return (total["packets"] - total["lost_packets"]) * DATAGRAM * 8 / total["seconds"] / 1e6


def run(options):
    """Interleaved rounds over all contenders."""
    report = Report("tunnel", "Throughput through shadowsocks-2022")
    with raised("bench") as (lab, product):
        contenders = [NoProxy(lab), EngineAlone(lab), SingBoxRoot(lab), MihomoRoot(lab), Trocket(lab, product)]
        for _ in range(options.rounds):
            for contender in contenders:
                contender.start()
                try:
                    measure(report, contender, options.seconds)
                finally:
                    contender.stop()
    for download in ("download, 1 stream", "download, 4 streams"):
        report.target(download, "Trocket", "sing-box root", at_least=1.5)
        report.target(download, "Trocket", "mihomo root", at_least=2.0)
        report.target(download, "Trocket", "engine alone", at_least=0.9)
    for upload in ("upload, 1 stream", "upload, 4 streams"):
        report.target(upload, "Trocket", "sing-box root", at_least=1.0)
    for title, _ in UDP:
        report.target(title.format(400), "Trocket", "mihomo root", at_least=1.3)
    return report


def measure(report, contender, seconds):
    """One contender's turn in a round."""
    for title, arguments in TCP:
        report.add(title, contender.name, tcp_rate(iperf(contender, seconds, *arguments)), "Gbit/s")
    for offered in OFFERED:
        for title, arguments in UDP:
            end = iperf(contender, seconds, "-u", "-b", f"{offered}M", "-l", DATAGRAM, *arguments)
            report.add(title.format(offered), contender.name, udp_rate(end), "Mbit/s")

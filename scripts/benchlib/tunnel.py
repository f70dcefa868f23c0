"""`bench tunnel`: throughput through shadowsocks-2022, TCP in 1, 4 and 32 streams, up and down, and UDP as offered.

With --full also one stream down and up through each of the other protocols."""

from lablib import lines

from .contenders import EngineAlone, MihomoRoot, NoProxy, SingBoxRoot, Trocket
from .measuring import iperf, processor_seconds, tcp_rate
from .report import Report
from .stage import raised

TCP = [("download, 1 stream", ["-R"]), ("upload, 1 stream", []), ("download, 4 streams", ["-R", "-P", "4"]),
       ("upload, 4 streams", ["-P", "4"]), ("download, 32 streams", ["-R", "-P", "32"]), ("upload, 32 streams", ["-P", "32"])]
UDP = [("UDP up at {} Mbit/s", []), ("UDP down at {} Mbit/s", ["-R"])]
COSTS = {"download, 1 stream": "processor time, download", "upload, 1 stream": "processor time, upload",
         "UDP up at 400 Mbit/s": "processor time, UDP up at 400", "UDP down at 400 Mbit/s": "processor time, UDP down at 400"}
OFFERED = (200, 400, 800)
DATAGRAM = 1400


def udp_rate(end):
    """Mbit/s that arrived."""
    if not end:
        return None
    total = end["sum"]
    return (total["packets"] - total["lost_packets"]) * DATAGRAM * 8 / total["seconds"] / 1e6


def cost(end, used):
    """Processor seconds for each GB that arrived: the contender's and those of iperf3 on the user's machine, as the kernel
    charges packets now to one, now to the other. Unlike a rate it hardly depends on what else the machine does."""
    if not end:
        return None
    datagrams = "sum" in end
    seconds = end["sum" if datagrams else "sum_received"]["seconds"]
    arrived = udp_rate(end) * 1e6 / 8 * seconds if datagrams else end["sum_received"]["bytes"]
    own = end["cpu_utilization_percent"]["host_total"] / 100 * seconds
    return (used + own) / (arrived / 1e9) if arrived else None


def run(options):
    """Interleaved rounds over all contenders."""
    report = Report("tunnel", "Throughput through shadowsocks-2022")
    report.is_whole = options.full
    tcp, offered = (TCP[:2], OFFERED[1:2]) if options.quick else (TCP, OFFERED)
    with raised("bench") as (lab, product):
        contenders = [EngineAlone(lab), SingBoxRoot(lab), MihomoRoot(lab), Trocket(lab, product)]
        if not options.quick:
            contenders.insert(0, NoProxy(lab))
        for _ in range(options.rounds):
            for contender in contenders:
                contender.start()
                try:
                    measure(report, contender, options.seconds, tcp, offered)
                finally:
                    contender.stop()
        if options.full:
            protocols(report, lab, product, options)
    for download in [title for title, _ in tcp if title.startswith("download")]:
        report.target(download, "Trocket", "sing-box root", at_least=1.5)
        report.target(download, "Trocket", "mihomo root", at_least=2.0)
        report.target(download, "Trocket", "engine alone", at_least=0.9)
    for upload in [title for title, _ in tcp if title.startswith("upload")]:
        report.target(upload, "Trocket", "sing-box root", at_least=1.0)
    for metric in [COSTS[title] for title, _ in TCP[:2]]:
        for rival in ("sing-box root", "mihomo root"):
            report.target(metric, "Trocket", rival, at_most=1.0)
    for title in [title.format(rate) for rate in offered for title, _ in UDP]:
        report.target(title, "Trocket", "mihomo root", at_least=1.3)
    report.notes.append("Engine alone: a `direct` inbound on loopback, for iperf3 speaks no SOCKS; it logs errors only, all others at info.")
    report.notes.append("UDP: what arrives of what is offered; where the rival carries all of it, no ratio can be above 1.")
    return report


def measure(report, contender, seconds, tcp, offered):
    """One contender's turn in a round."""
    processes = contender.processes()
    tries = [(title, arguments, tcp_rate, "Gbit/s") for title, arguments in tcp]
    tries += [(title.format(rate), ["-u", "-b", f"{rate}M", "-l", DATAGRAM, *arguments], udp_rate, "Mbit/s")
              for rate in offered for title, arguments in UDP]
    for title, arguments, arrived, unit in tries:
        before = processor_seconds(processes)
        end = iperf(contender, seconds, *arguments)
        used = processor_seconds(processes) - before
        report.add(title, contender.name, arrived(end), unit)
        if title in COSTS:
            report.add(COSTS[title], contender.name, cost(end, used), "s/GB")


def protocols(report, lab, product, options):
    """The other protocols, the product against sing-box as root and the limit, one stream each way."""
    for outbound in lines.outbounds()[1:]:
        contenders = [EngineAlone(lab, line=outbound), SingBoxRoot(lab, line=outbound),
                      Trocket(lab, product, line=outbound["tag"])]
        for _ in range(options.rounds):
            for contender in contenders:
                contender.start()
                try:
                    for title, arguments in TCP[:2]:
                        report.add(f"{outbound['type']}: {title}", contender.name,
                                   tcp_rate(iperf(contender, options.seconds, *arguments)), "Gbit/s")
                finally:
                    contender.stop()
        report.target(f"{outbound['type']}: {TCP[0][0]}", "Trocket", "sing-box root", at_least=1.5)
        report.target(f"{outbound['type']}: {TCP[0][0]}", "Trocket", "engine alone", at_least=0.9)
        report.target(f"{outbound['type']}: {TCP[1][0]}", "Trocket", "sing-box root", at_least=1.0)

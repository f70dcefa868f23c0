"""`bench domestic`: traffic that goes direct in Rule mode, to a Chinese address, and what it costs the engine."""

from lablib import plan

from .contenders import MihomoRoot, NoProxy, SingBoxRoot, Trocket
from .measuring import CONNECTIONS_NOTES, answering, connections, iperf, processor_seconds, small, tcp_rate
from .report import Report
from .stage import raised


def run(options):
    """Interleaved rounds over all contenders."""
    report = Report("domestic", "Domestic traffic in Rule mode")
    with raised("bench") as (lab, product), answering(lab, "home", plan.CN4):
        contenders = [NoProxy(lab), SingBoxRoot(lab, domestic=True), MihomoRoot(lab, domestic=True),
                      Trocket(lab, product, mode="rule")]
        for _ in range(options.rounds):
            for contender in contenders:
                contender.start()
                try:
                    measure(report, contender, options.seconds)
                finally:
                    contender.stop()
    for metric in ("download, 1 stream", "upload, 1 stream", "download, 4 streams"):
        report.target(metric, "Trocket", "no proxy", at_least=0.95)
    report.target("processor time of the client", "Trocket", "sing-box root", at_most=0.05)
    report.target("processor time of the client", "Trocket", "mihomo root", at_most=0.05)
    report.target("p50, 1 in flight", "Trocket", "no proxy", at_most=1.1)
    report.notes.append("Trocket is measured once `status` says that domestic traffic goes past the engine, half a second after connect.")
    report.notes.append("The client's processor time: all its processes, for each GB down in one stream; resolution 10 ms.")
    report.notes += CONNECTIONS_NOTES
    return report


def measure(report, contender, seconds):
    """One contender's turn in a round."""
    processes = contender.processes()
    before = processor_seconds(processes)
    end = iperf(contender, seconds, "-R", to=plan.CN4)
    used = processor_seconds(processes) - before
    report.add("download, 1 stream", contender.name, tcp_rate(end), "Gbit/s")
    report.add("upload, 1 stream", contender.name, tcp_rate(iperf(contender, seconds, to=plan.CN4)), "Gbit/s")
    report.add("download, 4 streams", contender.name, tcp_rate(iperf(contender, seconds, "-R", "-P", "4", to=plan.CN4)),
               "Gbit/s")
    report.add("processor time of the client", contender.name, used / (end["sum_received"]["bytes"] / 1e9) if end else None,
               "s/GB")
    told = small(contender, "ask", seconds, 1, to=plan.CN4) or {}
    report.add("p50, 1 in flight", contender.name, told.get("p50"), "ms")
    connections(report, contender, seconds, to=plan.CN4)

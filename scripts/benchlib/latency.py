"""`bench latency`: small requests through shadowsocks-2022 at 1 and 64 in flight, and new connections a second."""

from lablib import plan

from .contenders import EngineAlone, MihomoRoot, NoProxy, SingBoxRoot, Trocket
from .measuring import CONNECTIONS, CONNECTIONS_COST, CONNECTIONS_NOTES, answering, connections, small
from .report import Report
from .stage import raised


def run(options):
    """Interleaved rounds over all contenders."""
    report = Report("latency", "Round trips of 64 bytes, and new connections, through shadowsocks-2022")
    with raised("bench") as (lab, product), answering(lab, "world", plan.WEB4):
        contenders = [NoProxy(lab), EngineAlone(lab), SingBoxRoot(lab), MihomoRoot(lab), Trocket(lab, product)]
        for _ in range(options.rounds):
            for contender in contenders:
                contender.start()
                try:
                    measure(report, contender, options.seconds)
                finally:
                    contender.stop()
    report.target("p50, 1 in flight", "Trocket", "engine alone", at_most=1.1)
    report.target("p50, 64 in flight", "Trocket", "engine alone", at_most=1.1)
    for rival in ("sing-box root", "mihomo root"):
        report.target(CONNECTIONS, "Trocket", rival, at_least=1.0)
        report.target(CONNECTIONS_COST, "Trocket", rival, at_most=1.0)
    report.notes += CONNECTIONS_NOTES
    return report


def measure(report, contender, seconds):
    """One contender's turn in a round."""
    for at_once in (1, 64):
        told = small(contender, "ask", seconds, at_once) or {}
        for part in ("p50", "p99"):
            report.add(f"{part}, {at_once} in flight", contender.name, told.get(part), "ms")
    connections(report, contender, seconds)

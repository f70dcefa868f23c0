"""What happens to the way out, and another client which takes it, while the tunnel is up."""

import os
import signal
import time

from lablib import netns, plan
from lablib.product import children

from . import kinds
from .bench import Part, on
from .other import Other


def no_default_route(bench, kill_switch):
    def act():
        for family in ("-4", "-6"):
            bench.client("ip", family, "route", "delete", "default")
        time.sleep(0.4)
        bench.client("ip", "-4", "route", "add", "default", "via", plan.ROUTER4, "dev", "eth0")
        bench.client("ip", "-6", "route", "add", "default", "via", plan.ROUTER6, "dev", "eth0")
        time.sleep(0.4)

    bench.window(on(kill_switch), "default route absent, then back", act)


def hostile_routes(bench, kill_switch):
    """TunnelVision: routes a DHCP server may hand out, more specific than any default."""
    routes = [("-4", net, plan.ROUTER4) for net in ("0.0.0.0/1", "128.0.0.0/1", "20.0.0.0/8")]
    routes += [("-6", "2000::/3", plan.ROUTER6), ("-6", "2a00::/12", plan.ROUTER6)]

    def act():
        for family, net, via in routes:
            bench.client("ip", family, "route", "add", net, "via", via, "dev", "eth0")
        time.sleep(0.6)
        for family, net, via in routes:
            bench.client("ip", family, "route", "delete", net, "via", via, "dev", "eth0")

    bench.window(on(kill_switch), "option-121 routes 0/1, 128/1, 2000::/3", act)


def change(bench, *commands):
    """Changes the user's machine, all at once."""
    netns.ip_batch(bench.lab.name, "client", commands)


def wire_up(bench):
    """What the kernel forgot with the link is put back, as a network manager does."""
    change(bench, "link set eth0 up", f"address replace {plan.CLIENT4}/24 broadcast + dev eth0",
           f"address replace {plan.CLIENT6}/64 dev eth0 nodad",
           f"route replace default via {plan.ROUTER4} dev eth0", f"route replace default via {plan.ROUTER6} dev eth0")


def uplink_bounced(bench, kill_switch):
    def act():
        change(bench, "link set eth0 down")
        time.sleep(0.2)
        wire_up(bench)
        time.sleep(0.5)

    bench.window(on(kill_switch), "uplink down and up", act)


def uplink_replaced(bench, kill_switch):
    """The uplink goes and another comes under its name, with another number."""
    def act():
        number = bench.lab.ip("client", "link", "show", "eth0")[0]["ifindex"]
        change(bench, "link set eth0 down", "link set eth0 name away0", f"link set away0 netns {bench.box.pid}",
               f"link add name taken0 index {number} type bridge")
        time.sleep(0.2)
        netns.run(["nsenter", f"--net=/proc/{bench.box.pid}/ns/net", "ip", "link", "set", "away0", "netns",
                   bench.lab.namespace("client"), "name", "eth0"])
        wire_up(bench)
        change(bench, "link delete taken0")
        assert bench.lab.ip("client", "link", "show", "eth0")[0]["ifindex"] != number
        time.sleep(0.6)

    bench.window(on(kill_switch), "uplink replaced by another", act)


def prefix_changed(bench, kill_switch):
    """The network gives the machine another prefix in both families, and later the old one again."""
    def move(old4, old6, new4, new6, router4, router6):
        change(bench, f"address add {new4}/24 broadcast + dev eth0", f"address add {new6}/64 dev eth0 nodad",
               f"address delete {old4}/24 dev eth0", f"address delete {old6}/64 dev eth0",
               f"route replace default via {router4} dev eth0", f"route replace default via {router6} dev eth0")
        time.sleep(0.5)

    def act():
        move(plan.CLIENT4, plan.CLIENT6, kinds.OTHER4, kinds.OTHER6, kinds.OTHER_ROUTER4, kinds.OTHER_ROUTER6)
        move(kinds.OTHER4, kinds.OTHER6, plan.CLIENT4, plan.CLIENT6, plan.ROUTER4, plan.ROUTER6)

    bench.window(on(kill_switch), "addresses of another prefix, then the old ones", act)


def move_uplink(bench):
    """The other uplink becomes the better one, as network managers say it: both keep their default routes."""
    change(bench, f"route add default via {plan.ROUTER4} dev eth0 metric 200",
           f"route add default via {plan.LAN_HOST4} dev eth1 metric 100", f"route delete default via {plan.ROUTER4} dev eth0 metric 0",
           f"route add default via {plan.LAN_HOST6} dev eth1 metric 100")


def move_back(bench):
    """And is the worse one again."""
    change(bench, f"route add default via {plan.ROUTER4} dev eth0 metric 0",
           f"route delete default via {plan.LAN_HOST4} dev eth1 metric 100",
           f"route delete default via {plan.ROUTER4} dev eth0 metric 200",
           f"route delete default via {plan.LAN_HOST6} dev eth1 metric 100")


def uplink_moved(bench, kill_switch):
    """The way out moves to another network, and back."""
    def act():
        move_uplink(bench)
        time.sleep(0.5)
        move_back(bench)
        time.sleep(0.2)

    bench.window(on(kill_switch), "way out moved to another uplink and back", act)


def suspended(bench, kill_switch):
    """Everything of ours is stopped while the link goes and comes back, as in a suspended machine."""
    def act():
        asleep = [bench.product.worker.pid]
        for member in asleep:
            asleep += children(member)
        for member in asleep:
            os.kill(member, signal.SIGSTOP)
        change(bench, "link set eth0 down")
        time.sleep(0.3)
        wire_up(bench)
        time.sleep(0.2)
        for member in asleep:
            os.kill(member, signal.SIGCONT)
        time.sleep(0.4)

    bench.window(on(kill_switch), "asleep while the link was down", act)


def second_client(program):
    """Another client with default numbers starts, runs and ends beside ours."""
    def event(bench, kill_switch):
        def act():
            other = Other(bench.lab, program)
            try:
                other.wait_up()
                time.sleep(0.5)
            finally:
                other.end()
            time.sleep(0.4)

        bench.phases(on(kill_switch), act, [Part(f"{program} with default numbers started and ended", is_carried=True)])

    event.__name__ = f"second_{program.replace('-', '_')}"
    return event

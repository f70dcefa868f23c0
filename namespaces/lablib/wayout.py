"""The way out of the user's machine: it goes, comes back, moves to another device, changes its address, is replaced by another."""

from . import netns, plan

OTHER4, OTHER6 = "203.0.113.11", "2001:db8:1::11"
OTHER_MAC = "02:6c:61:62:00:11"
OTHER_INDICES = (7001, 7002)


def change(lab, *commands):
    """Changes the user's machine, all at once."""
    netns.ip_batch(lab.name, "client", commands)


def down(lab):
    """The link is down."""
    change(lab, "link set eth0 down")


def up(lab):
    """What the kernel forgot with the link is put back, as a network manager does."""
    change(lab, "link set eth0 up", f"address replace {plan.CLIENT6}/64 dev eth0 nodad",
           f"route replace default via {plan.ROUTER4} dev eth0", f"route replace default via {plan.ROUTER6} dev eth0")


def lose_default_routes(lab):
    """No way out of the local network; `up` brings it back."""
    change(lab, f"route delete default via {plan.ROUTER4}", f"route delete default via {plan.ROUTER6}")


def move(lab):
    """The default routes move to another device; `up` brings them back."""
    change(lab, f"route replace default via {plan.LAN_HOST4} dev eth1", f"route replace default via {plan.LAN_HOST6} dev eth1")


def readdress(lab):
    """Other addresses of the same network instead of the machine's; `restore_addresses` brings those back."""
    change(lab, f"address add {OTHER4}/24 dev eth0", f"address add {OTHER6}/64 dev eth0 nodad",
           f"address delete {plan.CLIENT4}/24 dev eth0", f"address delete {plan.CLIENT6}/64 dev eth0",
           f"address replace {OTHER4}/24 dev eth0", f"route replace default via {plan.ROUTER4} dev eth0",
           f"route replace default via {plan.ROUTER6} dev eth0")


def restore_addresses(lab):
    """The machine's own addresses and the way out, whatever there was."""
    # With the first address of a network the kernel takes the others, so the one that stays is put back last.
    for address in (f"{OTHER4}/24", f"{OTHER6}/64"):
        lab.exec("client", "ip", "address", "delete", address, "dev", "eth0", check=False)
    change(lab, f"address replace {plan.CLIENT4}/24 broadcast + dev eth0")
    up(lab)


# MARK: another link

def indices(lab, name="eth0"):
    """The numbers of the uplink and of the router's end of it."""
    return [lab.ip(host, "link", "show", link)[0]["ifindex"] for host, link in (("client", name), ("isp", "client"))]


def pull_out(lab, name="eth0"):
    """The uplink is gone."""
    change(lab, f"link delete {name}")


def plug_in(lab, name, mac, numbers):
    """Another link in its place, with the machine's addresses and the way out."""
    netns.run(["ip", "-batch", "-"], input=(
        f"link add {name} index {numbers[0]} address {mac} netns {lab.namespace('client')} type veth "
        f"peer name client index {numbers[1]} netns {lab.namespace('isp')}\n"))
    netns.ip_batch(lab.name, "isp", ["link set client master br0", "link set client up"])
    change(lab, f"link set {name} up", f"address add {plan.CLIENT4}/24 broadcast + dev {name}",
           f"address add {plan.CLIENT6}/64 dev {name} nodad", f"route add default via {plan.ROUTER4} dev {name}",
           f"route add default via {plan.ROUTER6} dev {name}")

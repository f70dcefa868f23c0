"""A plain sing-box client in the lab, to prove a line (or all) without the product: a SOCKS port for each line."""

import json
import subprocess
import threading

from . import lines, netns, plan
from .lab import Lab

FIRST_PORT = 21000


class LineClient:
    """A running client; `port(number)` is the SOCKS port (on the user's machine) which leads through a line."""

    def __init__(self, lab: Lab):
        outbounds = [*lines.outbounds(), {
            **lines.outbound(18, lines.IPV6_LINE, "shadowsocks", 8388, None), "server": plan.ABROAD6.format(18)}]
        vless = next(each for each in lines.without_vision(outbounds) if each["type"] == "vless")
        outbounds.append({**vless, "tag": lines.PLAIN_LINE})
        self.tags = [outbound["tag"] for outbound in outbounds]
        config = {
            "log": {"level": "info"},
            "dns": {"servers": [{"type": "udp", "tag": "local", "server": "223.5.5.5"}]},
            "inbounds": [{"type": "mixed", "tag": tag, "listen": "127.0.0.1", "listen_port": FIRST_PORT + number}
                         for number, tag in enumerate(self.tags)],
            "outbounds": outbounds,
            "route": {"default_domain_resolver": "local",
                      "rules": [{"inbound": [tag], "action": "route", "outbound": tag} for tag in self.tags]},
        }
        self.process = lab.popen("client", lab.engine, "run", "-c", "stdin", "--disable-color",
                                 stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        self.process.stdin.write(json.dumps(config))
        self.process.stdin.close()
        said = ""
        for line in self.process.stderr:
            said += line
            if "sing-box started" in line:
                threading.Thread(target=self.process.stderr.read, daemon=True).start()
                return
        raise netns.CommandFailed(f"the plain client ended: {said}")

    def proxy(self, tag):
        """The proxy URL of a line, names resolved at its far end."""
        return f"socks5h://127.0.0.1:{FIRST_PORT + self.tags.index(tag)}"

    def close(self):
        """Ends the client."""
        self.process.kill()
        self.process.wait()

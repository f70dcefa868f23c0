"""Another client in the lab, with its default numbers."""

import json
import os
import subprocess

from lablib import netns
from lablib.lab import REPOSITORY, wait_until


class Other:
    """Another client in the lab with its defaults: a TUN of its own, automatic routes, everything direct."""

    def __init__(self, lab, program):
        self.lab, self.program = lab, program
        binary = lab.path("bin", program)
        if not os.path.exists(binary):
            netns.run(["cp", "--", os.path.join(REPOSITORY, ".engine", program), binary])
        home = lab.path("log", f"home-{program}")
        os.makedirs(home, exist_ok=True)
        config = os.path.join(home, "config.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump(self.singbox() if program == "sing-box" else self.mihomo(), file)
        arguments = ["run", "-c", config, "-D", home] if program == "sing-box" else ["-d", home, "-f", config]
        log = open(os.path.join(home, "log"), "a", encoding="utf-8")
        self.before = self.rules()
        self.process = lab.popen("client", binary, *arguments, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        log.close()
        self.log = os.path.join(home, "log")

    @staticmethod
    def singbox():
        return {"log": {"level": "warn"}, "inbounds": [{
            "type": "tun", "interface_name": "other0", "address": ["172.19.0.1/30", "fdfe:dcba:9876::1/126"],
            "auto_route": True, "strict_route": True}],
            "outbounds": [{"type": "direct"}], "route": {"auto_detect_interface": True}}

    @staticmethod
    def mihomo():
        return {"mode": "direct", "log-level": "warning", "geodata-mode": False, "geo-auto-update": False, "ipv6": True,
                "tun": {"enable": True, "stack": "gvisor", "device": "other1", "auto-route": True,
                        "auto-detect-interface": True, "strict-route": True}, "proxies": [], "rules": ["MATCH,DIRECT"]}

    def rules(self):
        """The priorities that are not ours."""
        return {rule["priority"] for rule in self.lab.ip("client", "rule", "show") if not 7100 <= rule["priority"] <= 7200}

    def wait_up(self):
        """Waits until its rules are there, all of them: no more came in the last 0.3 s."""
        found = [set()]

        def up():
            if self.process.poll() is not None:
                with open(self.log, encoding="utf-8") as file:
                    raise netns.CommandFailed(f"{self.program} ended: {file.read()[-800:]}")
            found.append(self.rules() - self.before)
            return found[-1] and found[-1] == found[-2]
        wait_until(up, 20, f"{self.program} has put its rules up", interval=0.3)

    def end(self):
        """Ends it as its user would."""
        self.process.terminate()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

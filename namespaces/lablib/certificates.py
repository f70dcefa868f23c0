"""A certificate authority made on the spot, and the leaves it signs. Trusted inside the lab only."""

import os

from . import plan
from .netns import run

HOME_NAMES = (
    "*.cn", "*.com.cn", "baidu.com", "*.baidu.com", "qq.com", "*.qq.com", "*.taobao.com", "*.jd.com", "*.bilibili.com",
    "*.163.com", "*.alidns.com", "doh.pub", "dot.pub", "dns.pub", "*.dns.pub", "*.miui.com",
)
# Domestic sites have servers abroad, too: that is where a question asked abroad leads.
WORLD_NAMES = (
    "example.com", "*.example.com", "example.org", "*.example.org", "example.net", "*.example.net",
    "*.line.example.net", "google.com", "*.google.com", "*.gstatic.com", "cloudflare.com", "*.cloudflare.com",
    "cloudflare-dns.com", "github.com", "*.githubusercontent.com", "*.youtube.com", "*.apple.com", "*.firefox.com",
    "dns.google", "one.one.one.one", "*.quad9.net", *HOME_NAMES,
)
LINE_NAMES = ("*.line.example.net", "*.example.net")


# The machine's own openssl.cnf would turn every leaf into an authority.
CONFIGURATION = "[req]\ndistinguished_name = name\n[name]\n"


def authority(folder):
    """Makes the lab's own certificate authority: ca.pem and ca.key."""
    run(["openssl", "req", "-config", "/dev/stdin", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "30", "-subj", "/O=Trocket lab/CN=Lab authority",
         "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign",
         "-keyout", os.path.join(folder, "ca.key"), "-out", os.path.join(folder, "ca.pem")],
        input=CONFIGURATION)


def leaf(folder, name, names, addresses=(), self_signed=False):
    """Makes NAME.pem and NAME.key for host names and addresses, signed by the authority or by itself."""
    key, certificate = os.path.join(folder, name + ".key"), os.path.join(folder, name + ".pem")
    alternatives = ",".join([f"DNS:{n}" for n in names] + [f"IP:{a}" for a in addresses])
    request = ["openssl", "req", "-config", "/dev/stdin", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
               "-nodes", "-addext", "basicConstraints=critical,CA:FALSE", "-subj", f"/CN={names[0]}", "-addext", f"subjectAltName={alternatives}",
               "-addext", "extendedKeyUsage=serverAuth", "-keyout", key, "-out", certificate, "-x509", "-days", "30"]
    if not self_signed:
        request += ["-CA", os.path.join(folder, "ca.pem"), "-CAkey", os.path.join(folder, "ca.key")]
    run(request, input=CONFIGURATION)


def create(folder):
    """Makes everything the lab's servers need."""
    os.makedirs(folder, exist_ok=True)
    authority(folder)
    leaf(folder, "world", WORLD_NAMES, plan.WORLD4 + plan.WORLD6)
    leaf(folder, "home", HOME_NAMES, plan.HOME4 + plan.HOME6)
    leaf(folder, "line", LINE_NAMES)
    leaf(folder, "selfsigned", (plan.SELF_SIGNED_NAME,), (plan.SELF_SIGNED4,), self_signed=True)
    for entry in os.listdir(folder):
        os.chmod(os.path.join(folder, entry), 0o600 if entry.endswith(".key") else 0o644)


def trust_store(folder, target):
    """Lays out an /etc/ssl in which the lab's authority is the only one trusted, for OpenSSL, curl and Go alike."""
    certs = os.path.join(target, "certs")
    os.makedirs(certs, exist_ok=True)
    os.makedirs(os.path.join(target, "private"), mode=0o700, exist_ok=True)
    with open(os.path.join(folder, "ca.pem"), encoding="ascii") as file:
        authority_text = file.read()
    for name in ("ca-certificates.crt", "lab.pem"):
        with open(os.path.join(certs, name), "w", encoding="ascii") as file:
            file.write(authority_text)
    digest = run(["openssl", "x509", "-noout", "-hash", "-in", os.path.join(folder, "ca.pem")]).strip()
    os.symlink("lab.pem", os.path.join(certs, digest + ".0"))
    with open(os.path.join(target, "openssl.cnf"), "w", encoding="ascii") as file:
        file.write("# The lab's own; the defaults are enough.\n")

"""The server process of one host: DNS on 53, DoT on 853, HTTP on 80, HTTPS (pages and DoH) on 443, UDP mirrors.

    main.py VIEW LABDIR LOG [--dns-only]      VIEW is home, world or isp; writes "ready" to standard output when it serves
"""

import asyncio
import json
import os
import socket
import ssl
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from lablib import plan  # noqa: E402
from lablib.servers.names import Datagrams, Mirror, NameServer  # noqa: E402
from lablib.servers.web import WebServer  # noqa: E402


def listener(port):
    """A TCP socket for both families. Without the protocol's number asyncio would not know it for TCP and leave Nagle's
    algorithm on, which now and then holds an answer back for 40 ms."""
    made = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    made.bind(("::", port))
    made.listen(256)
    made.setblocking(False)
    return made


def datagram_socket(address, device=None, port=53):
    """A UDP socket on one address."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    scope = socket.if_nametoindex(device) if device else 0
    made.bind((address, port, 0, scope) if ":" in address else (address, port))
    made.setblocking(False)
    return made


def context(folder, name):
    """A TLS context with one of the lab's certificates; HTTP/1.1 and nothing newer."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key"))
    made.set_alpn_protocols(["http/1.1", "dot"])
    return made


async def serve(view, directory, log_path, dns_only):
    log = open(log_path, "a", buffering=1, encoding="utf-8")

    def record(event):
        log.write(json.dumps({"at": time.time(), **event}, ensure_ascii=False) + "\n")

    names = NameServer("home" if view == "isp" else view, record)
    web = WebServer(view, os.path.join(directory, "www"), names, record)
    loop = asyncio.get_running_loop()
    addresses = {
        "home": [(a, None) for a in plan.HOME4 + plan.HOME6],
        "world": [(a, None) for a in plan.WORLD4 + plan.WORLD6],
        "isp": [(plan.ROUTER4, None), (plan.ROUTER6, None), ("fe80::1", "br0")],
    }[view]
    for address, device in addresses:
        await loop.create_datagram_endpoint(
            lambda address=address: Datagrams(names, address), sock=datagram_socket(address, device))
    await asyncio.start_server(lambda r, w: names.serve_stream(r, w, "tcp"), sock=listener(53))
    if not dns_only:
        for port in plan.MIRROR_PORTS:
            for address, _ in addresses:
                await loop.create_datagram_endpoint(
                    lambda address=address, port=port: Mirror(record, address, port),
                    sock=datagram_socket(address, port=port))
        certificates = os.path.join(directory, "tls")
        main, stranger = context(certificates, view), context(certificates, "selfsigned")

        def choose(connection, name, _):
            if name == plan.SELF_SIGNED_NAME:
                connection.context = stranger

        main.sni_callback = choose
        await asyncio.start_server(lambda r, w: names.serve_stream(r, w, "tls"), sock=listener(853), ssl=main)
        await asyncio.start_server(lambda r, w: web.serve(r, w, False), sock=listener(80), limit=1 << 18)
        await asyncio.start_server(lambda r, w: web.serve(r, w, True), sock=listener(443), ssl=main, limit=1 << 18)
    print("ready", flush=True)
    await asyncio.Event().wait()


def main():
    view, directory, log_path = sys.argv[1:4]
    asyncio.run(serve(view, directory, log_path, "--dns-only" in sys.argv))


main()

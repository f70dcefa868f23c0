"""A small HTTP/1.1 server: pages that tell the visitor's address, downloads, uploads, the subscription, and bad behaviour.

    /  /ip             JSON: address (the visitor's), port, server (the address visited), host, view, family
    /ip.txt            the visitor's address alone
    /generate_204      204
    /bytes?n=&rate=    n bytes, at most `rate` bytes a second; with &until=NAME the last of them once the lab's www
                       directory has a file of that name;  /ticks?n=&ms= n lines, one each ms
    /upload            reads what is sent, answers {"bytes": …}
    /dns-query         DNS over HTTPS, GET and POST
    /files/NAME        a file of the lab's www directory, with the headers in NAME.headers (JSON) and status in "status"
    /s/TOKEN           the subscription, by User-Agent; /sing-box/TOKEN, /clash/TOKEN, /links/TOKEN whatever the agent
    /gzip/TOKEN  /deflate/TOKEN      the same, encoded;  /redirect/N/TOKEN  after N redirects
    /bad/…             empty html 403 404 500 loop slow oversize bomb downgrade truncated silent json-error no-proxies
                       slow-headers endless-headers to-file
"""

import asyncio
import base64
import functools
import gzip
import json
import os
import urllib.parse
import zlib

from .. import lines, plan
from .names import plain

BLOCK = bytes(range(256)) * 256
HTML = b"<!doctype html><html><head><title>Just a moment...</title></head><body>Please log in.</body></html>"
MIB = 1 << 20


class Request:
    """One request: method, path, query and headers, and where it came from and arrived."""

    def __init__(self, method, target, headers, writer, secure):
        self.method = method
        parts = urllib.parse.urlsplit(target)
        self.path = urllib.parse.unquote(parts.path) or "/"
        self.query = dict(urllib.parse.parse_qsl(parts.query))
        self.headers = headers
        self.agent = headers.get("user-agent", "")
        self.host = headers.get("host", "").rsplit(":", 1)[0] if "]" not in headers.get("host", "") else headers["host"]
        self.secure = secure
        peer, local = writer.get_extra_info("peername"), writer.get_extra_info("sockname")
        self.source, self.port, self.destination = plain(peer[0]), peer[1], plain(local[0])


class WebServer:
    """Serves one host of the lab; `view` is what it says of itself, `www` the directory of files to serve."""

    def __init__(self, view, www, name_server, record):
        self.view, self.www, self.names, self.record = view, www, name_server, record

    async def serve(self, reader, writer, secure):
        """Reads and answers requests until the connection ends."""
        try:
            while await self.one(reader, writer, secure):
                pass
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, OSError, ValueError):
            pass
        except asyncio.TimeoutError:
            pass
        finally:
            writer.close()

    async def one(self, reader, writer, secure):
        """One request and its answer; returns whether the connection goes on."""
        head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ", 2)
        headers = {}
        for line in head[1:]:
            if ":" in line:
                key, value = line.split(":", 1)
                headers[key.strip().lower()] = value.strip()
        request = Request(method, target, headers, writer, secure)
        self.record({"http": request.path, "query": request.query, "host": request.host, "agent": request.agent,
                     "from": request.source, "to": request.destination, "secure": secure, "method": method})
        if headers.get("expect") == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        keep = await self.route(request, reader, writer)
        await writer.drain()
        return keep and headers.get("connection", "").lower() != "close"

    async def route(self, request, reader, writer):
        """Finds the page for a path; every page returns whether the connection may be used again."""
        first = request.path.strip("/").split("/")[0]
        page = getattr(self, "page_" + first.replace("-", "_").replace(".", "_"), None)
        if page is not None:
            return await page(request, reader, writer)
        if request.path in ("/", "/ip"):
            return await self.page_ip(request, reader, writer)
        return reply(writer, 404, b"not here\n")

    # MARK: pages that answer

    async def page_ip(self, request, reader, writer):
        body = {"address": request.source, "port": request.port, "server": request.destination, "host": request.host,
                "view": self.view, "family": 6 if ":" in request.source else 4, "agent": request.agent}
        return reply(writer, 200, json.dumps(body).encode() + b"\n", {"content-type": "application/json"})

    async def page_ip_txt(self, request, reader, writer):
        return reply(writer, 200, request.source.encode() + b"\n", {"content-type": "text/plain"})

    async def page_generate_204(self, request, reader, writer):
        return reply(writer, 204, None)

    async def page_bytes(self, request, reader, writer):
        left, rate, until = int(request.query.get("n", MIB)), float(request.query.get("rate", 0)), request.query.get("until")
        head(writer, 200, {"content-length": str(left), "content-type": "application/octet-stream"})
        clock = asyncio.get_running_loop().time
        sent, begin = 0, clock()
        while left:
            block = min(left, len(BLOCK), max(1, int(rate / 20)) if rate else left)
            while block == left and until and not os.path.exists(os.path.join(self.www, os.path.basename(until))):
                await asyncio.sleep(0.05)
            writer.write(BLOCK[:block])
            await gone_on(writer)
            left, sent = left - block, sent + block
            if rate and (ahead := sent / rate - (clock() - begin)) > 0:
                await asyncio.sleep(ahead)
        return True

    async def page_ticks(self, request, reader, writer):
        head(writer, 200, {"content-type": "text/plain", "transfer-encoding": "chunked"})
        for number in range(int(request.query.get("n", 10))):
            line = f"{number}\n".encode()
            writer.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            await writer.drain()
            await asyncio.sleep(float(request.query.get("ms", 100)) / 1000)
        writer.write(b"0\r\n\r\n")
        return True

    async def page_upload(self, request, reader, writer):
        count = 0
        if request.headers.get("transfer-encoding", "").lower() == "chunked":
            while (size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)) > 0:
                await reader.readexactly(size + 2)
                count += size
            await reader.readuntil(b"\r\n")
        else:
            left = int(request.headers.get("content-length", 0))
            while left and (block := await reader.read(min(left, MIB))):
                left, count = left - len(block), count + len(block)
        return reply(writer, 200, json.dumps({"bytes": count}).encode())

    async def page_dns_query(self, request, reader, writer):
        if request.method == "POST":
            message = await reader.readexactly(min(int(request.headers.get("content-length", 0)), 65535))
        else:
            text = request.query.get("dns", "")
            message = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        answer = self.names.answer(message, "https", request.source, request.destination)
        if answer is None:
            return reply(writer, 400, b"no question\n")
        return reply(writer, 200, answer, {"content-type": "application/dns-message"})

    async def page_files(self, request, reader, writer):
        name = os.path.basename(request.path)
        path = os.path.join(self.www, name)
        if not os.path.isfile(path):
            return reply(writer, 404, b"no such file\n")
        headers, status = {}, 200
        if os.path.isfile(path + ".headers"):
            with open(path + ".headers", encoding="utf-8") as file:
                headers = json.load(file)
            status = int(headers.pop("status", 200))
        with open(path, "rb") as file:
            return reply(writer, status, file.read(), headers)

    # MARK: the subscription

    def subscription(self, kind):
        """Body and headers of the subscription; a file of the www directory of that name replaces it."""
        file_name, content_type, make = {
            "sing-box": ("subscription.json", "application/json",
                         lambda: json.dumps(lines.sing_box_subscription(), ensure_ascii=False, indent=1)),
            "clash": ("subscription.yaml", "text/yaml; charset=utf-8", lines.clash_subscription),
            "links": ("subscription.txt", "text/plain", lines.share_links),
        }[kind]
        path = os.path.join(self.www, file_name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                body = file.read()
        else:
            body = make().encode()
        quota = "; ".join(f"{key}={value}" for key, value in lines.QUOTA.items())
        title = base64.b64encode(lines.TITLE.encode()).decode()
        return body, {
            "content-type": content_type,
            "subscription-userinfo": quota,
            "profile-update-interval": "24",
            "profile-title": "base64:" + title,
            "content-disposition": "attachment; filename*=UTF-8''" + urllib.parse.quote(lines.TITLE),
        }

    def kind_for(self, request):
        """Which shape a User-Agent gets; None is a refusal."""
        agent = request.agent.lower()
        if agent.startswith("sing-box/"):
            return "sing-box"
        if "clash" in agent or "mihomo" in agent:
            return "clash"
        return None

    async def send_subscription(self, request, writer, kind, encoding=None):
        if not request.path.rstrip("/").endswith("/" + plan.TOKEN):
            return reply(writer, 404, b"unknown token\n")
        if kind is None:
            return reply(writer, 403, b"this client is not supported\n")
        body, headers = self.subscription(kind)
        if encoding == "gzip":
            body, headers["content-encoding"] = gzip.compress(body), "gzip"
        elif encoding == "deflate":
            body, headers["content-encoding"] = zlib.compress(body), "deflate"
        return reply(writer, 200, body, headers)

    async def page_s(self, request, reader, writer):
        return await self.send_subscription(request, writer, self.kind_for(request))

    async def page_sing_box(self, request, reader, writer):
        return await self.send_subscription(request, writer, "sing-box")

    async def page_clash(self, request, reader, writer):
        return await self.send_subscription(request, writer, "clash")

    async def page_links(self, request, reader, writer):
        return await self.send_subscription(request, writer, "links")

    async def page_gzip(self, request, reader, writer):
        return await self.send_subscription(request, writer, self.kind_for(request), "gzip")

    async def page_deflate(self, request, reader, writer):
        return await self.send_subscription(request, writer, self.kind_for(request), "deflate")

    async def page_redirect(self, request, reader, writer):
        left, token = int(request.path.strip("/").split("/")[1]), request.path.rsplit("/", 1)[1]
        target = f"/redirect/{left - 1}/{token}" if left > 1 else f"/s/{token}"
        return reply(writer, 302, b"", {"location": target})

    # MARK: bad behaviour

    async def page_bad(self, request, reader, writer):
        kind = request.path.strip("/").split("/")[1]
        return await getattr(self, "bad_" + kind.replace("-", "_"))(writer)

    async def bad_empty(self, writer):
        return reply(writer, 200, b"")

    async def bad_html(self, writer):
        return reply(writer, 200, HTML, {"content-type": "text/html"})

    async def bad_403(self, writer):
        return reply(writer, 403, HTML, {"content-type": "text/html"})

    async def bad_404(self, writer):
        return reply(writer, 404, b"not found\n")

    async def bad_500(self, writer):
        return reply(writer, 500, b"internal error\n")

    async def bad_json_error(self, writer):
        text = json.dumps({"code": 403, "message": "订阅已过期"}, ensure_ascii=False)
        return reply(writer, 200, text.encode(), {"content-type": "application/json"})

    async def bad_no_proxies(self, writer):
        return reply(writer, 200, b"mixed-port: 7890\nmode: rule\nproxies: []\n", {"content-type": "text/yaml"})

    async def bad_loop(self, writer):
        return reply(writer, 302, b"", {"location": "/bad/loop"})

    async def bad_downgrade(self, writer):
        return reply(writer, 302, b"", {"location": f"http://{plan.SUB_NAME}/s/{plan.TOKEN}"})

    async def bad_truncated(self, writer):
        head(writer, 200, {"content-length": "100000"})
        writer.write(b'{"outbounds": [')
        return False

    async def bad_silent(self, writer):
        await asyncio.sleep(600)
        return False

    async def bad_slow(self, writer):
        """One byte a second, for ever: only a limit on the whole transfer ends it."""
        head(writer, 200, {"content-type": "application/json"})
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(1)

    async def bad_slow_headers(self, writer):
        """One header line a second, for ever."""
        head(writer, 200, {"content-type": "application/json"}, ended=False)
        number = 0
        while True:
            writer.write(f"x-{number}: y\r\n".encode())
            await writer.drain()
            await asyncio.sleep(1)
            number += 1

    async def bad_endless_headers(self, writer):
        """Headers as fast as they go, for ever."""
        head(writer, 200, {"content-type": "application/json"}, ended=False)
        while not writer.is_closing():
            writer.write(b"x-more: " + b"y" * 4000 + b"\r\n")
            await gone_on(writer)

    async def bad_to_file(self, writer):
        return reply(writer, 302, b"", {"location": "file:///etc/passwd"})

    async def bad_oversize(self, writer):
        head(writer, 200, {"content-type": "text/yaml"})
        for _ in range(64 * MIB // len(BLOCK)):
            writer.write(b"#" * len(BLOCK))
            await gone_on(writer)
        return False

    async def bad_bomb(self, writer):
        """A MiB or so which decompresses to a quarter of a GiB."""
        body = await asyncio.get_running_loop().run_in_executor(None, bomb)
        return reply(writer, 200, body, {"content-encoding": "gzip", "content-type": "application/json"})


@functools.cache
def bomb():
    """The packed quarter of a GiB; made once, quickly rather than small."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return b"".join([packer.compress(b" " * MIB) for _ in range(256)]) + packer.flush()


REASONS = {200: "OK", 204: "No Content", 302: "Found", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
           500: "Internal Server Error"}


async def gone_on(writer):
    """Waits until more may be written, and lets everyone else have a turn: `drain` alone gives none while the peer keeps up,
    so a peer's end would never be seen."""
    await writer.drain()
    await asyncio.sleep(0)


def head(writer, status, headers, ended=True):
    """Writes a status line and headers, and unless more are to come the empty line behind them."""
    text = f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}\r\n"
    text += "".join(f"{key}: {value}\r\n" for key, value in headers.items()) + ("\r\n" if ended else "")
    writer.write(text.encode("utf-8"))


def reply(writer, status, body, headers=None):
    """Writes a whole answer; None is one without a body."""
    headers = dict(headers or {})
    if body is not None:
        headers.setdefault("content-length", str(len(body)))
    head(writer, status, headers)
    if body:
        writer.write(body)
    return True

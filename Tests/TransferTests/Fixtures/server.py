# A loopback HTTP server with every kind of answer the tests need. Prints its ports, ends when its standard input does.
import gzip, os, socket, ssl, subprocess, sys, tempfile, threading, time, zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body=b"", status=200, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = self.path.split("?")[0]
        secure = isinstance(self.connection, ssl.SSLSocket)
        if path == "/hello":
            self.answer(b"hello", Subscription_Userinfo="upload=1; download=2; total=3")
        elif path == "/echo":
            self.answer("\n".join(f"{k}: {v}" for k, v in [("path", self.path), *self.headers.items()]).encode())
        elif path.startswith("/status/"):
            self.answer(b"no", int(path[8:]))
        elif path == "/gzip":
            self.answer(gzip.compress(b"packed" * 100), Content_Encoding="gzip")
        elif path == "/gzip-unsaid":
            self.answer(gzip.compress(b"packed" * 100))
        elif path == "/bomb":
            packer = zlib.compressobj(9, zlib.DEFLATED, 31)
            data = b"".join(packer.compress(bytes(1 << 20)) for _ in range(64)) + packer.flush()
            self.answer(data, Content_Encoding="gzip")
        elif path == "/broken-gzip":
            self.answer(b"\x1f\x8b\x08\x00 this is not gzip", Content_Encoding="gzip")
        elif path == "/big":
            self.answer(b"x" * int(self.path.split("?")[1]))
        elif path.startswith("/hop/"):
            left = int(path[5:])
            self.answer(b"moved", 302, Location=f"/hop/{left - 1}" if left else "/echo?a=1&b=2%2F3",
                        Set_Cookie="sid=abc; Path=/")
        elif path == "/loop":
            self.answer(b"", 302, Location="/loop")
        elif path == "/to":
            self.answer(b"", 302, Location=self.path.split("?", 1)[1])
        elif path == "/cut":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"half")
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif path == "/slow":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b".")
                    self.wfile.flush()
                    time.sleep(0.05)
            except OSError:
                pass
            self.close_connection = True
        elif path == "/headers":
            self.send_response(200)
            for number in range(10000):
                self.send_header(f"X-{number}", "y" * 60)
            self.end_headers()
            self.close_connection = True
        elif path == "/lines":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                for number in range(1000000):
                    line = b'{"n":%d}\n' % number
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                    self.wfile.flush()
                    time.sleep(0.001)
            except OSError:
                pass
            self.close_connection = True
        else:
            self.answer(b"secure" if secure else b"plain", 404)

    def do_PUT(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.answer(self.command.encode() + b" " + body)

    do_PATCH = do_PUT
    do_DELETE = do_PUT


class Server(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True

    def handle_error(self, *_):
        pass


plain = Server(("127.0.0.1", 0), Handler)
secure = Server(("127.0.0.1", 0), Handler)
with tempfile.TemporaryDirectory() as work:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
         f"{work}/key", "-out", f"{work}/cert", "-days", "1", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost"], check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{work}/cert", f"{work}/key")
    secure.socket = context.wrap_socket(secure.socket, server_side=True)
    silent = socket.socket()
    silent.bind(("127.0.0.1", 0))
    silent.listen(16)
    for server in (plain, secure):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(plain.server_port, secure.server_port, silent.getsockname()[1], f"{work}/cert", flush=True)
    sys.stdin.buffer.read()

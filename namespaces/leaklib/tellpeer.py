"""A page server that tells its visitor's address: tellpeer.py PORT; writes "ready" when it listens."""

import http.server
import socket
import sys


class Page(http.server.BaseHTTPRequestHandler):
    """One page."""

    def do_GET(self):
        body = self.client_address[0].removeprefix("::ffff:").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    """For both families."""

    address_family = socket.AF_INET6


server = Server(("::", int(sys.argv[1])), Page)
print("ready", flush=True)
server.serve_forever()

# A loopback HTTP server for the pipeline's tests: serves the files of a directory, read anew at each request, so that a test
# changes what the provider says by writing a file. Prints its port, ends when its standard input does.
#   NAME            the body; a missing file is 404
#   NAME.status     another status
#   NAME.headers    header lines
#   NAME@clash      the body for a User-Agent with "clash" in it, with its own .status and .headers
import os, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

root = sys.argv[1]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        name = os.path.join(root, self.path.split("?")[0].strip("/").replace("/", "_"))
        with open(os.path.join(root, "requests.log"), "a") as log:
            log.write(f"{self.path.split('?')[0]} {self.headers.get('User-Agent')}\n")
        if "clash" in self.headers.get("User-Agent", "").lower() and os.path.exists(name + "@clash"):
            name += "@clash"

        def read(path, otherwise):
            try:
                with open(path, "rb") as file:
                    return file.read()
            except OSError:
                return otherwise

        body = read(name, None)
        status = int(read(name + ".status", b"200" if body is not None else b"404"))
        self.send_response(status)
        for line in read(name + ".headers", b"").decode().splitlines():
            self.send_header(*line.split(": ", 1))
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.buffer.read()

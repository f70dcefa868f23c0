"""A program's way from exec to a control API that answers, as a program on the user's machine inside the lab.

    starting.py ADDRESS PORT DIRECTORY COMMAND…      prints JSON: seconds, then waits for its standard input to close and ends COMMAND
"""

import json
import socket
import subprocess
import sys
import time


def main(address, port, directory, *command):
    began = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               cwd=directory)
    seconds = None
    while time.perf_counter() - began < 20 and process.poll() is None:
        try:
            with socket.create_connection((address, int(port)), timeout=1) as connection:
                connection.sendall(b"GET / HTTP/1.0\r\nHost: api\r\n\r\n")
                if connection.recv(1):
                    seconds = time.perf_counter() - began
                    break
        except OSError:
            pass
        time.sleep(0.001)
    print(json.dumps({"seconds": seconds}), flush=True)
    sys.stdin.read()
    process.terminate()
    process.wait()


main(*sys.argv[1:])

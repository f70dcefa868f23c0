"""Hostile peers of the command socket, run as a user of their own.

    peers.py PATH crowd N        opens N connections and holds them
    peers.py PATH deaf N         N subscribers which never read, each asking for more and more
    peers.py PATH partial N      N connections with half a frame each
    peers.py PATH giant          a frame without an end
    peers.py PATH fuzz N SEED    N broken frames, a connection each or many on one
    peers.py PATH descriptors N  N frames with descriptors attached
    peers.py PATH flood CALL N M N connections which ask M times and never read an answer
    peers.py PATH ask CALL       one honest call; prints the answer
    peers.py PATH say CALL       one honest call, whose answer nobody waits for

All but `ask`, `say` and `fuzz` write "ready" and hold what they have until they are killed.
"""

import array
import json
import random
import resource
import socket
import sys
import time

PATH = sys.argv[1]


def connect(blocking=True):
    """A connection."""
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(10 if blocking else 0.2)
    made.connect(PATH)
    return made


def ready():
    """Says so, and stays."""
    print("ready", flush=True)
    time.sleep(600)


def crowd(count):
    held = []
    for _ in range(count):
        try:
            held.append(connect(False))
        except OSError:
            time.sleep(0.01)
    print(len(held), flush=True)
    ready()


def deaf(count):
    held = [connect() for _ in range(count)]
    for made in held:
        made.setblocking(False)
        try:
            made.send(b'{"v":1,"id":1,"call":"subscribe"}\n')
            for number in range(5000):
                made.send(b'{"v":1,"id":%d,"call":"status","network":true}\n' % number)
        except OSError:
            pass
    ready()


def partial(count):
    held = [connect() for _ in range(count)]
    for made in held:
        made.send(b'{"v":1,"id":1,"ca')
    ready()


def giant():
    made = connect()
    told, sent = b"", 0
    try:
        while sent < 64 << 20:
            sent += made.send(b"[" * 65536)
    except OSError:
        pass
    try:
        told = made.recv(4096)
    except OSError:
        pass
    print(json.dumps({"sent": sent, "told": told.decode(errors="replace")}), flush=True)


def frames(dice):
    """Broken frames, no end of them."""
    honest = [b'{"v":1,"id":1,"call":"status"}', b'{"v":1,"id":2,"call":"hello"}', b'{"v":1,"id":3,"call":"logs","source":"worker"}']
    fixed = [
        b"", b"\0", b"\xff\xfe\xfd", b"{", b"null", b"[]", b'"text"', b"1e999", b"[" * 30000, b'{"a":' * 8000, b"{}",
        b'{"v":1}', b'{"v":2,"id":1,"call":"status"}', b'{"v":1,"id":1,"call":"frobnicate"}', b'{"v":1,"id":1,"call":7}',
        b'{"v":1,"id":-1,"call":"status"}', b'{"v":1,"id":99999999999999999999999,"call":"status"}',
        b'{"v":1,"id":1.5,"call":"status"}', b'{"v":1,"id":"x","call":"status"}', b'{"v":1,"id":1,"call":"status","network":"yes"}',
        b'{"v":1,"id":1,"call":"connect","confirmSeconds":-5}', b'{"v":1,"id":1,"call":"connect","confirmSeconds":99999999999999999}',
        b'{"v":1,"id":1,"call":"connect","killSwitch":"on"}', b'{"v":1,"id":1,"call":"logs","source":"../../etc/shadow"}',
        b'{"v":1,"id":1,"call":"status","call":"disconnect"}', '{"v":1,"id":1,"call":"st\ud800"}'.encode("utf-8", "surrogatepass"),
        b'{"v":1,"id":1,"call":"' + b"a" * 60000 + b'"}', b'{"v":1,"id":1,"call":"' + b"a" * 70000 + b'"}',
    ]
    yield from fixed
    while True:
        frame = bytearray(dice.choice(honest))
        for _ in range(dice.randrange(1, 6)):
            place = dice.randrange(len(frame))
            if dice.random() < 0.3:
                frame[place:place] = bytes(dice.randrange(256) for _ in range(dice.randrange(40)))
            elif dice.random() < 0.5:
                frame[place] = dice.randrange(256)
            else:
                del frame[place]
            frame = frame or bytearray(b"{")
        # A frame that is whole again by chance must not take a tunnel down.
        yield bytes(frame)


def fuzz(count, seed):
    # The frames are the same every time, whatever the machine's haste makes of the rest.
    dice = random.Random(seed)
    made, answers, closed = None, 0, 0
    for number, frame in enumerate(frames(random.Random(seed))):
        if number == count:
            break
        try:
            made = made or connect()
            made.settimeout(0.05 if number > 40 else 1)
            made.sendall(frame + (b"\n" if dice.random() < 0.9 else b""))
            if dice.random() < 0.5 or number < 40:
                told = made.recv(65536)
                answers, closed = answers + bool(told), closed + (not told)
                if not told:
                    made.close()
                    made = None
        except TimeoutError:
            pass
        except OSError:
            closed += 1
            made = None
        if made and dice.random() < 0.1:
            made.close()
            made = None
    print(json.dumps({"answers": answers, "closed": closed}), flush=True)


def descriptors(count):
    held = []
    file = open("/dev/null", "rb")
    for number in range(count):
        made = connect()
        for _ in range(4):
            try:
                made.sendmsg([b'{"v":1,"id":%d,"call":"hello"}\n' % number],
                             [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file.fileno()] * 50))])
            except OSError:
                break
        held.append(made)
    ready()


def flood(call, count, times):
    held = [connect() for _ in range(count)]
    request = {"v": 1, "id": 1, "call": call}
    if call == "logs":
        request["source"] = "engine"
    for made in held:
        try:
            made.sendall((json.dumps(request).encode() + b"\n") * times)
        except OSError:
            pass
    ready()


def ask(call):
    made = connect()
    try:
        made.sendall(json.dumps({"v": 1, "id": 1, "call": call}).encode() + b"\n")
    except BrokenPipeError:
        pass  # refused before the question; the answer says so
    print(made.makefile("rb").readline().decode().strip(), flush=True)


def say(call):
    connect().sendall(json.dumps({"v": 1, "id": 1, "call": call}).encode() + b"\n")


resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
{"crowd": crowd, "deaf": deaf, "partial": partial, "giant": giant, "fuzz": fuzz, "descriptors": descriptors, "flood": flood,
 "ask": ask, "say": say}[sys.argv[2]](
    *[int(argument) if argument.isdigit() else argument for argument in sys.argv[3:]])

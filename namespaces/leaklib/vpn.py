"""A VPN without encryption: vpn.py client|server SERVER PORT MARK. Makes the link vpn0; writes "ready"."""

import fcntl
import os
import select
import socket
import struct
import sys

role, server, port, mark = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4], 0)
tun = os.open("/dev/net/tun", os.O_RDWR)
# TUNSETIFF; IFF_TUN | IFF_NO_PI
fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", b"vpn0", 0x1001))
outer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer = (server, port) if role == "client" else None
if role == "server":
    outer.bind((server, port))
if mark:
    outer.setsockopt(socket.SOL_SOCKET, 36, mark)
print("ready", flush=True)
while True:
    for ready in select.select([tun, outer], [], [])[0]:
        try:
            if ready is outer:
                packet, sender = outer.recvfrom(65536)
                peer = sender if role == "server" else peer
                os.write(tun, packet)
            else:
                packet = os.read(tun, 65536)
                if peer:
                    outer.sendto(packet, peer)
        except OSError:
            pass

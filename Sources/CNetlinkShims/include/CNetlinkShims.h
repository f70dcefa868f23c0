// What libnl does not offer: receiving with the sender checked and the system's own error number kept (libnl returns its
// own codes), and socket options it has no setter for.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Receives one datagram that came from the kernel; others are skipped. Returns its length or -errno; -EMSGSIZE when it did
// not fit. Interruptions are retried. See netlink(7).
long cns_receive(int fd, void *buffer, size_t capacity);

// Sends one datagram to the kernel. Returns 0 or -errno.
int cns_send(int fd, const void *bytes, size_t count);

// NETLINK_EXT_ACK and NETLINK_CAP_ACK on, NETLINK_GET_STRICT_CHK on where the kernel knows it. Returns 0 or -errno.
int cns_set_strict(int fd);

// Gives up on a silent kernel after so long (SO_RCVTIMEO). Returns 0 or -errno.
int cns_set_timeout(int fd, int milliseconds);

// Gives memory that is no longer used back to the system (malloc_trim(3)).
void cns_release_memory(void);

// Whether a descriptor is a socket of this netlink protocol. See SO_DOMAIN and SO_PROTOCOL in socket(7).
int cns_is_netlink(int fd, int protocol);

// 0 when a socket of this netlink protocol can be made, else -errno.
int cns_probe(int protocol);

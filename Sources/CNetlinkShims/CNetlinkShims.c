// Receiving from the kernel, and the socket options: see the header.
#include "CNetlinkShims.h"
#include <errno.h>
#include <linux/netlink.h>
#include <malloc.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif

long cns_receive(int fd, void *buffer, size_t capacity) {
    for (;;) {
        struct sockaddr_nl sender = {0};
        struct iovec part = {.iov_base = buffer, .iov_len = capacity};
        struct msghdr message = {
            .msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &part, .msg_iovlen = 1};
        ssize_t count = recvmsg(fd, &message, 0);
        if (count < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        // Any process may send to a netlink socket; only port 0 is the kernel.
        if (message.msg_namelen != sizeof sender || sender.nl_pid != 0)
            continue;
        if (message.msg_flags & MSG_TRUNC)
            return -EMSGSIZE;
        return count;
    }
}

int cns_send(int fd, const void *bytes, size_t count) {
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    for (;;) {
        if (sendto(fd, bytes, count, 0, (struct sockaddr *)&kernel, sizeof kernel) >= 0)
            return 0;
        if (errno != EINTR)
            return -errno;
    }
}

int cns_set_strict(int fd) {
    int on = 1;
    if (setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on) < 0)
        return -errno;
    if (setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on) < 0)
        return -errno;
    if (setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on) < 0 && errno != ENOPROTOOPT)
        return -errno;
    return 0;
}

int cns_set_timeout(int fd, int milliseconds) {
    struct timeval limit = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000};
    return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0 ? -errno : 0;
}

void cns_release_memory(void) {
    malloc_trim(0);
}

int cns_is_netlink(int fd, int protocol) {
    int domain = 0, found = -1;
    socklen_t size = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 || domain != AF_NETLINK)
        return 0;
    size = sizeof found;
    return getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &found, &size) == 0 && found == protocol;
}

int cns_probe(int protocol) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

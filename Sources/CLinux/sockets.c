// AF_UNIX sockets: listening, peers, and descriptors sent along (unix(7), cmsg(3)).

#include "CLinux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif
#define MAX_DESCRIPTORS 8

static int address_of(const char *path, struct sockaddr_un *address) {
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address->sun_path) return -ENAMETOOLONG;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length);
    return 0;
}

int cl_unix_connect(const char *path) {
    struct sockaddr_un address;
    int failed = address_of(path, &address);
    if (failed) return failed;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -errno;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        failed = -errno;
        close(fd);
        return failed;
    }
    return fd;
}

int cl_unix_listen(const char *path, unsigned mode, int backlog) {
    struct sockaddr_un address;
    int failed = address_of(path, &address);
    if (failed) return failed;
    int alive = cl_unix_connect(path);
    if (alive >= 0) {
        close(alive);
        return -EADDRINUSE;
    }
    if (alive == -ECONNREFUSED) unlink(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -errno;
    // Nobody can connect before listen(2), so the mode may come after bind(2); a file mask would be all threads'.
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) failed = -errno;
    if (!failed && chmod(path, mode) < 0) failed = -errno;
    if (!failed && listen(fd, backlog) < 0) failed = -errno;
    if (failed) {
        close(fd);
        return failed;
    }
    return fd;
}

int cl_socket_pair(int stream, int out[2]) {
    int type = (stream ? SOCK_STREAM : SOCK_SEQPACKET) | SOCK_CLOEXEC;
    return socketpair(AF_UNIX, type, 0, out) < 0 ? -errno : 0;
}

int cl_accept(int fd) {
    int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return peer < 0 ? -errno : peer;
}

int cl_peer_credentials(int fd, int *pid, unsigned *uid, unsigned *gid) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return -errno;
    *pid = peer.pid;
    *uid = peer.uid;
    *gid = peer.gid;
    return 0;
}

int cl_peer_groups(int fd, unsigned *out, int capacity) {
    socklen_t length = (socklen_t)capacity * sizeof(gid_t);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, out, &length) < 0) return -errno;
    return (int)(length / sizeof(gid_t));
}

long cl_send(int fd, const void *bytes, size_t count, const int *descriptors, int descriptor_count) {
    if (descriptor_count < 0 || descriptor_count > MAX_DESCRIPTORS) return -EINVAL;
    struct iovec vector = {.iov_base = (void *)bytes, .iov_len = count};
    union {
        char space[CMSG_SPACE(MAX_DESCRIPTORS * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    if (descriptor_count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.space;
        message.msg_controllen = CMSG_SPACE((size_t)descriptor_count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN((size_t)descriptor_count * sizeof(int));
        memcpy(CMSG_DATA(header), descriptors, (size_t)descriptor_count * sizeof(int));
    }
    for (;;) {
        ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL);
        if (sent >= 0) return sent;
        if (errno != EINTR) return -errno;
    }
}

long cl_receive(int fd, void *bytes, size_t capacity, int *descriptors, int *descriptor_count) {
    struct iovec vector = {.iov_base = bytes, .iov_len = capacity};
    union {
        char space[CMSG_SPACE(MAX_DESCRIPTORS * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
    *descriptor_count = 0;
    ssize_t received;
    do {
        received = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    } while (received < 0 && errno == EINTR);
    if (received < 0) return -errno;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t at = 0; at < count; at++) {
            int received_fd;
            memcpy(&received_fd, CMSG_DATA(header) + at * sizeof(int), sizeof(int));
            if (*descriptor_count < MAX_DESCRIPTORS) {
                descriptors[(*descriptor_count)++] = received_fd;
            } else {
                close(received_fd);
            }
        }
    }
    return received;
}

static struct sockaddr_in loopback(unsigned port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

int cl_free_loopback_port(void) {
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -errno;
    int failed = bind(fd, (struct sockaddr *)&address, length) < 0 || getsockname(fd, (struct sockaddr *)&address, &length) < 0
                     ? -errno
                     : 0;
    close(fd);
    return failed ? failed : ntohs(address.sin_port);
}

int cl_connect_loopback(unsigned port) {
    struct sockaddr_in address = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -errno;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS) {
        int failed = -errno;
        close(fd);
        return failed;
    }
    return fd;
}

int cl_socket_error(int fd) {
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0) return -errno;
    return -error;
}

int cl_is_unix_listener(int fd) {
    int domain = 0, type = 0, listening = 0;
    socklen_t length = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) < 0) return -errno;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) < 0) return -errno;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) < 0) return -errno;
    return domain == AF_UNIX && type == SOCK_STREAM && listening;
}

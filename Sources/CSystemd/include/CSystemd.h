// systemd-resolved's D-Bus interface, spoken through libsystemd's sd-bus. The library is loaded when it is first needed and
// not linked: a host without systemd has neither it nor resolved. sd-bus is variadic, hence C.
// See org.freedesktop.resolve1(5) and sd-bus(3).
#pragma once
#include <stddef.h>
#include <stdint.h>

// An open connection; opaque.
struct csd_bus;

// One DNS server: AF_INET or AF_INET6 and four or sixteen bytes.
struct csd_server {
    int family;
    uint8_t bytes[16];
};

// What resolved says about a link.
struct csd_link_state {
    struct csd_server servers[8];
    int server_count;
    // Whether "." is a routing-only domain of the link.
    int takes_every_domain;
    int is_default_route;
    // Whether its servers are asked without TLS.
    int is_plain;
};

// Opens the bus at an address such as "unix:path=/run/dbus/system_bus_socket". Returns 0, or -errno: -ENOENT without the
// library or the bus. Calls give up after the time-out. On failure `problem` says why.
int csd_open(const char *address, uint64_t timeout_microseconds, struct csd_bus **out, char *problem, size_t size);
void csd_close(struct csd_bus *bus);

// 1 when resolved runs (it is not started by asking), 0 when not, or -errno.
int csd_has_resolved(struct csd_bus *bus, char *problem, size_t size);

// SetLinkDNS, SetLinkDomains with ".", SetLinkDefaultRoute, SetLinkDNSOverTLS "no", FlushCaches. Returns 0 or -errno.
int csd_secure_link(struct csd_bus *bus, int link, const struct csd_server *servers, int count, char *problem, size_t size);

// The link's properties DNS, Domains, DefaultRoute and DNSOverTLS. Returns 0 or -errno.
int csd_read_link(struct csd_bus *bus, int link, struct csd_link_state *out, char *problem, size_t size);

// RevertLink and FlushCaches. Returns 0 or -errno.
int csd_revert_link(struct csd_bus *bus, int link, char *problem, size_t size);

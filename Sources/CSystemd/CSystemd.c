// sd-bus loaded at run time, and the calls to systemd-resolved: see the header.
#include "CSystemd.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// The stable part of libsystemd's interface, as sd-bus.h declares it.
typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct {
    const char *name;
    const char *message;
    int need_free;
} sd_bus_error;

struct csd_bus {
    void *library;
    sd_bus *bus;
    int (*new)(sd_bus **);
    int (*set_address)(sd_bus *, const char *);
    int (*set_bus_client)(sd_bus *, int);
    int (*set_timeout)(sd_bus *, uint64_t);
    int (*start)(sd_bus *);
    int (*is_ready)(sd_bus *);
    int (*process)(sd_bus *, sd_bus_message **);
    int (*wait)(sd_bus *, uint64_t);
    sd_bus *(*close_unref)(sd_bus *);
    int (*call_method)(sd_bus *, const char *, const char *, const char *, const char *, sd_bus_error *, sd_bus_message **,
                       const char *, ...);
    int (*call)(sd_bus *, sd_bus_message *, uint64_t, sd_bus_error *, sd_bus_message **);
    int (*new_call)(sd_bus *, sd_bus_message **, const char *, const char *, const char *, const char *);
    int (*get_property)(sd_bus *, const char *, const char *, const char *, const char *, sd_bus_error *, sd_bus_message **,
                        const char *);
    int (*append)(sd_bus_message *, const char *, ...);
    int (*append_array)(sd_bus_message *, char, const void *, size_t);
    int (*open_container)(sd_bus_message *, char, const char *);
    int (*close_container)(sd_bus_message *);
    int (*read)(sd_bus_message *, const char *, ...);
    int (*read_array)(sd_bus_message *, char, const void **, size_t *);
    int (*enter_container)(sd_bus_message *, char, const char *);
    int (*exit_container)(sd_bus_message *);
    sd_bus_message *(*unref)(sd_bus_message *);
    void (*error_free)(sd_bus_error *);
};

static const char service[] = "org.freedesktop.resolve1";
static const char path[] = "/org/freedesktop/resolve1";
static const char manager[] = "org.freedesktop.resolve1.Manager";
static const char link_interface[] = "org.freedesktop.resolve1.Link";

static int fail(int result, const sd_bus_error *error, char *problem, size_t size) {
    const char *text = error && error->message ? error->message : strerror(-result);
    snprintf(problem, size, "%s", text);
    return result;
}

static int load(struct csd_bus *bus) {
    const struct {
        const char *name;
        void *place;
    } symbols[] = {
        {"sd_bus_new", &bus->new},
        {"sd_bus_set_address", &bus->set_address},
        {"sd_bus_set_bus_client", &bus->set_bus_client},
        {"sd_bus_set_method_call_timeout", &bus->set_timeout},
        {"sd_bus_start", &bus->start},
        {"sd_bus_is_ready", &bus->is_ready},
        {"sd_bus_process", &bus->process},
        {"sd_bus_wait", &bus->wait},
        {"sd_bus_close_unref", &bus->close_unref},
        {"sd_bus_call_method", &bus->call_method},
        {"sd_bus_call", &bus->call},
        {"sd_bus_message_new_method_call", &bus->new_call},
        {"sd_bus_get_property", &bus->get_property},
        {"sd_bus_message_append", &bus->append},
        {"sd_bus_message_append_array", &bus->append_array},
        {"sd_bus_message_open_container", &bus->open_container},
        {"sd_bus_message_close_container", &bus->close_container},
        {"sd_bus_message_read", &bus->read},
        {"sd_bus_message_read_array", &bus->read_array},
        {"sd_bus_message_enter_container", &bus->enter_container},
        {"sd_bus_message_exit_container", &bus->exit_container},
        {"sd_bus_message_unref", &bus->unref},
        {"sd_bus_error_free", &bus->error_free},
    };
    bus->library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!bus->library)
        return -ENOENT;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(bus->library, symbols[i].name);
        if (!symbol)
            return -ENOENT;
        memcpy(symbols[i].place, &symbol, sizeof symbol);
    }
    return 0;
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

// Waits until the bus has let us in. The library's own patience with a silent bus is 90 seconds.
static int get_ready(struct csd_bus *bus, uint64_t timeout) {
    uint64_t deadline = now() + timeout;
    for (;;) {
        int result = bus->is_ready(bus->bus);
        if (result != 0)
            return result;
        result = bus->process(bus->bus, NULL);
        if (result < 0)
            return result;
        uint64_t time = now();
        if (time >= deadline)
            return -ETIMEDOUT;
        if (result == 0 && (result = bus->wait(bus->bus, deadline - time)) < 0 && result != -EINTR)
            return result;
    }
}

int csd_open(const char *address, uint64_t timeout, struct csd_bus **out, char *problem, size_t size) {
    static const char prefix[] = "unix:path=";
    // Not worth loading a library for a bus that is not there.
    if (!strncmp(address, prefix, sizeof prefix - 1) && access(address + sizeof prefix - 1, F_OK) < 0)
        return fail(-ENOENT, NULL, problem, size);
    struct csd_bus *bus = calloc(1, sizeof *bus);
    if (!bus)
        return fail(-ENOMEM, NULL, problem, size);
    int result = load(bus);
    if (result < 0) {
        if (bus->library)
            dlclose(bus->library);
        free(bus);
        snprintf(problem, size, "libsystemd is not installed");
        return result;
    }
    result = bus->new(&bus->bus);
    if (result >= 0)
        result = bus->set_address(bus->bus, address);
    if (result >= 0)
        result = bus->set_bus_client(bus->bus, 1);
    if (result >= 0)
        result = bus->set_timeout(bus->bus, timeout);
    if (result >= 0)
        result = bus->start(bus->bus);
    if (result >= 0)
        result = get_ready(bus, timeout);
    if (result < 0) {
        csd_close(bus);
        return fail(result, NULL, problem, size);
    }
    *out = bus;
    return 0;
}

void csd_close(struct csd_bus *bus) {
    if (bus->bus)
        bus->close_unref(bus->bus);
    dlclose(bus->library);
    free(bus);
}

int csd_has_resolved(struct csd_bus *bus, char *problem, size_t size) {
    sd_bus_error error = {0};
    sd_bus_message *reply = NULL;
    int owned = 0;
    // Asked of the bus itself: calling resolved would start it where it is switched off.
    int result = bus->call_method(bus->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                  "NameHasOwner", &error, &reply, "s", service);
    if (result >= 0)
        result = bus->read(reply, "b", &owned);
    if (result < 0)
        fail(result, &error, problem, size);
    bus->error_free(&error);
    bus->unref(reply);
    return result < 0 ? result : owned;
}

static int set_servers(struct csd_bus *bus, int link, const struct csd_server *servers, int count, sd_bus_error *error) {
    sd_bus_message *call = NULL, *reply = NULL;
    int result = bus->new_call(bus->bus, &call, service, path, manager, "SetLinkDNS");
    if (result >= 0)
        result = bus->append(call, "i", link);
    if (result >= 0)
        result = bus->open_container(call, 'a', "(iay)");
    for (int i = 0; result >= 0 && i < count; i++) {
        size_t length = servers[i].family == AF_INET ? 4 : 16;
        result = bus->open_container(call, 'r', "iay");
        if (result >= 0)
            result = bus->append(call, "i", servers[i].family);
        if (result >= 0)
            result = bus->append_array(call, 'y', servers[i].bytes, length);
        if (result >= 0)
            result = bus->close_container(call);
    }
    if (result >= 0)
        result = bus->close_container(call);
    if (result >= 0)
        result = bus->call(bus->bus, call, 0, error, &reply);
    bus->unref(call);
    bus->unref(reply);
    return result;
}

int csd_secure_link(
    struct csd_bus *bus, int link, const struct csd_server *servers, int count, char *problem, size_t size) {
    sd_bus_error error = {0};
    int result = set_servers(bus, link, servers, count, &error);
    if (result >= 0)
        result = bus->call_method(
            bus->bus, service, path, manager, "SetLinkDomains", &error, NULL, "ia(sb)", link, 1, ".", 1);
    if (result >= 0)
        result = bus->call_method(
            bus->bus, service, path, manager, "SetLinkDefaultRoute", &error, NULL, "ib", link, 1);
    // The way to the engine is inside this host; a host-wide "yes" would make resolved ask port 853 there.
    if (result >= 0)
        result = bus->call_method(
            bus->bus, service, path, manager, "SetLinkDNSOverTLS", &error, NULL, "is", link, "no");
    if (result < 0)
        fail(result, &error, problem, size);
    else
        // An uplink that wants every name too would go on giving out what was learnt around the tunnel.
        bus->call_method(bus->bus, service, path, manager, "FlushCaches", NULL, NULL, "");
    bus->error_free(&error);
    return result < 0 ? result : 0;
}

static int read_servers(struct csd_bus *bus, sd_bus_message *reply, struct csd_link_state *out) {
    int result = bus->enter_container(reply, 'a', "(iay)");
    while (result >= 0 && out->server_count < 8) {
        struct csd_server *server = &out->servers[out->server_count];
        const void *bytes = NULL;
        size_t length = 0;
        result = bus->enter_container(reply, 'r', "iay");
        if (result <= 0)
            break;
        result = bus->read(reply, "i", &server->family);
        if (result >= 0)
            result = bus->read_array(reply, 'y', &bytes, &length);
        if (result >= 0 && (length == 4 || length == 16)) {
            memcpy(server->bytes, bytes, length);
            out->server_count++;
        }
        if (result >= 0)
            result = bus->exit_container(reply);
    }
    return result;
}

static int read_domains(struct csd_bus *bus, sd_bus_message *reply, struct csd_link_state *out) {
    const char *domain;
    int routing_only;
    int result = bus->enter_container(reply, 'a', "(sb)");
    while (result >= 0 && (result = bus->read(reply, "(sb)", &domain, &routing_only)) > 0)
        if (routing_only && (!strcmp(domain, ".") || !*domain))
            out->takes_every_domain = 1;
    return result;
}

int csd_read_link(struct csd_bus *bus, int link, struct csd_link_state *out, char *problem, size_t size) {
    sd_bus_error error = {0};
    sd_bus_message *found = NULL, *reply = NULL;
    const char *object = NULL;
    memset(out, 0, sizeof *out);
    int result = bus->call_method(bus->bus, service, path, manager, "GetLink", &error, &found, "i", link);
    if (result >= 0)
        result = bus->read(found, "o", &object);
    if (result >= 0)
        result = bus->get_property(bus->bus, service, object, link_interface, "DNS", &error, &reply, "a(iay)");
    if (result >= 0)
        result = read_servers(bus, reply, out);
    reply = bus->unref(reply);
    if (result >= 0)
        result = bus->get_property(bus->bus, service, object, link_interface, "Domains", &error, &reply, "a(sb)");
    if (result >= 0)
        result = read_domains(bus, reply, out);
    reply = bus->unref(reply);
    if (result >= 0)
        result = bus->get_property(bus->bus, service, object, link_interface, "DefaultRoute", &error, &reply, "b");
    if (result >= 0)
        result = bus->read(reply, "b", &out->is_default_route);
    reply = bus->unref(reply);
    if (result >= 0)
        result = bus->get_property(bus->bus, service, object, link_interface, "DNSOverTLS", &error, &reply, "s");
    const char *tls = "";
    if (result >= 0)
        result = bus->read(reply, "s", &tls);
    out->is_plain = !strcmp(tls, "no");
    if (result < 0)
        fail(result, &error, problem, size);
    bus->unref(reply);
    bus->unref(found);
    bus->error_free(&error);
    return result < 0 ? result : 0;
}

int csd_revert_link(struct csd_bus *bus, int link, char *problem, size_t size) {
    sd_bus_error error = {0};
    int result = bus->call_method(bus->bus, service, path, manager, "RevertLink", &error, NULL, "i", link);
    if (result < 0)
        fail(result, &error, problem, size);
    else
        // Names learnt through the tunnel are no secret worth a failed disconnect.
        bus->call_method(bus->bus, service, path, manager, "FlushCaches", NULL, NULL, "");
    bus->error_free(&error);
    return result < 0 ? result : 0;
}

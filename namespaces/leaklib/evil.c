/* What stands in for a compromised engine in the tests: tries what an engine must not be able to do and prints one line for each
   try, "NAME ERRNO" (0: it worked). What else it does is in the file `order` among the user's rule-sets:
     probe           nothing else; it then ends with status 7
     pid kernel|self|worker|host|user     names that process as the holder of its sandbox and stays
     stay            sees to it that it is not killed with its parents, twice over, and stays
     trap            tries to leave traps and rubbish in its directory and ends
     bomb            leaves processes behind that fork all the time, and ends
   With THROWAWAY, a port, it stands in for the controller's engine, which can read no order: whatever it is run for, it tries all
   that and sends the lines, "WHAT NAME ERRNO", to that port of the loopback. Its name decides what a `run` does then: `evil-stay`
   stays without a word; any other has something against the configuration.
   Build: cc -static -DUSER='"/state/dir/users/61001"' -DRUN='"/run/dir"' evil.c */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <dirent.h>

static const char *what = "";

static void told(const char *name, long result) { printf("%s%s %d\n", what, name, result < 0 ? errno : 0); fflush(stdout); }

static void try_open(const char *name, const char *path, int flags)
{
    int file = open(path, flags, 0600);
    told(name, file);
    if (file >= 0) close(file);
}

static pid_t parent_of(pid_t pid)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, sizeof line, file)) return 0;
    fclose(file);
    char *end = strrchr(line, ')');
    pid_t parent = 0;
    if (end) sscanf(end + 1, " %*c %d", &parent);
    return parent;
}

/* One request of routing netlink, whose socket every program may have: -1 with what the kernel said to it. */
static long asked(int type, int flags, const void *body, size_t size, int attribute, unsigned value)
{
    struct { struct nlmsghdr head; char rest[128]; } message = {{0}}, answer;
    struct { struct rtattr head; unsigned value; } more = {{sizeof more, attribute}, value};
    int control = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    if (control < 0) return -1;
    memcpy(message.rest, body, size);
    if (attribute) memcpy(message.rest + size, &more, sizeof more);
    message.head.nlmsg_len = sizeof message.head + size + (attribute ? sizeof more : 0);
    message.head.nlmsg_type = type;
    message.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    long sent = send(control, &message, message.head.nlmsg_len, 0);
    if (sent >= 0) sent = recv(control, &answer, sizeof answer, 0);
    close(control);
    if (sent < 0) return -1;
    errno = -((struct nlmsgerr *)answer.rest)->error;
    return errno ? -1 : 0;
}

static void links(const char *when)
{
    char name[64];
    unsigned link = if_nametoindex("eth0");
    struct ifinfomsg down = {.ifi_family = AF_UNSPEC, .ifi_index = link, .ifi_change = IFF_UP};
    snprintf(name, sizeof name, "%s-netlink-link-down", when);
    told(name, asked(RTM_SETLINK, 0, &down, sizeof down, 0, 0));
    struct ifaddrmsg planted = {.ifa_family = AF_INET, .ifa_prefixlen = 24, .ifa_index = link};
    snprintf(name, sizeof name, "%s-netlink-address", when);
    told(name, asked(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &planted, sizeof planted, IFA_LOCAL, htonl(0x0a090909)));
    struct rtmsg route = {.rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_protocol = RTPROT_STATIC,
                          .rtm_scope = RT_SCOPE_LINK, .rtm_type = RTN_UNICAST};
    snprintf(name, sizeof name, "%s-netlink-route", when);
    told(name, asked(RTM_NEWROUTE, NLM_F_CREATE, &route, sizeof route, RTA_OIF, link));
    struct ifreq request = {0};
    int control = socket(AF_INET, SOCK_DGRAM, 0);
    strcpy(request.ifr_name, "eth0");
    snprintf(name, sizeof name, "%s-link-down", when);
    request.ifr_flags = 0;
    told(name, ioctl(control, SIOCSIFFLAGS, &request));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a090909)};
    memcpy(&request.ifr_addr, &address, sizeof address);
    snprintf(name, sizeof name, "%s-link-address", when);
    told(name, ioctl(control, SIOCSIFADDR, &request));
    snprintf(name, sizeof name, "%s-bind-device-raw", when);
    told(name, socket(AF_PACKET, SOCK_RAW, 0));
    snprintf(name, sizeof name, "%s-netfilter", when);
    told(name, socket(AF_NETLINK, SOCK_RAW, 12));
    snprintf(name, sizeof name, "%s-raw", when);
    told(name, socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
    int mark = 51820;
    snprintf(name, sizeof name, "%s-mark", when);
    told(name, setsockopt(control, SOL_SOCKET, SO_MARK, &mark, sizeof mark));
    close(control);
}

static void probe(pid_t host, pid_t worker)
{
    char path[256];
    /* 0 to 2, and the two configurations. */
    int open_descriptors = 0;
    for (int number = 5; number < 1024; number++) open_descriptors += fcntl(number, F_GETFD) >= 0;
    printf("%sinherited-descriptors %d\n", what, open_descriptors);
    fflush(stdout);
    try_open("control-own-file", "cache.db", O_RDWR);
    try_open("subscription", USER "/subscription.json", O_RDONLY);
    try_open("provider-source", USER "/source", O_RDONLY | O_DIRECTORY);
    try_open("write-profile", USER "/profile.json", O_RDWR);
    try_open("write-user-directory", USER "/planted", O_RDWR | O_CREAT);
    try_open("write-rule-sets", USER "/rule-sets/planted", O_RDWR | O_CREAT);
    try_open("write-state-root", USER "/../../planted", O_RDWR | O_CREAT);
    try_open("write-tmp", "/tmp/trocket-planted", O_RDWR | O_CREAT);
    try_open("write-shm", "/dev/shm/trocket-planted", O_RDWR | O_CREAT);
    try_open("write-run", RUN "/planted", O_RDWR | O_CREAT);
    try_open("read-shadow", "/etc/shadow", O_RDONLY);
    try_open("read-ledger", RUN "/worker/ledger.json", O_RDONLY);
    try_open("write-ledger", RUN "/worker/ledger.json", O_RDWR | O_CREAT);
    told("unlink-ledger", unlink(RUN "/worker/ledger.json"));
    told("unlink-socket", unlink(RUN "/command.sock"));
    told("link-out-of-directory", link(USER "/subscription.json", "stolen"));

    /* What an engine owns and the next one needs: closed to it, or by an access list that all new files get. */
    told("close-own-directory", chmod(".", 0));
    told("close-log-directory", chmod(USER "/../../engine", 0));
    static const unsigned char list[] = {2, 0, 0, 0, 1, 0, 0, 0, 255, 255, 255, 255, 4, 0, 0, 0, 255, 255, 255, 255,
                                         32, 0, 0, 0, 255, 255, 255, 255};
    told("list-on-own-directory", setxattr(".", "system.posix_acl_default", list, sizeof list, 0));

    /* The system's bus, the screen, a container's manager: whoever may make no such socket reaches none of them. */
    int command = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    strcpy(place.sun_path, RUN "/command.sock");
    told("command-socket", command < 0 ? -1 : connect(command, (struct sockaddr *)&place, sizeof place));

    told("signal-worker", kill(worker, 0));
    told("signal-host", kill(host, 0));
    told("stop-host", kill(host, SIGSTOP));
    told("stop-worker", kill(worker, SIGSTOP));
    told("kill-worker", kill(worker, SIGKILL));
    told("trace-worker", ptrace(PTRACE_ATTACH, worker, 0, 0));
    told("trace-host", ptrace(PTRACE_ATTACH, host, 0, 0));
    char byte;
    struct iovec mine = {&byte, 1}, theirs = {(void *)0x400000, 1};
    told("read-worker-memory", process_vm_readv(worker, &mine, 1, &theirs, 1, 0));
    told("read-host-memory", process_vm_readv(host, &mine, 1, &theirs, 1, 0));
    snprintf(path, sizeof path, "/proc/%d/mem", worker);
    try_open("open-worker-memory", path, O_RDWR);
    snprintf(path, sizeof path, "/proc/%d/fd", worker);
    DIR *listed = opendir(path);
    told("list-worker-descriptors", listed ? 0 : -1);
    snprintf(path, sizeof path, "/proc/%d/mem", host);
    try_open("open-host-memory", path, O_RDWR);

    snprintf(path, sizeof path, "/proc/%d/environ", host);
    try_open("read-host-environment", path, O_RDONLY);
    try_open("read-first-process", "/proc/1/environ", O_RDONLY);

    told("shared-memory", shmget(IPC_PRIVATE, 1 << 20, 0600));
    told("keys", syscall(SYS_add_key, "user", "planted", "x", 1, -5));
    told("io-uring", syscall(SYS_io_uring_setup, 1, path));
    told("bpf", syscall(SYS_bpf, 0, path, sizeof path));
    told("page-faults", syscall(SYS_userfaultfd, 0));
    told("counters", syscall(SYS_perf_event_open, path, 0, -1, -1, 0));
    signal(SIGXFSZ, SIG_IGN);
    int big = open("cache.db", O_RDWR);
    told("file-of-a-gigabyte", ftruncate(big, 1 << 30));
    struct rlimit limit = {1 << 20, 1 << 20};
    told("more-descriptors", setrlimit(RLIMIT_NOFILE, &limit));

    links("host");
    told("become-root", setuid(0));
    told("unshare-network", unshare(CLONE_NEWNET));
    told("mount", mount("none", "/tmp", "tmpfs", 0, ""));
    if (fork() == 0) { execl("/bin/sh", "sh", "-c", "true", NULL); told("exec-shell", -1); _exit(0); }
    wait(NULL);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in ssh = {.sin_family = AF_INET, .sin_port = htons(2223), .sin_addr.s_addr = INADDR_ANY};
    told("listen-elsewhere", bind(listener, (struct sockaddr *)&ssh, sizeof ssh));
    if (fork() == 0) {
        /* Capabilities in a user namespace of its own are worth nothing on the host's network. */
        if (unshare(CLONE_NEWUSER) == 0) links("as-namespace-root");
        _exit(0);
    }
    wait(NULL);
    printf("%sworker-is %d\n", what, worker);
    fflush(stdout);
}

#ifdef THROWAWAY
/* Of the user's other processes, the controller first. */
static void probe_user(pid_t controller)
{
    char path[64];
    for (int number = 0; number < 8; number++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", controller, number);
        int file = open(path, O_RDWR);
        if (file >= 0 || errno != ENOENT) { told("controller-descriptor", file); break; }
    }
    try_open("home", HOME, O_RDONLY | O_DIRECTORY);
    try_open("home-file", HOME "/secret", O_RDONLY);
    try_open("write-home", HOME "/planted", O_RDWR | O_CREAT);
    try_open("write-programs", RUN "/../bin/planted", O_RDWR | O_CREAT);
    told("outlive-controller", prctl(PR_SET_PDEATHSIG, 0));
    pid_t child = fork();
    if (child == 0) { prctl(PR_SET_PDEATHSIG, 0); setsid(); for (;;) pause(); }
    told("fork", child);
    child = syscall(SYS_vfork);
    if (child == 0) _exit(0);
    told("vfork", child);
    child = syscall(SYS_clone3, path, sizeof path);
    if (child == 0) _exit(0);
    told("clone3", child);
    execl("/bin/sh", "sh", "-c", "true", NULL);
    told("become-shell", -1);
    try_open("control-passwd", "/etc/passwd", O_RDONLY);
    printf("%sdone 0\n", what);
    fflush(stdout);
}

static int throw_away(const char *verb)
{
    char name[64], self[256] = "";
    snprintf(name, sizeof name, "%s ", verb);
    what = name;
    int output = dup(1), report = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(THROWAWAY), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(report, (struct sockaddr *)&place, sizeof place) < 0) return 5;
    dup2(report, 1);
    close(report);
    probe(getppid(), getppid());
    probe_user(getppid());
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 5;
    if (!strcmp(verb, "version"))
        dprintf(output, "sing-box version 1.14.2\n\nTags: with_gvisor,with_quic,with_utls,with_clash_api\n");
    if (strcmp(verb, "run")) return 0;
    if (!strcmp(self + strlen(self) - 5, "-stay")) for (;;) pause();
    dprintf(output, "FATAL[0000] no such thing\n");
    return 1;
}
#endif

static int laid;

static void trap_directory(const char *name, mode_t mode) { laid += mkdir(name, mode) == 0; }

static void trap_file(const char *name, mode_t mode)
{
    int file = open(name, O_RDWR | O_CREAT, mode);
    laid += file >= 0;
    close(file);
}

/* What the next engine stumbles over, unless somebody clears it away. */
static void trap(void)
{
    char name[256];
    trap_directory("holder.pid", 0700);
    trap_directory("holder.pid/deep", 0700);
    trap_file("holder.pid/deep/file", 0);
    trap_directory("holder.pid/deep/closed", 0);
    laid += unlink("cache.db") == 0;
    laid += mkfifo("cache.db", 0600) == 0;
    for (int number = 0; number < 64; number++) {
        snprintf(name, sizeof name, "rubbish-%d", number);
        trap_file(name, 0600);
    }
    laid += symlink("/etc/passwd", "link") == 0;
    laid += rename("holder.pid", "other") == 0;
    laid += link("cache.db", "other") == 0;
    /* Names that are no text, and those that are too much of it. */
    trap_file("\xff", 0600);
    trap_directory("names", 0700);
    trap_file("names/\xff\xfe", 0600);
    trap_directory("names/\xc3\x28", 0700);
    trap_file("names/\xc3\x28/\x80", 0);
    trap_file("names/line\nline\n", 0600);
    trap_file("\n", 0600);
    memset(name, 0xe9, sizeof name - 1);
    name[sizeof name - 1] = 0;
    trap_file(name, 0600);
    trap_directory("longest", 0700);
    laid += chdir("longest") == 0;
    /* Deeper than any path is long. */
    for (int depth = 0; depth < 40; depth++) {
        trap_directory(name, 0700);
        laid += chdir(name) == 0;
        trap_file("\xff", 0);
    }
    printf("laid %d\n", laid);
    fflush(stdout);
}

/* Processes which are always another one when somebody looks. */
static void bomb(void)
{
    for (int number = 0; number < 40; number++)
        if (fork() == 0)
            for (;;) {
                prctl(PR_SET_PDEATHSIG, 0);
                setsid();
                pid_t next = fork();
                if (next > 0) _exit(0);
                usleep(next < 0 ? 1000 : 200);
            }
}

int main(int count, char **words)
{
#ifdef THROWAWAY
    return throw_away(count > 1 ? words[1] : "nothing");
#endif
    (void)count, (void)words;
    char order[64] = "";
    FILE *file = fopen(USER "/rule-sets/order", "r");
    if (!file || !fgets(order, sizeof order, file)) return 6;
    fclose(file);
    order[strcspn(order, "\n")] = 0;
    pid_t host = getppid(), worker = parent_of(host), named = 2;
    if (!strcmp(order, "probe")) { probe(host, worker); return 7; }
    if (!strcmp(order, "stay")) {
        prctl(PR_SET_PDEATHSIG, 0);
        if (fork() == 0) setsid();
        prctl(PR_SET_DUMPABLE, 0);
        printf("stays\n");
        fflush(stdout);
        for (;;) pause();
    }
    if (!strcmp(order, "trap")) { trap(); return 7; }
    if (!strcmp(order, "bomb")) { bomb(); return 7; }
    if (!strcmp(order, "pid self")) named = getpid();
    if (!strcmp(order, "pid worker")) named = worker;
    if (!strcmp(order, "pid host")) named = host;
    if (!strcmp(order, "pid user")) {
        /* A user namespace of its own, but the host's network. */
        named = fork();
        if (named == 0) { if (unshare(CLONE_NEWUSER)) return 5; pause(); }
        usleep(100000);
    }
    printf("named %d\n", named);
    fflush(stdout);
    file = fopen("holder.pid", "w");
    fprintf(file, "%d\n", named);
    fclose(file);
    pause();
}

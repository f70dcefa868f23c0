/* An engine that gets as far as its sandbox and no further: it makes the namespaces, names their holder in the file `holder.pid`
   of its directory, and ends with status 1 once there is the file ENOUGH (or after a minute).
   Build: cc -static -DPID_FILE='"/run/dir/engine/holder.pid"' -DENOUGH='"/a/file"' stuck.c */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

static int put(const char *path, const char *text, int length)
{
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    return file < 0 || write(file, text, length) != length || close(file);
}

int main(void)
{
    int made[2];
    char text[64];
    if (pipe(made)) return 2;
    unsigned user = getuid(), group = getgid();
    pid_t holder = fork();
    if (holder == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (unshare(CLONE_NEWUSER | CLONE_NEWNET)) return 3;
        put("/proc/self/setgroups", "deny", 4);
        put("/proc/self/uid_map", text, snprintf(text, sizeof text, "0 %u 1", user));
        put("/proc/self/gid_map", text, snprintf(text, sizeof text, "0 %u 1", group));
        if (write(made[1], "x", 1) != 1) return 4;
        pause();
    }
    if (holder < 0 || read(made[0], text, 1) != 1) return 5;
    if (put(PID_FILE, text, snprintf(text, sizeof text, "%d", (int)holder))) return 6;
    struct stat told;
    for (int tick = 0; tick < 6000 && stat(ENOUGH, &told); tick++) usleep(10 * 1000);
    fprintf(stderr, "FATAL stuck on purpose\n");
    return 1;
}

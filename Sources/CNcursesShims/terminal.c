// Opening and closing the terminal, also when the program dies.
#include "CNcursesShims.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

static SCREEN *screen;
static struct termios saved_modes;
static int modes_saved;
static volatile sig_atomic_t active;

// What undoes full-screen mode, gathered beforehand: the handler of a crash may not ask terminfo.
static char restore[512];
static size_t restore_length;

static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGQUIT};
#define FATAL_COUNT (sizeof fatal_signals / sizeof *fatal_signals)
static struct sigaction former[FATAL_COUNT];

// Bracketed paste has no standard terminfo capability; terminals without it ignore the sequence.
static const char paste_on[] = "\033[?2004h";
static const char paste_off[] = "\033[?2004l";
static const char mouse_off[] = "\033[?1000l\033[?1002l\033[?1006l";

int cs_locale(void) {
    const char *wanted = getenv("LC_ALL");
    if (!wanted || !*wanted) wanted = getenv("LC_CTYPE");
    if (!wanted || !*wanted) wanted = getenv("LANG");
    if (!setlocale(LC_CTYPE, "") && wanted && (strcasestr(wanted, "utf-8") || strcasestr(wanted, "utf8")))
        setlocale(LC_CTYPE, "C.UTF-8");
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

int cs_terminal_problem(void) {
    const char *name = getenv("TERM");
    if (!name || !*name) return 1;
    int found = 0;
    if (setupterm(name, 1, &found) != OK) return 2;
    int usable = cursor_address && clear_screen;
    del_curterm(cur_term);
    return usable ? 0 : 3;
}

static void remember(const char *text) {
    if (!text || text == (char *)-1) return;
    // Padding ($<5>) is for hardware terminals; an emulator would print it.
    while (*text && restore_length < sizeof restore) {
        if (text[0] == '$' && text[1] == '<') {
            const char *end = strchr(text, '>');
            if (end) {
                text = end + 1;
                continue;
            }
        }
        restore[restore_length++] = *text++;
    }
}

static void write_all(const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = write(STDOUT_FILENO, bytes, count);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return;
        bytes += sent;
        count -= (size_t)sent;
    }
}

static void on_fatal(int number) {
    int kept = errno;
    if (active) {
        active = 0;
        write_all(restore, restore_length);
        if (modes_saved) tcsetattr(STDIN_FILENO, TCSANOW, &saved_modes);
    }
    // The default action, not the former one: the language runtime's own handler would ask questions at the terminal.
    signal(number, SIG_DFL);
    errno = kept;
    // A fault happens again as soon as this returns; an abort is raised here.
    raise(number);
}

static void watch_fatal(void) {
    static char stack[65536];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack, .ss_flags = 0};
    sigaltstack(&alternate, NULL);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_fatal;
    action.sa_flags = SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < FATAL_COUNT; i++) sigaction(fatal_signals[i], &action, &former[i]);
}

static void enter_modes(void) {
    raw();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    idlok(stdscr, TRUE);
    // Whole frames: no stopping half-way because a key waits.
    typeahead(-1);
    mouseinterval(0);
    mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
    // nodelay() does not hold after a mouse event nobody wants: ncurses then reads again and would wait for ever.
    struct termios modes;
    if (tcgetattr(STDIN_FILENO, &modes) == 0) {
        modes.c_cc[VMIN] = 0;
        modes.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
        def_prog_mode();
    }
}

int cs_open(int want_colours) {
    modes_saved = tcgetattr(STDIN_FILENO, &saved_modes) == 0;
    // Long enough for the rest of a key's sequence to arrive over a slow line, too short to be felt on Escape.
    set_escdelay(15);
    screen = newterm(NULL, stdout, stdin);
    if (!screen) return -1;
    set_term(screen);
    enter_modes();
    cs_define_keys();
    if (want_colours && has_colors() && start_color() == OK && use_default_colors() == OK) {
        for (int colour = 0; colour < (COLORS < 256 ? COLORS : 256) && colour + 1 < COLOR_PAIRS; colour++)
            init_pair((short)(colour + 1), (short)colour, -1);
        // Black and white of the colour cube: themes change the first sixteen colours only.
        init_pair(1, COLORS >= 256 ? 16 : 0, COLORS >= 256 ? 231 : 7);
    } else {
        want_colours = 0;
    }
    restore_length = 0;
    remember(mouse_off);
    remember(paste_off);
    remember(exit_attribute_mode);
    remember(cursor_normal);
    remember(keypad_local);
    remember(exit_ca_mode);
    active = 1;
    watch_fatal();
    atexit(cs_close);
    write_all(paste_on, sizeof paste_on - 1);
    return 0;
}

static void leave(void) {
    write_all(paste_off, sizeof paste_off - 1);
    curs_set(1);
    endwin();
}

void cs_close(void) {
    if (!active) return;
    active = 0;
    leave();
    for (size_t i = 0; i < FATAL_COUNT; i++) sigaction(fatal_signals[i], &former[i], NULL);
}

void cs_suspend(void) {
    if (!active) return;
    leave();
    struct sigaction standard, kept;
    memset(&standard, 0, sizeof standard);
    standard.sa_handler = SIG_DFL;
    sigemptyset(&standard.sa_mask);
    sigaction(SIGTSTP, &standard, &kept);
    kill(getpid(), SIGTSTP);
    sigaction(SIGTSTP, &kept, NULL);
    enter_modes();
    cs_take_size();
    write_all(paste_on, sizeof paste_on - 1);
    cs_resend_all();
}

int cs_colours(void) { return COLOR_PAIRS > 1 && COLORS >= 8 ? COLORS : 0; }

void cs_size(int *height, int *width) { getmaxyx(stdscr, *height, *width); }

void cs_take_size(void) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0 &&
        is_term_resized(size.ws_row, size.ws_col))
        resizeterm(size.ws_row, size.ws_col);
}

void cs_write(const char *bytes, int count) { write_all(bytes, (size_t)count); }

int cs_take_signals(void) {
    sigset_t taken;
    sigemptyset(&taken);
    sigaddset(&taken, SIGWINCH);
    sigaddset(&taken, SIGTERM);
    sigaddset(&taken, SIGHUP);
    sigaddset(&taken, SIGINT);
    sigaddset(&taken, SIGCONT);
    if (sigprocmask(SIG_BLOCK, &taken, NULL) != 0) return -1;
    return signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

int cs_next_signal(int descriptor) {
    struct signalfd_siginfo found;
    if (read(descriptor, &found, sizeof found) != (ssize_t)sizeof found) return CS_SIGNAL_NONE;
    switch (found.ssi_signo) {
    case SIGWINCH: return CS_SIGNAL_RESIZED;
    case SIGCONT: return CS_SIGNAL_CONTINUED;
    default: return CS_SIGNAL_END;
    }
}

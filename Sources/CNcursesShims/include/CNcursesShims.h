// What Swift cannot say to ncursesw: globals and macros (stdscr, COLS, A_BOLD, KEY_F), cchar_t, and a signal handler.
// One terminal at a time; every function belongs to the thread that opened it.
#pragma once

#include <stdint.h>

// --- terminal.c ------------------------------------------------------------------------------------------------------
/// Sets LC_CTYPE from the environment; where that locale is not installed but names UTF-8, C.UTF-8 stands in.
/// Returns 1 when characters are UTF-8, else 0.
int cs_locale(void);
/// Looks at TERM: 0 usable, 1 not set, 2 unknown to terminfo, 3 cannot address the cursor.
int cs_terminal_problem(void);
/// Starts full-screen mode on descriptors 0 and 1. 0, or -1 when ncurses refuses.
int cs_open(int want_colours);
/// Ends full-screen mode and restores the terminal. Safe to call twice.
void cs_close(void);
/// Leaves full-screen mode, stops the process as Ctrl-Z does, and comes back when it is continued.
void cs_suspend(void);
/// The number of colours in use; 0 without.
int cs_colours(void);
/// The size ncurses works with.
void cs_size(int *height, int *width);
/// Asks the terminal for its size (TIOCGWINSZ) and takes it over.
void cs_take_size(void);
/// Writes bytes to the terminal behind ncurses' back: clipboard, nothing that moves the cursor.
void cs_write(const char *bytes, int count);

enum cs_signal { CS_SIGNAL_NONE, CS_SIGNAL_RESIZED, CS_SIGNAL_END, CS_SIGNAL_CONTINUED };
/// A signalfd(2) for the signals a terminal program takes, which are blocked from then on; -1 on failure.
int cs_take_signals(void);
/// The next of them, as cs_signal; CS_SIGNAL_NONE when none waits.
int cs_next_signal(int descriptor);

// --- drawing.c -------------------------------------------------------------------------------------------------------
#define CS_BOLD 1u
#define CS_DIM 2u
#define CS_REVERSE 4u
#define CS_UNDERLINE 8u
/// The columns this C library gives a character (wcwidth(3)); -1 for one it cannot print.
int cs_width(uint32_t scalar);
/// Puts one character and the marks on it into a cell. colour: 0 default, 1 black on
/// white, else 1 + an ncurses colour number on the default background.
void cs_put(int row, int column, const uint32_t *scalars, int count, unsigned attributes, int colour);
/// Blanks a row from a column on.
void cs_clear_from(int row, int column);
/// Marks a row as garbled, so that it is sent whole.
void cs_resend_row(int row);
/// Sends what changed. The cursor is shown at a place, or hidden when row is -1.
void cs_show(int row, int column);
/// Makes the next cs_show send everything.
void cs_resend_all(void);

// --- input.c ---------------------------------------------------------------------------------------------------------
enum cs_kind {
    CS_NONE,       // nothing waits
    CS_CHARACTER,  // value: the scalar
    CS_KEY,        // value: one of cs_key
    CS_CLICK,      // row, column
    CS_WHEEL_UP,
    CS_WHEEL_DOWN,
    CS_OTHER,  // something to ignore
};
enum cs_key {
    CS_KEY_UP,
    CS_KEY_DOWN,
    CS_KEY_LEFT,
    CS_KEY_RIGHT,
    CS_KEY_PAGE_UP,
    CS_KEY_PAGE_DOWN,
    CS_KEY_HOME,
    CS_KEY_END,
    CS_KEY_ENTER,
    CS_KEY_BACKSPACE,
    CS_KEY_DELETE,
    CS_KEY_PASTE_BEGIN,
    CS_KEY_PASTE_END,
};
struct cs_event {
    int kind;
    uint32_t value;
    int row;
    int column;
};
/// The next thing typed or clicked, without waiting.
void cs_next(struct cs_event *out);
/// Teaches ncurses the keys terminfo does not name. Called by cs_open.
void cs_define_keys(void);

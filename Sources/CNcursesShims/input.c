// Keys, mouse and pastes.
#include "CNcursesShims.h"

#include <langinfo.h>
#include <ncurses.h>
#include <string.h>

enum { PASTE_BEGIN = KEY_MAX + 1, PASTE_END };

void cs_define_keys(void) {
    define_key("\033[200~", PASTE_BEGIN);
    define_key("\033[201~", PASTE_END);
    // Home and End as terminals send them outside of application mode.
    define_key("\033[H", KEY_HOME);
    define_key("\033[F", KEY_END);
    define_key("\033[1~", KEY_HOME);
    define_key("\033[4~", KEY_END);
    define_key("\033[A", KEY_UP);
    define_key("\033[B", KEY_DOWN);
    define_key("\033[C", KEY_RIGHT);
    define_key("\033[D", KEY_LEFT);
}

static int named(int code) {
    switch (code) {
    case KEY_UP: return CS_KEY_UP;
    case KEY_DOWN: return CS_KEY_DOWN;
    case KEY_LEFT: return CS_KEY_LEFT;
    case KEY_RIGHT: return CS_KEY_RIGHT;
    case KEY_PPAGE: return CS_KEY_PAGE_UP;
    case KEY_NPAGE: return CS_KEY_PAGE_DOWN;
    case KEY_HOME: return CS_KEY_HOME;
    case KEY_END: return CS_KEY_END;
    case KEY_ENTER: return CS_KEY_ENTER;
    case KEY_BACKSPACE: return CS_KEY_BACKSPACE;
    case KEY_DC: return CS_KEY_DELETE;
    case PASTE_BEGIN: return CS_KEY_PASTE_BEGIN;
    case PASTE_END: return CS_KEY_PASTE_END;
    default: return -1;
    }
}

static void mouse(struct cs_event *out) {
    MEVENT event;
    out->kind = CS_OTHER;
    if (getmouse(&event) != OK) return;
    out->row = event.y;
    out->column = event.x;
    if (event.bstate & BUTTON4_PRESSED) {
        out->kind = CS_WHEEL_UP;
    } else if (event.bstate & BUTTON5_PRESSED) {
        out->kind = CS_WHEEL_DOWN;
    } else if (event.bstate & BUTTON1_PRESSED) {
        out->kind = CS_CLICK;
    }
}

// The rest of a UTF-8 sequence (RFC 3629, 3), taken byte by byte; what is none becomes U+FFFD.
static wint_t utf8(int first) {
    int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    wint_t scalar = (wint_t)first & (0x3fu >> more);
    while (more-- > 0) {
        int next = getch();
        if (next < 0x80 || next > 0xbf) {
            if (next != ERR) ungetch(next);
            return 0xfffd;
        }
        scalar = scalar << 6 | ((wint_t)next & 0x3f);
    }
    return scalar;
}

// As get_wch, where the locale knows ASCII only: it would lose what follows a byte beyond. Terminals send UTF-8 all the same,
// as after SSH to a machine that has no locale set.
static int next_of_bytes(wint_t *value) {
    int byte = getch();
    if (byte == ERR) return ERR;
    if (byte >= KEY_MIN) {
        *value = (wint_t)byte;
        return KEY_CODE_YES;
    }
    *value = byte < 0x80 ? (wint_t)byte : byte < 0xc2 || byte > 0xf4 ? 0xfffd : utf8(byte);
    return OK;
}

void cs_next(struct cs_event *out) {
    wint_t value = 0;
    int result = strcmp(nl_langinfo(CODESET), "ANSI_X3.4-1968") == 0 ? next_of_bytes(&value) : get_wch(&value);
    out->kind = CS_NONE;
    out->value = 0;
    out->row = out->column = -1;
    if (result == OK) {
        out->kind = CS_CHARACTER;
        out->value = (uint32_t)value;
    } else if (result == KEY_CODE_YES && value == KEY_MOUSE) {
        mouse(out);
    } else if (result == KEY_CODE_YES) {
        int key = named((int)value);
        out->kind = key < 0 ? CS_OTHER : CS_KEY;
        out->value = key < 0 ? 0 : (uint32_t)key;
    }
}

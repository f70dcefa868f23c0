// Cells, attributes, colours.
#include "CNcursesShims.h"

#include <ncurses.h>
#include <wchar.h>

_Static_assert(sizeof(wchar_t) == sizeof(uint32_t), "a wide character is a Unicode scalar here");

int cs_width(uint32_t scalar) { return wcwidth((wchar_t)scalar); }

void cs_put(int row, int column, const uint32_t *scalars, int count, unsigned attributes, int colour) {
    wchar_t text[CCHARW_MAX + 1];
    int used = 0;
    for (; used < count && used < CCHARW_MAX; used++) text[used] = (wchar_t)scalars[used];
    text[used] = 0;
    attr_t flags = A_NORMAL;
    if (attributes & CS_BOLD) flags |= A_BOLD;
    if (attributes & CS_DIM) flags |= A_DIM;
    if (attributes & CS_REVERSE) flags |= A_REVERSE;
    if (attributes & CS_UNDERLINE) flags |= A_UNDERLINE;
    cchar_t cell;
    if (setcchar(&cell, text, flags, (short)colour, NULL) == OK) mvadd_wch(row, column, &cell);
}

void cs_clear_from(int row, int column) {
    if (column < getmaxx(stdscr) && move(row, column) == OK) clrtoeol();
}

void cs_resend_row(int row) { wredrawln(stdscr, row, 1); }

void cs_resend_all(void) { clearok(stdscr, TRUE); }

void cs_show(int row, int column) {
    if (row >= 0) move(row, column);
    curs_set(row >= 0 ? 1 : 0);
    refresh();
}

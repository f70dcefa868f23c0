// What the Screen module sees of ncursesw.
#define _XOPEN_SOURCE_EXTENDED 1
#include <ncurses.h>

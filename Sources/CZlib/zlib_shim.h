// What the Transfer module sees of zlib.
#include <zlib.h>

// What the Privileges module sees of libcap.
#include <sys/capability.h>

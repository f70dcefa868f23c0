// What the Firewall module sees of libnftables.
#include <nftables/libnftables.h>

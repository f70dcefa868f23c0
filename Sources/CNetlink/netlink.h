// What the Netlink module sees of libnl 3 (sockets, building messages) and of the kernel's rtnetlink interface.
#include <netlink/netlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/socket.h>
#include <linux/rtnetlink.h>
#include <linux/fib_rules.h>
#include <linux/if_link.h>
#include <linux/if_addr.h>
#include <linux/veth.h>
#include <linux/sock_diag.h>
#include <linux/inet_diag.h>

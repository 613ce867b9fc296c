/* client.h - who is at the other end of a connection: address, owner of the socket, and whom a proxy names.
 */
#ifndef STA_SERVE_CLIENT_H
#define STA_SERVE_CLIENT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>
#include "common/error.h"

union sta_address {
    struct sockaddr_un local; /* first: the longest, so that {0} clears all */
    struct sockaddr_in6 six;
    struct sockaddr_in four;
    struct sockaddr any;
};

/* ---- the owner of the other end */

enum sta_owner {
    STA_OWNER_UNKNOWN, /* not asked, or the kernel did not say */
    STA_OWNER_OTHER,
    STA_OWNER_SELF /* the daemon's own user, or root */
};

struct sta_client {
    char name[64];   /* "192.0.2.7"; "unix" for a socket in the file system */
    uint64_t number; /* the same for the same address (IPv6: network of 64 bits; 127.0.0.0/8: one) */
    enum sta_owner owner;
    uid_t uid; /* unless the owner is unknown */
};

/** A client of that address whose owner is unknown. */
struct sta_client sta_client_of(const union sta_address *address);

/**
 * sta_owner_find - ask the kernel whose process the other end of a connection is
 * @fd: the accepted socket; TCP with both ends on this machine, or a socket in the file system
 * @netlink: a socket for such queries, kept between calls; -1 at first
 * Asks sock_diag for the exact pair of addresses, else looks into /proc/net/tcp.  An end that its process has
 * closed already has no owner.
 */
enum sta_owner sta_owner_find(int fd, int *netlink, uid_t *uid);

/* ---- proxies */

struct sta_network {
    struct in6_addr address; /* IPv4 as mapped */
    unsigned bits;
};

/* Whose X-Forwarded-For is believed. */
struct sta_networks {
    struct sta_network *items;
    size_t count;
    bool local; /* whoever comes by a socket in the file system */
};

/** Reads addresses, networks such as 10.0.0.0/8, and "unix".  Fini after success. */
STA_MUSTCHECK int sta_networks_parse(const char *const *texts, size_t count, struct sta_networks *networks,
                                     struct sta_error *err);
void sta_networks_fini(struct sta_networks *networks);
bool sta_networks_hold(const struct sta_networks *networks, const union sta_address *address);

/**
 * sta_client_forwarded - the client that trusted proxies name
 * @forwarded: an X-Forwarded-For header, to which each proxy adds who called it
 * @client: set to the last address that is not a trusted proxy's own; the owner is unknown then
 * Return: false, and @client as it was, when there is none or it is no address.
 */
bool sta_client_forwarded(const struct sta_networks *proxies, const char *forwarded,
                          struct sta_client *client);

#endif

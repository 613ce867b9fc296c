/* Whose process the other end of a connection is.
 *
 * Every user of a machine reaches its loopback addresses, so an address says nothing about who calls.  The
 * kernel knows: both ends of the connection are its own sockets, and a socket belongs to the user who made
 * it.
 *
 * DESIGN.  A reply of the kernel counts only with an inode.  A socket that its process has closed, while its
 * last bytes are still under way (FIN_WAIT, TIME_WAIT), is reported with inode 0 and user 0, which would make
 * root of everybody who sends a request and closes at once. */
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "serve/http/client.h"

/* ---- by netlink */

static int open_netlink(void)
{
    struct timeval limit = {.tv_sec = 1};
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return fd;
}

static void put_end(const union sta_address *address, __be16 *port, __be32 *bytes)
{
    bool four = address->any.sa_family == AF_INET;
    *port = four ? address->four.sin_port : address->six.sin6_port;
    if (four)
        memcpy(bytes, &address->four.sin_addr, sizeof address->four.sin_addr);
    else
        memcpy(bytes, &address->six.sin6_addr, sizeof address->six.sin6_addr);
}

struct query {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
};

static bool send_query(int netlink, uint32_t sequence, const union sta_address *theirs,
                       const union sta_address *ours)
{
    struct query query = {
        .head = {.nlmsg_len = sizeof query,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST,
                 .nlmsg_seq = sequence},
        .body = {.sdiag_family = (__u8)theirs->any.sa_family,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = UINT32_MAX,
                 .id = {.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };
    put_end(theirs, &query.body.id.idiag_sport, query.body.id.idiag_src);
    put_end(ours, &query.body.id.idiag_dport, query.body.id.idiag_dst);
    return send(netlink, &query, sizeof query, 0) == (ssize_t)sizeof query;
}

/* Return: 1 and the user, 0: there is no such socket with an owner, -1: the query was not answered. */
static int read_reply(int netlink, uint32_t sequence, uid_t *uid)
{
    union {
        struct nlmsghdr head;
        char bytes[1024];
    } response;
    do {
        ssize_t got = recv(netlink, &response, sizeof response, 0);
        if (got < (ssize_t)sizeof response.head || !NLMSG_OK(&response.head, (size_t)got))
            return -1;
    } while (response.head.nlmsg_seq != sequence);
    if (response.head.nlmsg_type == NLMSG_ERROR) {
        const struct nlmsgerr *error = NLMSG_DATA(&response.head);
        return error->error == -ENOENT ? 0 : -1;
    }
    const struct inet_diag_msg *found = NLMSG_DATA(&response.head);
    if (response.head.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        response.head.nlmsg_len < NLMSG_LENGTH(sizeof *found))
        return -1;
    *uid = found->idiag_uid;
    return found->idiag_inode != 0;
}

static int query_netlink(int *netlink, const union sta_address *theirs, const union sta_address *ours,
                         uid_t *uid)
{
    static _Thread_local uint32_t sequence;
    if (*netlink < 0)
        *netlink = open_netlink();
    if (*netlink < 0 || !send_query(*netlink, ++sequence, theirs, ours))
        return -1;
    return read_reply(*netlink, sequence, uid);
}

/* ---- by /proc */

/* "0100007F:1F90": the words of the address as the machine holds them, and the port. */
static void write_end(const union sta_address *address, char text[64])
{
    uint32_t words[4];
    __be16 port;
    put_end(address, &port, words);
    size_t count = address->any.sa_family == AF_INET ? 1 : 4, used = 0;
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, 64 - used, "%08X", words[i]);
    snprintf(text + used, 64 - used, ":%04X", ntohs(port));
}

static int query_proc(const union sta_address *theirs, const union sta_address *ours, uid_t *uid)
{
    char line[512], local[64], remote[64], wanted_local[64], wanted_remote[64];
    unsigned found_uid;
    unsigned long inode;
    int result = -1;
    FILE *file = fopen(theirs->any.sa_family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6", "re");
    if (file == NULL)
        return -1;
    write_end(theirs, wanted_local);
    write_end(ours, wanted_remote);
    while (result < 0 && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%*s %63s %63s %*s %*s %*s %*s %u %*s %lu", local, remote, &found_uid, &inode) ==
                4 &&
            strcmp(local, wanted_local) == 0 && strcmp(remote, wanted_remote) == 0) {
            *uid = found_uid;
            result = inode != 0;
        }
    fclose(file);
    return result;
}

/* ---- the whole */

static bool find_tcp(int fd, int *netlink, uid_t *uid)
{
    union sta_address theirs = {0}, ours = {0};
    socklen_t their_size = sizeof theirs, our_size = sizeof ours;
    if (getpeername(fd, &theirs.any, &their_size) != 0 || getsockname(fd, &ours.any, &our_size) != 0)
        return false;
    int found = query_netlink(netlink, &theirs, &ours, uid);
    return (found < 0 ? query_proc(&theirs, &ours, uid) : found) == 1;
}

static bool find_local(int fd, uid_t *uid)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    *uid = peer.uid;
    return true;
}

enum sta_owner sta_owner_find(int fd, int *netlink, uid_t *uid)
{
    int domain = 0;
    socklen_t size = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0)
        return STA_OWNER_UNKNOWN;
    if (!(domain == AF_UNIX ? find_local(fd, uid) : find_tcp(fd, netlink, uid)))
        return STA_OWNER_UNKNOWN;
    return *uid == 0 || *uid == geteuid() ? STA_OWNER_SELF : STA_OWNER_OTHER;
}

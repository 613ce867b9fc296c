/* The listening socket: an address such as "127.0.0.1:7878", "[::1]:7878", "localhost:0" becomes one. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "serve/http_private.h"

#define BACKLOG 1024

/* "HOST:PORT" or "[HOST]:PORT" in two. */
static int split_address(const char *listen, char **host, const char **port, struct sta_error *err)
{
    const char *colon = strrchr(listen, ':');
    bool bracketed = listen[0] == '[';
    const char *end = bracketed ? strchr(listen, ']') : colon;
    if (colon == NULL || end == NULL || end == listen || (bracketed && end + 1 != colon) ||
        (!bracketed && strchr(listen, ':') != colon))
        return sta_fail(err, STA_EINPUT,
                        "listen: \"%s\" is not HOST:PORT, such as 127.0.0.1:7878 or [::1]:7878", listen);
    *port = colon + 1;
    char *rest;
    long number = strtol(*port, &rest, 10);
    if (**port < '0' || **port > '9' || *rest || number > 65535)
        return sta_fail(err, STA_EINPUT, "listen: \"%s\" is not a port (0 to 65535)", *port);
    *host = sta_strndup(listen + bracketed, (size_t)(end - listen - bracketed));
    return STA_OK;
}

static bool address_is(const struct sockaddr *address, const struct in6_addr *six, bool whole_net,
                       uint32_t four)
{
    if (address->sa_family == AF_INET) {
        uint32_t ip = ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr);
        return whole_net ? ip >> 24 == four >> 24 : ip == four;
    }
    return memcmp(&((const struct sockaddr_in6 *)address)->sin6_addr, six, sizeof *six) == 0;
}

static int open_socket(struct sta_http *http, const struct addrinfo *found, struct sta_error *err)
{
    int one = 1;
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return sta_fail_errno(err, errno, "Cannot open a socket for %s", http->options.listen);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        int cause = errno;
        close(fd);
        return sta_fail_errno(err, cause, "Cannot listen on %s", http->options.listen);
    }
    http->listener = fd;
    http->loopback = address_is(found->ai_addr, &in6addr_loopback, true, INADDR_LOOPBACK);
    http->wildcard = address_is(found->ai_addr, &in6addr_any, false, INADDR_ANY);
    return STA_OK;
}

static void name_address(struct sta_http *http)
{
    union sta_address bound = {0};
    socklen_t size = sizeof bound;
    STA_ASSERT(getsockname(http->listener, &bound.any, &size) == 0);
    unsigned port = ntohs(bound.any.sa_family == AF_INET ? bound.four.sin_port : bound.six.sin6_port);
    bool six = strchr(http->host, ':') != NULL;
    http->address = sta_sprintf("http://%s%s%s:%u", six ? "[" : "", http->host, six ? "]" : "", port);
}

int sta_http_listen(struct sta_http *http, struct sta_error *err)
{
    const char *port = NULL;
    struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    int status = split_address(http->options.listen, &http->host, &port, err);
    if (status != STA_OK)
        return status;
    int cause = getaddrinfo(http->host, port, &hints, &found);
    if (cause != 0)
        return sta_fail(err, STA_EINPUT, "listen: cannot find the address %s: %s", http->host,
                        gai_strerror(cause));
    status = open_socket(http, found, err);
    freeaddrinfo(found);
    if (status == STA_OK)
        name_address(http);
    return status;
}

/* The listening socket: an address such as "127.0.0.1:7878", "[::1]:7878", "localhost:0", or
 * "unix:/run/user/1000/strata" becomes one. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "serve/http/http_private.h"

#define BACKLOG 1024

/* "HOST:PORT" or "[HOST]:PORT" in two. */
static int split_address(const char *listen, char **host, const char **port, struct sta_error *err)
{
    const char *colon = strrchr(listen, ':');
    bool bracketed = listen[0] == '[';
    const char *end = bracketed ? strchr(listen, ']') : colon;
    if (colon == NULL || end == NULL || end == listen || (bracketed && end + 1 != colon) ||
        (!bracketed && strchr(listen, ':') != colon))
        return sta_fail(
            err, STA_EINPUT,
            "listen: \"%s\" is not HOST:PORT, such as 127.0.0.1:7878 or [::1]:7878, and not unix:PATH",
            listen);
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
    http->port = ntohs(bound.any.sa_family == AF_INET ? bound.four.sin_port : bound.six.sin6_port);
    bool six = strchr(http->host, ':') != NULL;
    http->address = sta_sprintf("http://%s%s%s:%u", six ? "[" : "", http->host, six ? "]" : "", http->port);
}

static int listen_tcp(struct sta_http *http, struct sta_error *err)
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

/* ---- a socket in the file system */

/* What a daemon that was killed has left stands in the way; what is still served, or is no socket, stays. */
static int remove_stale(const union sta_address *address, struct sta_error *err)
{
    const char *path = address->local.sun_path;
    struct stat st;
    if (lstat(path, &st) != 0)
        return STA_OK;
    if (!S_ISSOCK(st.st_mode))
        return sta_fail(err, STA_EINPUT, "listen: %s is there already and is no socket", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool served =
        fd >= 0 && (connect(fd, &address->any, sizeof address->local) == 0 || errno != ECONNREFUSED);
    if (fd >= 0)
        close(fd);
    if (served)
        return sta_fail(err, STA_EIO, "Cannot listen on %s: somebody else does", path);
    return unlink(path) == 0 ? STA_OK : sta_fail_errno(err, errno, "Cannot replace %s", path);
}

/* The mode is set before there is a file, so that nobody else can connect for a moment. */
static int bind_local(struct sta_http *http, const union sta_address *address, struct sta_error *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return sta_fail_errno(err, errno, "Cannot open a socket for %s", http->options.listen);
    if (fchmod(fd, 0600) != 0 || bind(fd, &address->any, sizeof address->local) != 0 ||
        chmod(address->local.sun_path, 0600) != 0 || listen(fd, BACKLOG) != 0) {
        int cause = errno;
        close(fd);
        return sta_fail_errno(err, cause, "Cannot listen on %s", http->options.listen);
    }
    http->listener = fd;
    return STA_OK;
}

static int listen_local(struct sta_http *http, const char *path, struct sta_error *err)
{
    union sta_address address = {.local.sun_family = AF_UNIX};
    if (*path == '\0' || strlen(path) >= sizeof address.local.sun_path)
        return sta_fail(err, STA_EINPUT, "listen: the path of a socket has 1 to %zu bytes",
                        sizeof address.local.sun_path - 1);
    memcpy(address.local.sun_path, path, strlen(path) + 1);
    http->socket_path = sta_strdup(path);
    http->host = sta_strdup("");
    http->address = sta_sprintf("unix:%s", path);
    http->loopback = true;
    int status = remove_stale(&address, err);
    return status == STA_OK ? bind_local(http, &address, err) : status;
}

int sta_http_listen(struct sta_http *http, struct sta_error *err)
{
    const char *listen = http->options.listen;
    return strncmp(listen, "unix:", 5) == 0 ? listen_local(http, listen + 5, err) : listen_tcp(http, err);
}

/* Who is at the other end: whose process, and whom a proxy names. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/memory.h"
#include "serve/http/client.h"

static struct sta_networks networks_of(const char *first, const char *second)
{
    struct sta_networks networks;
    struct sta_error err = STA_ERROR_INIT;
    const char *texts[] = {first, second};
    cr_assert_eq(sta_networks_parse(texts, second != NULL ? 2 : 1, &networks, &err), STA_OK, "%s", err.text);
    return networks;
}

static union sta_address address_of(const char *text)
{
    union sta_address address = {0};
    if (inet_pton(AF_INET, text, &address.four.sin_addr) == 1) {
        address.any.sa_family = AF_INET;
    } else {
        cr_assert_eq(inet_pton(AF_INET6, text, &address.six.sin6_addr), 1);
        address.any.sa_family = AF_INET6;
    }
    return address;
}

static bool holds(const struct sta_networks *networks, const char *text)
{
    union sta_address address = address_of(text);
    return sta_networks_hold(networks, &address);
}

Test(client, networks_hold_their_addresses)
{
    struct sta_networks networks = networks_of("10.1.0.0/15", "2001:db8::/33");
    cr_expect(holds(&networks, "10.0.0.1") && holds(&networks, "10.1.255.255"));
    cr_expect(!holds(&networks, "10.2.0.0") && holds(&networks, "::ffff:10.1.2.3"));
    cr_expect(holds(&networks, "2001:db8:7fff::1") && !holds(&networks, "2001:db8:8000::1"));
    union sta_address local = {.local.sun_family = AF_UNIX};
    cr_expect(!sta_networks_hold(&networks, &local));
    sta_networks_fini(&networks);
    networks = networks_of("unix", NULL);
    cr_expect(sta_networks_hold(&networks, &local) && !holds(&networks, "127.0.0.1"));
    sta_networks_fini(&networks);
}

Test(client, what_is_no_network_is_refused)
{
    static const char *const bad[] = {"",         "localhost", "10.0.0.0/33", "10.0.0.0/",
                                      "10.0.0/8", "::/129",    "1.2.3.4/x",   "/8"};
    for (size_t i = 0; i < STA_COUNT_OF(bad); i++) {
        struct sta_networks networks;
        struct sta_error err = STA_ERROR_INIT;
        cr_expect_eq(sta_networks_parse(&bad[i], 1, &networks, &err), STA_EINPUT, "%s", bad[i]);
        cr_expect(strstr(err.text, "trusted_proxies") != NULL, "%s", err.text);
    }
}

Test(client, the_nearest_address_that_is_no_proxy_is_the_client)
{
    static const struct {
        const char *header, *name; /* NULL: none */
    } cases[] = {{"192.0.2.7", "192.0.2.7"},
                 {"6.6.6.6, 192.0.2.7", "192.0.2.7"},
                 {"6.6.6.6, 192.0.2.7 , 10.0.0.9,10.0.0.1", "192.0.2.7"},
                 {"10.0.0.9, 10.0.0.1", "10.0.0.9"},
                 {"192.0.2.7:4711", "192.0.2.7"},
                 {"[2001:db8::7]:4711", "2001:db8::7"},
                 {"2001:db8::7", "2001:db8::7"},
                 {"192.0.2.7, unknown", NULL},
                 {"192.0.2.7,", NULL},
                 {"", NULL},
                 {",,,", NULL}};
    struct sta_networks networks = networks_of("10.0.0.0/8", NULL);
    for (size_t i = 0; i < STA_COUNT_OF(cases); i++) {
        struct sta_client client = {.name = "before", .owner = STA_OWNER_SELF};
        bool found = sta_client_forwarded(&networks, cases[i].header, &client);
        cr_expect_eq(found, cases[i].name != NULL, "%s", cases[i].header);
        cr_expect_str_eq(client.name, found ? cases[i].name : "before", "%s", cases[i].header);
        cr_expect_eq(client.owner, found ? STA_OWNER_UNKNOWN : STA_OWNER_SELF, "%s", cases[i].header);
    }
    sta_networks_fini(&networks);
}

/* ---- owners */

static int listen_on(int family, union sta_address *address, socklen_t *size)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *address = (union sta_address){.any.sa_family = (sa_family_t)family};
    *size = family == AF_INET ? sizeof address->four : sizeof address->six;
    if (family == AF_INET)
        address->four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        address->six.sin6_addr = in6addr_loopback;
    if (fd < 0 || bind(fd, &address->any, *size) != 0 || listen(fd, 5) != 0 ||
        getsockname(fd, &address->any, size) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* A process of that user that connects, and closes its end at once or keeps it open. */
static pid_t connect_as(const union sta_address *address, socklen_t size, uid_t uid, bool close_at_once)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    int fd = setuid(uid) == 0 ? socket(address->any.sa_family, SOCK_STREAM, 0) : -1;
    if (fd < 0 || connect(fd, &address->any, size) != 0)
        _exit(1);
    if (write(fd, "x", 1) != 1)
        _exit(1);
    if (close_at_once)
        close(fd);
    pause();
    _exit(0);
}

static void expect_owner(int family, uid_t uid, bool close_at_once, enum sta_owner wanted)
{
    union sta_address address;
    socklen_t size;
    int netlink = -1;
    uid_t found = 12345;
    int listener = listen_on(family, &address, &size);
    if (listener < 0)
        return; /* a machine without IPv6 */
    pid_t child = connect_as(&address, size, uid, close_at_once);
    int fd = accept(listener, NULL, NULL);
    cr_assert_geq(fd, 0);
    if (close_at_once)
        usleep(100000); /* its end is in FIN_WAIT2 then */
    cr_expect_eq(sta_owner_find(fd, &netlink, &found), wanted, "family %d, user %u, closed %d", family,
                 (unsigned)uid, (int)close_at_once);
    if (wanted != STA_OWNER_UNKNOWN)
        cr_expect_eq(found, uid);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(fd);
    close(listener);
    if (netlink >= 0)
        close(netlink);
}

Test(client, the_kernel_knows_whose_a_connection_is)
{
    static const int families[] = {AF_INET, AF_INET6};
    for (size_t i = 0; i < STA_COUNT_OF(families); i++) {
        expect_owner(families[i], geteuid(), false, STA_OWNER_SELF);
        if (geteuid() == 0)
            expect_owner(families[i], 65534, false, STA_OWNER_OTHER);
    }
}

/* The kernel calls what is left of a closed socket root's. */
Test(client, who_has_closed_is_nobody)
{
    expect_owner(AF_INET, geteuid(), true, STA_OWNER_UNKNOWN);
    if (geteuid() == 0)
        expect_owner(AF_INET, 65534, true, STA_OWNER_UNKNOWN);
}

Test(client, all_of_loopback_is_one_client)
{
    union sta_address one = address_of("127.0.0.1"), two = address_of("127.1.2.3"),
                      other = address_of("128.0.0.1");
    cr_expect_eq(sta_client_of(&one).number, sta_client_of(&two).number);
    cr_expect_neq(sta_client_of(&one).number, sta_client_of(&other).number);
    cr_expect_str_eq(sta_client_of(&two).name, "127.1.2.3");
}

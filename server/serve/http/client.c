/* Addresses of clients, and which of them are proxies whose word counts. */
#include "serve/http/client.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/memory.h"

static void map_four(const struct in_addr *four, struct in6_addr *six)
{
    static const unsigned char prefix[12] = {[10] = 0xff, [11] = 0xff};
    memcpy(six->s6_addr, prefix, sizeof prefix);
    memcpy(six->s6_addr + sizeof prefix, four, sizeof *four);
}

/* False for an address of the file system. */
static bool to_six(const union sta_address *address, struct in6_addr *six)
{
    if (address->any.sa_family == AF_INET)
        map_four(&address->four.sin_addr, six);
    else if (address->any.sa_family == AF_INET6)
        *six = address->six.sin6_addr;
    return address->any.sa_family != AF_UNIX;
}

static struct sta_client client_of_six(const struct in6_addr *six)
{
    struct sta_client client = {.owner = STA_OWNER_UNKNOWN};
    bool four = IN6_IS_ADDR_V4MAPPED(six);
    inet_ntop(four ? AF_INET : AF_INET6, six->s6_addr + (four ? 12 : 0), client.name, sizeof client.name);
    bool loopback = four && six->s6_addr[12] == 127; /* who has one of these addresses has all */
    client.number = four ? XXH3_64bits(six->s6_addr + 12, loopback ? 1 : 4) : XXH3_64bits(six->s6_addr, 8);
    return client;
}

struct sta_client sta_client_of(const union sta_address *address)
{
    struct in6_addr six;
    if (to_six(address, &six))
        return client_of_six(&six);
    return (struct sta_client){.name = "unix", .owner = STA_OWNER_UNKNOWN};
}

/* ---- proxies */

static bool parse_address(const char *text, struct in6_addr *six, bool *is_four)
{
    struct in_addr four;
    *is_four = inet_pton(AF_INET, text, &four) == 1;
    if (*is_four)
        map_four(&four, six);
    return *is_four || inet_pton(AF_INET6, text, six) == 1;
}

static bool parse_network(const char *text, struct sta_network *network)
{
    char address[INET6_ADDRSTRLEN];
    size_t length = strcspn(text, "/");
    bool four;
    if (length >= sizeof address)
        return false;
    memcpy(address, text, length);
    address[length] = '\0';
    if (!parse_address(address, &network->address, &four))
        return false;
    network->bits = 128;
    if (text[length] == '\0')
        return true;
    char *end;
    unsigned long bits = strtoul(text + length + 1, &end, 10);
    network->bits = (unsigned)bits + (four ? 96 : 0);
    return text[length + 1] >= '0' && text[length + 1] <= '9' && *end == '\0' && bits <= (four ? 32 : 128);
}

int sta_networks_parse(const char *const *texts, size_t count, struct sta_networks *networks,
                       struct sta_error *err)
{
    *networks = (struct sta_networks){.items = sta_alloc_array(count + 1, sizeof *networks->items)};
    for (size_t i = 0; i < count; i++) {
        if (strcmp(texts[i], "unix") == 0) {
            networks->local = true;
        } else if (!parse_network(texts[i], &networks->items[networks->count++])) {
            sta_networks_fini(networks);
            return sta_fail(err, STA_EINPUT,
                            "trusted_proxies: \"%.100s\" is no address such as 127.0.0.1, no network such as "
                            "10.0.0.0/8, and not unix",
                            texts[i]);
        }
    }
    return STA_OK;
}

void sta_networks_fini(struct sta_networks *networks)
{
    free(networks->items);
    *networks = (struct sta_networks){0};
}

static bool network_holds(const struct sta_network *network, const struct in6_addr *address)
{
    unsigned whole = network->bits / 8, rest = network->bits % 8;
    if (memcmp(network->address.s6_addr, address->s6_addr, whole) != 0)
        return false;
    return rest == 0 || (network->address.s6_addr[whole] ^ address->s6_addr[whole]) >> (8 - rest) == 0;
}

static bool hold_six(const struct sta_networks *networks, const struct in6_addr *six)
{
    for (size_t i = 0; i < networks->count; i++)
        if (network_holds(&networks->items[i], six))
            return true;
    return false;
}

bool sta_networks_hold(const struct sta_networks *networks, const union sta_address *address)
{
    struct in6_addr six;
    return to_six(address, &six) ? hold_six(networks, &six) : networks->local;
}

/* The element of a list that ends at @end: its address.  "[2001:db8::1]:443" and "192.0.2.7:443" are how some
 * proxies write a port. */
static bool parse_element(const char *begin, const char *end, struct in6_addr *six)
{
    char text[INET6_ADDRSTRLEN];
    begin += strspn(begin, " \t");
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    size_t length = (size_t)(end - begin);
    if (length > 0 && *begin == '[') {
        begin++;
        length = strcspn(begin, "]");
    } else if (memchr(begin, '.', length) != NULL && memchr(begin, ':', length) != NULL && begin[0] != ':') {
        length = strcspn(begin, ":");
    }
    bool four;
    if (length == 0 || length >= sizeof text)
        return false;
    memcpy(text, begin, length);
    text[length] = '\0';
    return parse_address(text, six, &four);
}

bool sta_client_forwarded(const struct sta_networks *proxies, const char *forwarded,
                          struct sta_client *client)
{
    struct in6_addr six;
    const char *end = forwarded + strlen(forwarded);
    for (;;) {
        const char *begin = end;
        while (begin > forwarded && begin[-1] != ',')
            begin--;
        if (!parse_element(begin, end, &six))
            return false;
        if (begin == forwarded || !hold_six(proxies, &six))
            break;
        end = begin - 1;
    }
    *client = client_of_six(&six);
    return true;
}

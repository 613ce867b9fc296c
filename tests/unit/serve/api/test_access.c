/* Tokens, sessions, hosts and origins. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "serve/api/access.h"
#include "serve/api/tokens.h"

#define COOKIE "strata_session_7878_0"

static char file[] = "/tmp/strata-tokens-XXXXXX";

static void put_line(char *text, const char *name, const char *role, const char *token)
{
    unsigned char hash[SHA256_DIGEST_SIZE];
    sta_token_hash(token, hash);
    sprintf(text + strlen(text), "%s:%s:", name, role);
    for (size_t i = 0; i < sizeof hash; i++)
        sprintf(text + strlen(text), "%02x", hash[i]);
    strcat(text, "\n");
}

static void write_tokens(const char *text)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_file_publish(file, text, strlen(text), &err), STA_OK, "%s", err.text);
}

static const struct sta_client stranger = {.name = "192.0.2.7", .owner = STA_OWNER_OTHER, .uid = 4711};

static struct sta_access *open_access(void)
{
    char text[1000] = "# people\n\n";
    struct sta_access *access;
    struct sta_error err = STA_ERROR_INIT;
    put_line(text, "alice", "editor", "open sesame");
    put_line(text, "bob", "viewer", "let me see");
    close(mkstemp(file));
    write_tokens(text);
    static const char *const hosts[] = {"lab.example"}, *const origins[] = {"https://pages.example"};
    struct sta_access_options options = {.tokens = file,
                                         .cookie = COOKIE,
                                         .listen_host = "10.0.0.1",
                                         .hosts = hosts,
                                         .host_count = 1,
                                         .origins = origins,
                                         .origin_count = 1};
    cr_assert_eq(sta_access_create(&options, &access, &err), STA_OK, "%s", err.text);
    return access;
}

static void close_access(struct sta_access *access)
{
    sta_access_destroy(access);
    unlink(file);
}

Test(access, the_hash_is_sha256)
{
    unsigned char hash[SHA256_DIGEST_SIZE];
    sta_token_hash("abc", hash);
    cr_expect_eq(hash[0], 0xba);
    cr_expect_eq(hash[31], 0xad);
}

Test(access, a_token_gives_its_role)
{
    struct sta_access *access = open_access();
    struct sta_identity alice = sta_access_identify(access, &stranger, "Bearer open sesame", NULL);
    cr_expect_eq(alice.role, STA_ROLE_EDITOR);
    cr_expect_str_eq(alice.name, "alice");
    cr_expect_eq(sta_access_identify(access, &stranger, "Bearer let me see", NULL).role, STA_ROLE_VIEWER);
    cr_expect_eq(sta_access_identify(access, &stranger, "Bearer wrong", NULL).role, STA_ROLE_NONE);
    cr_expect_eq(sta_access_identify(access, &stranger, NULL, NULL).role, STA_ROLE_NONE);
    close_access(access);
}

Test(access, a_session_lasts_until_sign_out_or_until_its_token_is_gone)
{
    struct sta_access *access = open_access();
    struct sta_identity who;
    struct sta_error err = STA_ERROR_INIT;
    char session[STA_SESSION_SIZE], cookie[100], text[500] = "";
    cr_assert_eq(sta_access_sign_in(access, "open sesame", 1, session, &who, &err), STA_OK);
    cr_expect_eq(strlen(session), 32);
    snprintf(cookie, sizeof cookie, "a=b; " COOKIE "=%s", session);
    cr_expect_eq(sta_access_identify(access, &stranger, NULL, cookie).role, STA_ROLE_EDITOR);
    sta_access_sign_out(access, cookie);
    cr_expect_eq(sta_access_identify(access, &stranger, NULL, cookie).role, STA_ROLE_NONE);

    cr_assert_eq(sta_access_sign_in(access, "open sesame", 1, session, &who, &err), STA_OK);
    snprintf(cookie, sizeof cookie, COOKIE "=%s", session);
    put_line(text, "bob", "viewer", "let me see");
    write_tokens(text);
    cr_assert_eq(sta_access_reload(access, &err), STA_OK, "%s", err.text);
    cr_expect_eq(sta_access_identify(access, &stranger, NULL, cookie).role, STA_ROLE_NONE);
    close_access(access);
}

Test(access, a_bad_file_leaves_the_old_tokens)
{
    static const char *const bad[] = {"alice\n", "alice:boss:00\n", "alice:admin:abc\n", "", ":admin:00\n"};
    struct sta_access *access = open_access();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sta_error err = STA_ERROR_INIT;
        write_tokens(bad[i]);
        cr_expect_eq(sta_access_reload(access, &err), STA_EINPUT, "%s", bad[i]);
        cr_expect(strstr(err.text, file) != NULL, "%s", err.text);
        cr_expect_eq(sta_access_identify(access, &stranger, "Bearer open sesame", NULL).role,
                     STA_ROLE_EDITOR);
    }
    close_access(access);
}

Test(access, failed_sign_ins_have_to_wait_and_good_ones_never)
{
    struct sta_access *access = open_access();
    struct sta_identity who;
    struct sta_error err = STA_ERROR_INIT;
    char session[STA_SESSION_SIZE];
    for (int i = 0; i < 10; i++)
        cr_expect_eq(sta_access_sign_in(access, "guess", 7, session, &who, &err), STA_EFORBIDDEN);
    cr_expect_eq(sta_access_sign_in(access, "guess", 7, session, &who, &err), STA_EBUSY);
    cr_expect_eq(sta_access_sign_in(access, "guess", 8, session, &who, &err), STA_EFORBIDDEN);
    cr_expect_eq(sta_access_sign_in(access, "open sesame", 7, session, &who, &err), STA_OK);
    close_access(access);
}

Test(access, a_cookie_of_another_daemon_is_none_of_ours)
{
    struct sta_access *access = open_access();
    struct sta_identity who;
    struct sta_error err = STA_ERROR_INIT;
    char session[STA_SESSION_SIZE], cookie[200];
    cr_assert_eq(sta_access_sign_in(access, "open sesame", 1, session, &who, &err), STA_OK);
    snprintf(cookie, sizeof cookie, "strata_session_7879_0=0123456789abcdef0123456789abcdef; " COOKIE "=%s",
             session);
    cr_expect_eq(sta_access_identify(access, &stranger, NULL, cookie).role, STA_ROLE_EDITOR);
    snprintf(cookie, sizeof cookie, "strata_session_7879_0=%s", session);
    cr_expect_eq(sta_access_identify(access, &stranger, NULL, cookie).role, STA_ROLE_NONE);
    close_access(access);
}

static enum sta_role role_without_tokens(bool anyone, enum sta_owner owner)
{
    struct sta_access *access;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_access_options options = {
        .tokens = "", .anyone = anyone, .cookie = COOKIE, .listen_host = "127.0.0.1"};
    struct sta_client client = {.owner = owner};
    cr_assert_eq(sta_access_create(&options, &access, &err), STA_OK, "%s", err.text);
    enum sta_role role = sta_access_identify(access, &client, NULL, NULL).role;
    sta_access_destroy(access);
    return role;
}

Test(access, without_tokens_only_the_own_user_is_served)
{
    cr_expect_eq(role_without_tokens(false, STA_OWNER_SELF), STA_ROLE_ADMIN);
    cr_expect_eq(role_without_tokens(false, STA_OWNER_OTHER), STA_ROLE_NONE);
    cr_expect_eq(role_without_tokens(false, STA_OWNER_UNKNOWN), STA_ROLE_NONE);
    cr_expect_eq(role_without_tokens(true, STA_OWNER_OTHER), STA_ROLE_ADMIN);
}

Test(access, only_names_of_this_daemon_are_hosts)
{
    struct sta_access *access = open_access();
    static const char *const known[] = {"localhost", "localhost:80", "127.0.0.1:7878",
                                        "[::1]:1",   "10.0.0.1",     "LAB.example:443"};
    static const char *const unknown[] = {"evil.example", "127.0.0.2", "lab.example.evil.example", "",
                                          "xlocalhost",   NULL};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        cr_expect(sta_access_host_known(access, known[i]), "%s", known[i]);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        cr_expect(!sta_access_host_known(access, unknown[i]), "%s", unknown[i]);
    close_access(access);
}

Test(access, only_own_and_allowed_origins_write)
{
    struct sta_access *access = open_access();
    cr_expect(sta_access_origin_may_write(access, NULL, "localhost:1", NULL));
    cr_expect(sta_access_origin_may_write(access, "http://localhost:1", "localhost:1", "same-origin"));
    cr_expect(sta_access_origin_may_write(access, "https://pages.example", "localhost:1", "cross-site"));
    cr_expect(!sta_access_origin_may_write(access, "http://localhost:2", "localhost:1", NULL));
    cr_expect(!sta_access_origin_may_write(access, "null", "localhost:1", NULL));
    cr_expect(!sta_access_origin_may_write(access, NULL, "localhost:1", "cross-site"));
    close_access(access);
}

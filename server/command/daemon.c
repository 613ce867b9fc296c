/* Requests to the daemon by libcurl.  What the daemon refuses is printed in its own words, with the member
 * and the character at fault. */
#include "server/command/daemon.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/memory.h"
#include "server/command/command.h"

#define PROBLEM_BYTES 65536 /* of a refusal that are read */

static struct {
    CURL *curl;
    char *base, *socket, *token;
} daemon_client;

/* ---- where, and as whom */

/* The first line of the token file, or NULL. */
static char *read_token(void)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME"), *given = getenv("STRATA_TOKEN");
    char line[1024];
    if (given != NULL && *given != '\0')
        return sta_strdup(given);
    char *path = config != NULL && *config != '\0' ? sta_sprintf("%s/strata/token", config)
                                                   : sta_sprintf("%s/.config/strata/token", home ? home : "");
    FILE *file = fopen(path, "re");
    bool read = file != NULL && fgets(line, sizeof line, file) != NULL;
    if (file != NULL)
        fclose(file);
    free(path);
    if (!read)
        return NULL;
    line[strcspn(line, "\r\n \t")] = '\0';
    return *line != '\0' ? sta_strdup(line) : NULL;
}

int sta_daemon_open(const char *url)
{
    const char *environment = getenv("STRATA_URL");
    if (url == NULL)
        url = environment != NULL && *environment != '\0' ? environment : "http://127.0.0.1:7878";
    curl_global_init(CURL_GLOBAL_DEFAULT);
    daemon_client.curl = curl_easy_init();
    if (daemon_client.curl == NULL)
        return sta_command_fail(STA_EXIT_DAEMON, "libcurl cannot be started");
    bool socket = strncmp(url, "unix:", 5) == 0;
    if (!socket && strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
        return sta_command_fail(STA_EXIT_REQUEST, "the address is http://.., https://.. or unix:PATH, not %s",
                                url);
    daemon_client.socket = socket ? sta_strdup(url + 5) : NULL;
    daemon_client.base = sta_strdup(socket ? "http://localhost" : url);
    size_t length = strlen(daemon_client.base);
    if (daemon_client.base[length - 1] == '/')
        daemon_client.base[length - 1] = '\0';
    daemon_client.token = read_token();
    return 0;
}

void sta_daemon_close(void)
{
    curl_easy_cleanup(daemon_client.curl);
    free(daemon_client.base);
    free(daemon_client.socket);
    free(daemon_client.token);
    curl_global_cleanup();
}

void sta_put_parameter(struct sta_buffer *call, const char *name, const char *value)
{
    static const char digits[] = "0123456789ABCDEF";
    bool first = memchr(call->data, '?', call->size) == NULL;
    sta_put_format(call, "%c%s=", first ? '?' : '&', name);
    for (const unsigned char *c = (const unsigned char *)value; *c != '\0'; c++) {
        bool plain = (*c >= '0' && *c <= '9') || ((*c | 0x20) >= 'a' && (*c | 0x20) <= 'z') ||
                     strchr("-._~", *c) != NULL;
        if (plain) {
            sta_put_char(call, (char)*c);
        } else {
            sta_put_char(call, '%');
            sta_put_char(call, digits[*c >> 4]);
            sta_put_char(call, digits[*c & 15]);
        }
    }
}

/* ---- one request */

struct request {
    sta_response_sink sink;
    void *context;
    struct sta_buffer problem;
};

static size_t take_bytes(char *bytes, size_t one, size_t count, void *context)
{
    struct request *request = context;
    long status = 0;
    size_t size = one * count;
    curl_easy_getinfo(daemon_client.curl, CURLINFO_RESPONSE_CODE, &status);
    if (status < 400)
        return request->sink(request->context, bytes, size) ? size : 0;
    if (request->problem.size < PROBLEM_BYTES)
        sta_put(&request->problem, bytes, STA_MIN(size, PROBLEM_BYTES - request->problem.size));
    return size;
}

/* Says what was refused.  Return: the exit status. */
static int refuse(long status, const struct sta_buffer *problem)
{
    json_t *document = json_loadb(problem->size > 0 ? problem->data : "", problem->size, 0, NULL);
    const char *detail = json_string_value(json_object_get(document, "detail"));
    const char *title = json_string_value(json_object_get(document, "title"));
    const char *parameter = json_string_value(json_object_get(document, "parameter"));
    const json_t *position = json_object_get(document, "position");
    struct sta_buffer place;
    sta_buffer_init(&place);
    if (parameter != NULL)
        sta_put_format(&place, " (at %s", parameter);
    if (parameter != NULL && json_is_integer(position))
        sta_put_format(&place, ", character %lld", (long long)json_integer_value(position));
    if (parameter != NULL)
        sta_put_char(&place, ')');
    if (detail == NULL)
        detail = title;
    int code = status >= 500 ? STA_EXIT_DAEMON : STA_EXIT_REQUEST;
    if (detail != NULL)
        sta_command_fail(code, "%s%.*s", detail, (int)place.size, place.size > 0 ? place.data : "");
    else
        sta_command_fail(code, "the daemon answers with status %ld", status);
    sta_buffer_fini(&place);
    json_decref(document);
    return code;
}

static struct curl_slist *make_headers(bool has_body)
{
    struct curl_slist *headers = NULL;
    if (has_body)
        headers = curl_slist_append(headers, "Content-Type: application/json");
    if (daemon_client.token != NULL) {
        char *line = sta_sprintf("Authorization: Bearer %s", daemon_client.token);
        headers = curl_slist_append(headers, line);
        free(line);
    }
    return headers;
}

/* What became of a transfer. */
static int finish(CURLcode result, const char *reason, struct request *request)
{
    long status = 0;
    curl_easy_getinfo(daemon_client.curl, CURLINFO_RESPONSE_CODE, &status);
    if (result == CURLE_WRITE_ERROR && status < 400)
        return STA_EXIT_OUTPUT; /* the sink has said why */
    if (result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST)
        return sta_command_fail(
            STA_EXIT_DAEMON, "no daemon answers at %s: %s; --url or STRATA_URL says where",
            daemon_client.socket != NULL ? daemon_client.socket : daemon_client.base, reason);
    if (result != CURLE_OK)
        return sta_command_fail(STA_EXIT_DAEMON, "the answer broke off: %s", reason);
    return status >= 400 ? refuse(status, &request->problem) : 0;
}

int sta_daemon_request(const char *method, const char *call, const char *body, sta_response_sink sink,
                       void *context)
{
    CURL *curl = daemon_client.curl;
    char reason[CURL_ERROR_SIZE] = "";
    struct request request = {.sink = sink, .context = context};
    char *url = sta_sprintf("%s/api/v1/%s", daemon_client.base, call);
    struct curl_slist *headers = make_headers(body != NULL);
    sta_buffer_init(&request.problem);
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 262144L);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &request);
    if (daemon_client.socket != NULL)
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, daemon_client.socket);
    if (body != NULL) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    }
    CURLcode result = curl_easy_perform(curl);
    int code = finish(result, *reason ? reason : curl_easy_strerror(result), &request);
    curl_slist_free_all(headers);
    sta_buffer_fini(&request.problem);
    free(url);
    return code;
}

/* ---- where answers go */

static bool print_bytes(void *context, const char *bytes, size_t size)
{
    (void)context;
    if (fwrite(bytes, 1, size, stdout) == size)
        return true;
    if (errno != EPIPE) /* who reads no further knows that */
        sta_command_fail(0, "the output cannot be written: %s", strerror(errno));
    return false;
}

int sta_daemon_copy(const char *method, const char *call, const char *body)
{
    int code = sta_daemon_request(method, call, body, print_bytes, NULL);
    if (code == 0 && fflush(stdout) != 0)
        return sta_command_fail(STA_EXIT_OUTPUT, "the output cannot be written: %s", strerror(errno));
    return code;
}

static bool gather_bytes(void *context, const char *bytes, size_t size)
{
    sta_put(context, bytes, size);
    return true;
}

int sta_daemon_get(const char *method, const char *call, const char *body, json_t **answer)
{
    struct sta_buffer text;
    json_error_t mistake;
    sta_buffer_init(&text);
    *answer = NULL;
    int code = sta_daemon_request(method, call, body, gather_bytes, &text);
    if (code == 0 && text.size > 0)
        *answer = json_loadb(text.data, text.size, JSON_DECODE_ANY, &mistake);
    if (code == 0 && text.size > 0 && *answer == NULL)
        code = sta_command_fail(STA_EXIT_DAEMON, "the answer is no JSON: %s", mistake.text);
    sta_buffer_fini(&text);
    return code;
}

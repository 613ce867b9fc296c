/* Responses on their way out: the head, the bytes, and how fast the client takes them. */
#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "common/memory.h"
#include "serve/http/http_private.h"

static const char *phrase_of(int status)
{
    static const struct {
        int status;
        const char *phrase;
    } phrases[] = {{200, "OK"},
                   {201, "Created"},
                   {202, "Accepted"},
                   {204, "No Content"},
                   {304, "Not Modified"},
                   {400, "Bad Request"},
                   {401, "Unauthorized"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {405, "Method Not Allowed"},
                   {409, "Conflict"},
                   {410, "Gone"},
                   {413, "Content Too Large"},
                   {415, "Unsupported Media Type"},
                   {417, "Expectation Failed"},
                   {421, "Misdirected Request"},
                   {422, "Unprocessable Content"},
                   {429, "Too Many Requests"},
                   {431, "Request Header Fields Too Large"},
                   {500, "Internal Server Error"},
                   {501, "Not Implemented"},
                   {503, "Service Unavailable"},
                   {505, "HTTP Version Not Supported"},
                   {507, "Insufficient Storage"}};
    for (size_t i = 0; i < STA_COUNT_OF(phrases); i++)
        if (phrases[i].status == status)
            return phrases[i].phrase;
    return "Response";
}

/* The line Date, made once a second by each thread. */
static const char *date_line(void)
{
    static _Thread_local char line[64];
    static _Thread_local time_t made;
    time_t now = time(NULL);
    struct tm parts;
    if (now != made) {
        made = now;
        gmtime_r(&now, &parts);
        strftime(line, sizeof line, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
    }
    return line;
}

void sta_exchange_put_head(struct sta_exchange *exchange, const char *headers, bool has_length,
                           uint64_t length)
{
    struct sta_buffer *out = &exchange->out.head;
    sta_buffer_clear(out);
    sta_put_format(out, "HTTP/1.1 %d %s\r\n", exchange->status, phrase_of(exchange->status));
    sta_put_text(out, date_line());
    sta_put_text(out, headers);
    for (unsigned i = 0; i < exchange->header_count; i++)
        if (exchange->status == 200 || !(exchange->success_headers >> i & 1))
            sta_put_headers(out, &exchange->headers[i], 1);
    sta_put_format(out, "Server-Timing: total;dur=%.1f\r\n",
                   (double)(uv_hrtime() - exchange->started_ns) / 1e6);
    sta_put_headers(out, &(struct sta_header){"X-Request-Id", exchange->id}, 1);
    if (exchange->close_after)
        sta_put_text(out, "Connection: close\r\n");
    else if (exchange->head.http_1_0)
        sta_put_text(out, "Connection: keep-alive\r\n");
    if (has_length)
        sta_put_format(out, "Content-Length: %llu\r\n", (unsigned long long)length);
    else if (exchange->status == 200 && !exchange->head.http_1_0)
        sta_put_text(out, "Transfer-Encoding: chunked\r\n");
    sta_put_text(out, "\r\n");
    exchange->out.body = NULL;
    exchange->out.body_size = exchange->out.sent = 0;
}

enum sta_io sta_exchange_send(struct sta_exchange *exchange)
{
    struct sta_outgoing *out = &exchange->out;
    size_t whole = out->head.size + out->body_size;
    if (out->head.failed)
        return STA_IO_BROKEN;
    while (out->sent < whole) {
        if (!exchange->writable)
            return STA_IO_BLOCKED;
        size_t of_head = STA_MIN(out->sent, out->head.size), of_body = out->sent - of_head;
        struct iovec parts[] = {{out->head.data + of_head, out->head.size - of_head},
                                {(char *)(uintptr_t)out->body + of_body, out->body_size - of_body}};
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        ssize_t sent = sendmsg(exchange->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            exchange->writable = false;
            return STA_IO_BLOCKED;
        }
        if (sent < 0)
            return STA_IO_BROKEN;
        out->sent += (size_t)sent;
        exchange->sent_bytes += (uint64_t)sent;
    }
    return STA_IO_DONE;
}

/* Bytes that the client has acknowledged; what lies in the socket's buffer does not count. */
static uint64_t delivered(const struct sta_exchange *exchange)
{
    int waiting = 0;
    if (ioctl(exchange->fd, SIOCOUTQ, &waiting) != 0 || waiting < 0)
        return exchange->sent_bytes;
    return exchange->sent_bytes - STA_MIN((uint64_t)waiting, exchange->sent_bytes);
}

bool sta_exchange_is_slow(struct sta_exchange *exchange, uint64_t now_ns)
{
    const struct sta_http_options *options = &exchange->http->options;
    if (exchange->writable) { /* nothing waits for the client */
        exchange->window_ns = 0;
        return false;
    }
    if (exchange->window_ns == 0) {
        exchange->window_ns = now_ns;
        exchange->window_delivered = delivered(exchange);
    }
    if (now_ns - exchange->window_ns < options->request_timeout_s * UINT64_C(1000000000))
        return false;
    uint64_t now = delivered(exchange);
    bool slow = now - exchange->window_delivered < options->send_rate * options->request_timeout_s;
    exchange->window_ns = now_ns;
    exchange->window_delivered = now;
    return slow;
}

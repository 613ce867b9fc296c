/* daemon.h - the HTTP side of the command: finds the daemon and its token, asks, and prints what is refused
 * (private to command; daemon.c is the only file that knows libcurl). */
#ifndef STA_SERVER_COMMAND_DAEMON_H
#define STA_SERVER_COMMAND_DAEMON_H

#include <jansson.h>
#include "common/buffer.h"

/** Takes @size bytes of an answer as they come.  Return: false to break off. */
typedef bool (*sta_response_sink)(void *context, const char *bytes, size_t size);

/**
 * sta_daemon_open - the daemon that later calls ask
 * @url: of --url, or NULL: STRATA_URL, else http://127.0.0.1:7878; "unix:PATH" is a socket
 *
 * The token is STRATA_TOKEN, else the content of strata/token in XDG_CONFIG_HOME or ~/.config, else none.
 * Return: 0, or an exit status after a sentence.
 */
int sta_daemon_open(const char *url);
void sta_daemon_close(void);

/**
 * sta_daemon_request - one request
 * @call: below /api/v1/, with its query string
 * @body: JSON text, or NULL
 * @sink: gets the body of a success as it arrives; of a failure it gets nothing
 *
 * Return: 0, or an exit status after the sentence that the daemon (or the network) gave.
 */
int sta_daemon_request(const char *method, const char *call, const char *body, sta_response_sink sink,
                       void *context);

/** The same; the answer goes to standard output as it comes, so it may be of any size. */
int sta_daemon_copy(const char *method, const char *call, const char *body);
/** The same; @answer is the JSON of an answer that is small.  json_decref() it. */
int sta_daemon_get(const char *method, const char *call, const char *body, json_t **answer);

/** Appends "name=value", percent-encoded, behind "?" or "&". */
void sta_put_parameter(struct sta_buffer *call, const char *name, const char *value);

#endif

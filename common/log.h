/* log.h - a sentence, then fields; as text on a terminal, as JSON lines elsewhere.
 *
 * error: someone must act.  warning: something was refused or lost, the daemon goes on.  info: what an
 * operator wants to read next morning (started, ingested, stopped).  debug: what a developer needs to follow
 * one request.
 *
 *     sta_log(STA_LOG_INFO, "Trace ingested", "trace", id, "events", sta_log_int(n), NULL);
 */
#ifndef STA_COMMON_LOG_H
#define STA_COMMON_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum sta_log_level { STA_LOG_NOTHING = -1, STA_LOG_ERROR, STA_LOG_WARNING, STA_LOG_INFO, STA_LOG_DEBUG };
enum sta_log_format { STA_LOG_AUTO, STA_LOG_TEXT, STA_LOG_JSON };

/** Context: before other threads start. */
void sta_log_configure(enum sta_log_level level, enum sta_log_format format);
/** The same by the names that the settings have: error, warning, info or debug; auto, text or json. */
void sta_log_configure_by_name(const char *level, const char *format);
/** Whether messages of the level are written.  Context: any thread. */
bool sta_log_has(enum sta_log_level level);
/** Fields: name, value pairs of C strings, ended by NULL.  Writes one line to standard error.  Context: any
 * thread. */
void sta_log(enum sta_log_level level, const char *sentence, ...) __attribute__((sentinel));

/* Values as text, in one of a few buffers of the calling thread: use at once. */
const char *sta_log_int(int64_t value);
const char *sta_log_number(double value);

#endif

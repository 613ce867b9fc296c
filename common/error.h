/* error.h - failures that are not bugs: one list of statuses, and a chain of causes.
 *
 * Two kinds of wrong exist here.  A broken contract (a bug) aborts through STA_ASSERT, which names its
 * condition.  Everything that input, a disk or a client can cause returns a negative status and leaves one
 * sentence per frame in a struct sta_error that the caller owns:
 *
 *     "Cannot ingest /runs/a: cannot read rank-3.pfw.gz: Input/output error"
 */
#ifndef STA_COMMON_ERROR_H
#define STA_COMMON_ERROR_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* X(name, what the status means) */
#define STA_STATUS_LIST(X)                                                                                   \
    X(NOMEM, "memory could not be had within the limit")                                                     \
    X(IO, "a file could not be read or written")                                                             \
    X(NOSPC, "the disk is full")                                                                             \
    X(NOTFOUND, "there is no such thing")                                                                    \
    X(EXISTS, "it is there already")                                                                         \
    X(INPUT, "the input is not valid")                                                                       \
    X(CORRUPT, "a store file is damaged")                                                                    \
    X(NEWER, "written by a newer version of the format")                                                     \
    X(LIMIT, "a limit was exceeded")                                                                         \
    X(BUSY, "too much is going on; try again later")                                                         \
    X(CANCELLED, "cancelled")                                                                                \
    X(FORBIDDEN, "not allowed")                                                                              \
    X(UNFIT, "the trace lacks what the response needs")                                                      \
    X(UNSUPPORTED, "not available here")                                                                     \
    X(OUTDATED, "what it was about has changed since")                                                       \
    X(INTERNAL, "unexpected failure of a library")

enum sta_status_index {
#define X(name, text) STA_STATUS_INDEX_##name,
    STA_STATUS_LIST(X)
#undef X
};

/* STA_OK is 0; every failure is negative. */
enum sta_status {
    STA_OK = 0,
#define X(name, text) STA_E##name = -1 - STA_STATUS_INDEX_##name,
    STA_STATUS_LIST(X)
#undef X
};

#define STA_MUSTCHECK __attribute__((warn_unused_result))
#define STA_PRINTF(format_at, first) __attribute__((format(printf, format_at, first)))

/* Where a request is at fault, for problem documents; set by those who read requests and expressions. */
struct sta_error {
    int status;          /* STA_OK or a negative status */
    char text[1200];     /* the chain, outermost frame first; always terminated, cut when too long */
    char parameter[256]; /* JSON pointer of the member at fault, "" when none */
    int64_t position;    /* code points from the start of that member, -1 when none */
    const char *reason;  /* code word of a refusal (STA_EUNFIT), static; else NULL */
};

/** An error in which nothing has gone wrong yet. */
#define STA_ERROR_INIT ((struct sta_error){.position = -1})

/**
 * sta_fail - start a chain: the innermost cause
 * @err: overwritten
 * Return: @status, so that `return sta_fail(..)` reads well.  Context: any thread.
 */
int sta_fail(struct sta_error *err, int status, const char *format, ...) STA_PRINTF(3, 4);

/** sta_fail_errno - like sta_fail with ": strerror(errno_value)" behind it; ENOSPC and EDQUOT give
 * STA_ENOSPC, ENOENT STA_ENOTFOUND, ENOMEM STA_ENOMEM, else STA_EIO */
int sta_fail_errno(struct sta_error *err, int errno_value, const char *format, ...) STA_PRINTF(3, 4);

/** sta_error_wrap - put an outer frame before the causes so far: "frame: causes".  Return: err->status. */
int sta_error_wrap(struct sta_error *err, const char *format, ...) STA_PRINTF(2, 3);

/** sta_at - note the member and position at fault.  Return: err->status. */
int sta_at(struct sta_error *err, const char *parameter, int64_t position);

/** sta_fail_at - like sta_fail, about a member of a request, whatever the position in it
 * @parameter: its JSON pointer */
int sta_fail_at(struct sta_error *err, int status, const char *parameter, const char *format, ...)
    STA_PRINTF(4, 5);

/** sta_status_name - "NOMEM" ..; "OK" for 0 */
const char *sta_status_name(int status);

_Noreturn void sta_assert_failed(const char *condition, const char *file, int line, const char *function);

/* A condition that only a bug can break.  Never used on anything that came from outside. */
#define STA_ASSERT(condition)                                                                                \
    ((condition) ? (void)0 : sta_assert_failed(#condition, __FILE__, __LINE__, __func__))

#endif

/* traces.h - what the commands that ask have in common (private to command). */
#ifndef STA_SERVER_COMMAND_TRACES_H
#define STA_SERVER_COMMAND_TRACES_H

#include "server/command/command.h"

#define STA_TRACE_NAME 64 /* bytes of an id */

/** The id of the trace that has this id, or alone has this name.  Return: 0, or an exit status after a
 * sentence that lists the traces. */
int sta_trace_find(const char *name, char id[STA_TRACE_NAME]);

/** The shape that was asked for; AUTO resolved by whether standard output is a terminal. */
enum sta_response_shape sta_shape_of(const struct sta_command_arguments *arguments);

#endif

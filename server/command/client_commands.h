/* client_commands.h - the commands that are clients of a daemon (private to command). */
#ifndef STA_SERVER_COMMAND_CLIENT_COMMANDS_H
#define STA_SERVER_COMMAND_CLIENT_COMMANDS_H

#include "server/command/command.h"

/* Each sends requests to the daemon that sta_daemon_open() found, prints, and returns an exit status. */
int sta_command_ls(const struct sta_command_arguments *arguments);
int sta_command_add(const struct sta_command_arguments *arguments);
int sta_command_rm(const struct sta_command_arguments *arguments);
int sta_command_summary(const struct sta_command_arguments *arguments);
int sta_command_query(const struct sta_command_arguments *arguments);
int sta_command_compare(const struct sta_command_arguments *arguments);
int sta_command_findings(const struct sta_command_arguments *arguments);

#endif

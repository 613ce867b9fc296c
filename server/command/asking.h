/* asking.h - the commands that ask a daemon (private to command). */
#ifndef STA_SERVER_COMMAND_ASKING_H
#define STA_SERVER_COMMAND_ASKING_H

#include "server/command/command.h"

/* Each asks the daemon that sta_daemon_open() found, prints, and gives an exit status. */
int sta_command_ls(const struct sta_command_arguments *arguments);
int sta_command_add(const struct sta_command_arguments *arguments);
int sta_command_rm(const struct sta_command_arguments *arguments);
int sta_command_summary(const struct sta_command_arguments *arguments);
int sta_command_query(const struct sta_command_arguments *arguments);
int sta_command_compare(const struct sta_command_arguments *arguments);
int sta_command_findings(const struct sta_command_arguments *arguments);

#endif

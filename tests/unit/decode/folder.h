/* folder.h - a temporary folder per test, and trace files in it. */
#ifndef STA_TEST_DECODE_FOLDER_H
#define STA_TEST_DECODE_FOLDER_H

#include "common/buffer.h"

extern char folder[64]; /* path of the folder, from make_folder on */

void make_folder(void);   /* .init of a test */
void remove_folder(void); /* .fini of a test */

/** Lines of events numbered @from .. @from + @count - 1.  Free with sta_buffer_fini. */
struct sta_buffer make_lines(unsigned from, unsigned count);

/** Writes the bytes to the file, plain or as a gzip member.  @mode: "w" or "a". */
void write_file(const char *name, const void *bytes, size_t size, const char *mode);
void write_member(const char *name, const void *bytes, size_t size, const char *mode);

#endif

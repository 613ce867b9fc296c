/* build_id.h - which build of the program this is. */
#ifndef STA_COMMON_BUILD_ID_H
#define STA_COMMON_BUILD_ID_H

/** The linker's digest of all that the program consists of, in hex digits: what was computed by one build
 * says nothing about another, though the version be the same.  Context: any thread. */
const char *sta_build_id(void);

#endif

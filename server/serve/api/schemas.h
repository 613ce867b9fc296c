/* schemas.h - the files of schema/, embedded by embed.py at build time. */
#ifndef STA_SERVE_SCHEMAS_H
#define STA_SERVE_SCHEMAS_H

#include <stddef.h>

struct sta_schema_text {
    const char *name, *schema, *example; /* JSON texts; the example is the schema's first */
};
extern const struct sta_schema_text sta_schemas[];
extern const size_t sta_schema_count;

#endif

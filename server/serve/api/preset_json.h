/* preset_json.h - pieces of JSON about presets. */
#ifndef STA_SERVE_PRESET_JSON_H
#define STA_SERVE_PRESET_JSON_H

#include "analyse/analyse.h"
#include "common/buffer.h"

/** The member "mistakes": a list of objects with line, pointer, position (null where not known) and text. */
void sta_put_mistakes(struct sta_buffer *out, const struct sta_preset_mistakes *mistakes);

#endif

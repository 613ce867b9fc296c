/* preset_json.h - pieces of JSON about presets. */
#ifndef STA_SERVE_PRESET_JSON_H
#define STA_SERVE_PRESET_JSON_H

#include "analyse/analyse.h"
#include "serve/api/response.h"

/** The member "mistakes": a list of objects with line, pointer, position (null where not known) and text. */
void sta_put_mistakes(struct sta_buffer *out, const struct sta_preset_mistakes *mistakes);
/** Makes the response the problem that the error is, with these mistakes.  Return: 0. */
int sta_put_mistakes_response(struct sta_response *response, const struct sta_error *err,
                              const struct sta_preset_mistakes *mistakes);

#endif

/* openapi.h - between the openapi*.c files. */
#ifndef STA_SERVE_OPENAPI_H
#define STA_SERVE_OPENAPI_H

#include "serve/api/routes.h"

/** {"schema": {"$ref": ..}, "example": ..} of a schema. */
void sta_openapi_put_media(struct sta_buffer *out, const char *schema);
/** The member "responses" of an operation. */
void sta_openapi_put_responses(struct sta_buffer *out, const struct sta_route *route);
/** The members "headers" and "responses" of the components. */
void sta_openapi_put_shared_responses(struct sta_buffer *out);

#endif

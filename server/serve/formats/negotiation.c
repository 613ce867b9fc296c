/* Forms of tables: chosen by Accept (RFC 9110, weights and wildcards), and named for who saves them. */
#include "serve/formats/negotiation.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/memory.h"

/* The forms that have a media type of their own, the preferred first among equals. */
static const struct form {
    const char *word, *type, *subtype, *extension;
} forms[] = {
    {"json", "application", "json", NULL},
    {"csv", "text", "csv", "csv"},
    {"ndjson", "application", "x-ndjson", "ndjson"},
    {"arrow", "application", "vnd.apache.arrow.stream", "arrows"},
    {"markdown", "text", "markdown", "md"},
    {"chrome", NULL, NULL, "json"},
    {"folded", NULL, NULL, "txt"},
    {"speedscope", NULL, NULL, "speedscope.json"},
};

/* ---- Accept */

/* The parameter called format that the route has, or STA_PARAMETERS. */
static unsigned format_parameter(const struct sta_route *route)
{
    for (unsigned i = 0; i < STA_PARAMETERS; i++)
        if (sta_route_parameters(route) >> i & 1 && strcmp(sta_parameters[i].name, "format") == 0)
            return i;
    return STA_PARAMETERS;
}

const char *sta_negotiation_format(const struct sta_call *call)
{
    unsigned parameter = format_parameter(call->route);
    return parameter < STA_PARAMETERS ? call->values[parameter].text : NULL;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

/* How closely a range such as "text" "/" "*" names the form: 0: not, 3: exactly. */
static unsigned closeness(const char *range, size_t length, const struct form *form)
{
    const char *slash = memchr(range, '/', length);
    if (slash == NULL || form->type == NULL)
        return 0;
    size_t type = (size_t)(slash - range), subtype = length - type - 1;
    if (is_word(range, type, "*"))
        return 1;
    if (!is_word(range, type, form->type))
        return 0;
    return is_word(slash + 1, subtype, "*") ? 2 : is_word(slash + 1, subtype, form->subtype) ? 3 : 0;
}

/* The weight of a form in thousandths: that of the range that names it most closely. */
static unsigned weight_of(const char *accept, const struct form *form)
{
    unsigned best = 0, weight = 0;
    for (const char *at = accept; *at != '\0';) {
        at += strspn(at, " \t,");
        size_t whole = strcspn(at, ","), length = strcspn(at, ",; \t");
        unsigned close = closeness(at, length, form);
        if (close > best) {
            const char *q = memmem(at, whole, "q=", 2);
            double value = q != NULL ? strtod(q + 2, NULL) : 1;
            best = close;
            weight = value > 0 ? (unsigned)(1000 * STA_MIN(value, 1.0)) : 0;
        }
        at += whole;
    }
    return weight;
}

void sta_negotiation_choose(struct sta_call *call)
{
    const char *accept = sta_exchange_header(call->exchange, "Accept");
    unsigned parameter = format_parameter(call->route), best = 0;
    if (accept == NULL || parameter == STA_PARAMETERS || call->values[parameter].given)
        return;
    for (size_t i = 0; i < STA_COUNT_OF(forms); i++) {
        unsigned weight = sta_word_listed(forms[i].word, sta_parameters[parameter].words)
                              ? weight_of(accept, &forms[i])
                              : 0;
        if (weight <= best)
            continue;
        best = weight;
        call->values[parameter].text = forms[i].word;
    }
}

/* ---- Content-Disposition */

static const char *format_of(const struct sta_call *call, const struct sta_view *view)
{
    static const char *const words[] = {[STA_FORMAT_JSON] = "json",
                                        [STA_FORMAT_CSV] = "csv",
                                        [STA_FORMAT_NDJSON] = "ndjson",
                                        [STA_FORMAT_ARROW] = "arrow"};
    const char *format = sta_negotiation_format(call);
    if (view->text_form != NULL)
        return view->text_form;
    if (view->kind->result != NULL)
        return words[view->page.format];
    return format != NULL ? format : "json";
}

static const char *extension_of(const char *format)
{
    for (size_t i = 0; i < STA_COUNT_OF(forms); i++)
        if (strcmp(forms[i].word, format) == 0)
            return forms[i].extension;
    return NULL;
}

/* The name of the trace, or "traces" of several and none. */
static void put_trace_name(struct sta_buffer *out, const struct sta_view *view)
{
    size_t count, listed = 0;
    struct sta_trace_view *traces = sta_library_list(view->server->options.library, &count);
    for (size_t i = 0; i < count; i++) {
        if (view->trace_count == 1 && strcmp(traces[i].entry.id, view->traces[0].id) == 0) {
            sta_put_text(out, traces[i].entry.name);
            listed++;
        }
        sta_trace_view_fini(&traces[i]);
    }
    free(traces);
    if (listed == 0)
        sta_put_text(out, "traces");
}

void sta_negotiation_name(struct sta_call *call, const struct sta_view *view)
{
    const char *extension = extension_of(format_of(call, view));
    struct sta_buffer name;
    if (extension == NULL)
        return;
    sta_buffer_init(&name);
    put_trace_name(&name, view);
    for (size_t i = 0; i < name.size; i++) { /* a name that every system and every header takes */
        char c = name.data[i];
        bool plain = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' ||
                     c == '_' || (c == '.' && i > 0);
        name.data[i] = plain ? c : '_';
    }
    char *value = sta_sprintf("attachment; filename=\"%.*s-%s.%s\"", (int)STA_MIN(name.size, 80u), name.data,
                              view->kind->name, extension);
    sta_exchange_add_success_header(call->exchange, "Content-Disposition", value);
    free(value);
    sta_buffer_fini(&name);
}

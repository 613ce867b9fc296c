/* Query parameters, checked by the one list of them. */
#include "serve/api/parameters.h"

#include <math.h>
#include <string.h>

#include "common/buffer.h"
#include "common/event.h"
#include "common/memory.h"
#include "common/number.h"
#include "serve/http/request.h"

#define WIDTH_LIMIT ((double)(STA_GRANULARITY_LIMIT / 1000000)) /* seconds */

#define IS_REQUIRED(id) (STA_PARAMETER_##id == STA_PARAMETER_TRACES)

const struct sta_parameter sta_parameters[STA_PARAMETERS] = {
#define X(id, name, type, words, fallback, example, text)                                                    \
    [STA_PARAMETER_##id] = {name, STA_PARAMETER_##type, words, fallback, example, text, IS_REQUIRED(id)},
    STA_PARAMETER_LIST(X)
#undef X
};

static int fail_at(struct sta_error *err, const char *name)
{
    char pointer[sizeof err->parameter];
    snprintf(pointer, sizeof pointer, "/%.200s", name);
    return sta_at(err, pointer, -1);
}

static int fail_unknown(const char *name, sta_parameter_set allowed, struct sta_error *err)
{
    struct sta_buffer list;
    sta_buffer_init(&list);
    for (unsigned i = 0; i < STA_PARAMETERS; i++)
        if (allowed >> i & 1)
            sta_put_format(&list, "%s%s", list.size ? ", " : "", sta_parameters[i].name);
    sta_put_char(&list, '\0');
    sta_fail(err, STA_EINPUT, "There is no parameter \"%.60s\" here; allowed: %s", name,
             list.size > 1 ? list.data : "none");
    sta_buffer_fini(&list);
    return fail_at(err, name);
}

static int find_parameter(const char *name, sta_parameter_set allowed)
{
    for (unsigned i = 0; i < STA_PARAMETERS; i++)
        if (allowed >> i & 1 && strcmp(sta_parameters[i].name, name) == 0)
            return (int)i;
    return -1;
}

static bool read_number(const char *text, double *number)
{
    return sta_parse_double(text, strlen(text), number);
}

static bool is_name_list(const char *text)
{
    for (const char *at = text;; at += strcspn(at, ",") + 1) {
        size_t length = strcspn(at, ",");
        if (length == 0)
            return false;
        if (at[length] == '\0')
            return true;
    }
}

static int check_value(const struct sta_parameter *parameter, struct sta_parameter_value *value,
                       struct sta_error *err)
{
    const char *name = parameter->name, *text = value->text;
    switch (parameter->type) {
    case STA_PARAMETER_TEXT:
    case STA_PARAMETER_LIST:
        return *text ? STA_OK : sta_fail(err, STA_EINPUT, "%s is empty", name);
    case STA_PARAMETER_CHOICE:
        if (!sta_word_listed(text, parameter->words))
            return sta_fail(err, STA_EINPUT, "%s=%.60s is not allowed; allowed: %s", name, text,
                            parameter->words);
        return STA_OK;
    case STA_PARAMETER_SECONDS:
        if (!read_number(text, &value->number))
            return sta_fail(err, STA_EINPUT, "%s=%.60s is not a number of seconds", name, text);
        return STA_OK;
    case STA_PARAMETER_NUMBER:
        if (!read_number(text, &value->number))
            return sta_fail(err, STA_EINPUT, "%s=%.60s is not a number", name, text);
        return STA_OK;
    case STA_PARAMETER_WIDTH:
        if (!read_number(text, &value->number) || value->number > WIDTH_LIMIT || value->number < 0.5e-6)
            return sta_fail(err, STA_EINPUT,
                            "%s=%.60s is not allowed; a number of seconds, from 0.000001 to 1000000000", name,
                            text);
        value->integer = llround(value->number * 1e6);
        return STA_OK;
    case STA_PARAMETER_COUNT:
        if (!sta_parse_int(text, strlen(text), &value->integer) || value->integer < 1 ||
            value->integer > INT32_MAX)
            return sta_fail(err, STA_EINPUT, "%s=%.60s is not allowed; a whole number from 1 to 2147483647",
                            name, text);
        return STA_OK;
    case STA_PARAMETER_ROWS:
        if (!sta_parse_int(text, strlen(text), &value->integer) || value->integer < 0)
            return sta_fail(err, STA_EINPUT, "%s=%.60s is not a whole number from 0 on", name, text);
        return STA_OK;
    case STA_PARAMETER_PAIRS:
        if (*text == ':' || strchr(text, ':') == NULL)
            return sta_fail(err, STA_EINPUT, "%s=%.60s is not of the form name:expression", name, text);
        return STA_OK;
    case STA_PARAMETER_NAMES:
        return is_name_list(text) ? STA_OK
                                  : sta_fail(err, STA_EINPUT, "%s has an empty name in its list", name);
    }
    return STA_OK;
}

static int repeat(unsigned index, const char *text, struct sta_repeats *repeats, struct sta_error *err)
{
    STA_ASSERT(repeats != NULL);
    if (repeats->count == STA_REPEATS)
        return sta_fail(err, STA_ELIMIT, "The parameters hold more than %d values of lists", STA_REPEATS);
    repeats->items[repeats->count].parameter = index;
    repeats->items[repeats->count++].text = text;
    return STA_OK;
}

static bool may_repeat(const struct sta_parameter *parameter)
{
    return parameter->type == STA_PARAMETER_LIST || parameter->type == STA_PARAMETER_PAIRS;
}

static int read_one(char *name, char *text, sta_parameter_set allowed, struct sta_parameter_value *values,
                    struct sta_repeats *repeats, struct sta_error *err)
{
    if (sta_percent_decode(name, true, err) != STA_OK)
        return sta_error_wrap(err, "Cannot read the name of a parameter");
    int index = find_parameter(name, allowed);
    if (index < 0)
        return fail_unknown(name, allowed, err);
    const struct sta_parameter *parameter = &sta_parameters[index];
    struct sta_parameter_value *value = &values[index];
    if (value->given && !may_repeat(parameter)) {
        sta_fail(err, STA_EINPUT, "%s is given twice", name);
        return fail_at(err, name);
    }
    if (sta_percent_decode(text, true, err) != STA_OK) {
        sta_error_wrap(err, "Cannot read %s", name);
        return fail_at(err, name);
    }
    if (!value->given)
        value->text = text;
    value->given = true;
    struct sta_parameter_value one = {.text = text};
    int status = check_value(parameter, may_repeat(parameter) ? &one : value, err);
    if (status == STA_OK && may_repeat(parameter))
        status = repeat((unsigned)index, text, repeats, err);
    return status == STA_OK ? STA_OK : fail_at(err, name);
}

int sta_parameters_read(char *query, sta_parameter_set allowed,
                        struct sta_parameter_value values[STA_PARAMETERS], struct sta_repeats *repeats,
                        struct sta_error *err)
{
    memset(values, 0, sizeof *values * STA_PARAMETERS);
    if (repeats != NULL)
        repeats->count = 0;
    for (char *name, *text; sta_query_next(&query, &name, &text);)
        if (read_one(name, text, allowed, values, repeats, err) != STA_OK)
            return err->status;
    for (unsigned i = 0; i < STA_PARAMETERS; i++) {
        if (!(allowed >> i & 1) || values[i].given || sta_parameters[i].fallback == NULL)
            continue;
        values[i].text = sta_parameters[i].fallback;
        STA_ASSERT(check_value(&sta_parameters[i], &values[i], err) == STA_OK);
    }
    return STA_OK;
}

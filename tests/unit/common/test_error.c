/* Errors tell their chain of causes, outermost first. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "common/error.h"

Test(error, causes_form_a_chain)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_fail_errno(&err, ENOSPC, "cannot write %s", "x.seg"), STA_ENOSPC);
    cr_assert_eq(sta_error_wrap(&err, "cannot ingest %s", "/runs/a"), STA_ENOSPC);
    cr_assert_str_eq(err.text, "cannot ingest /runs/a: cannot write x.seg: No space left on device");
    cr_assert_str_eq(sta_status_name(err.status), "NOSPC");
}

Test(error, long_chains_are_cut_not_overrun)
{
    struct sta_error err = STA_ERROR_INIT;
    char long_text[2000];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    sta_fail(&err, STA_EINPUT, "%s", long_text);
    sta_error_wrap(&err, "%s", long_text);
    cr_assert_eq(strlen(err.text), sizeof err.text - 1);
}

Test(error, the_place_at_fault_is_kept)
{
    struct sta_error err = STA_ERROR_INIT;
    sta_fail(&err, STA_EINPUT, "unknown column");
    sta_at(&err, "/filter", 13);
    sta_error_wrap(&err, "cannot read the query");
    cr_assert_str_eq(err.parameter, "/filter");
    cr_assert_eq(err.position, 13);
}

Test(error, a_failure_about_a_member_names_it_alone)
{
    struct sta_error err = STA_ERROR_INIT;
    sta_at(&err, "/other", 7);
    cr_assert_eq(sta_fail_at(&err, STA_ELIMIT, "/limit", "limit is %d", 5), STA_ELIMIT);
    cr_assert_str_eq(err.text, "limit is 5");
    cr_assert_str_eq(err.parameter, "/limit");
    cr_assert_eq(err.position, -1);
}

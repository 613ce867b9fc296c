/* main.c - runs the tests of one program, each in a child process, and ends with the count that Criterion
 * would print. */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_SKIPPED = 77 };

static struct test *tests;
static const struct test *current;
static bool failed;

void test_register(struct test *test)
{
    test->next = tests;
    tests = test;
}

static void print_message(const char *format, va_list args)
{
    if (format[0] != '\0') {
        fputs(": ", stderr);
        vfprintf(stderr, format, args);
    }
    fputc('\n', stderr);
}

void test_failed(bool fatal, const char *file, int line, const char *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: %s", file, line, text);
    print_message(format, args);
    va_end(args);
    failed = true;
    if (fatal)
        _exit(EXIT_FAILURE);
}

void test_skipped(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "[SKIP] %s::%s", current->suite, current->name);
    print_message(format, args);
    va_end(args);
    _exit(EXIT_SKIPPED);
}

static void run(const struct test *test)
{
    if (test->options.init != NULL)
        test->options.init();
    test->run();
    if (test->options.fini != NULL)
        test->options.fini();
}

/* The exit status of a test's process; that of TSan where it found a race. */
static int status_of(const struct test *test)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        current = test;
        run(test);
        exit(failed ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
    return ended ? WEXITSTATUS(status) : EXIT_FAILURE;
}

int main(void)
{
    unsigned passed = 0, failures = 0;
    for (const struct test *test = tests; test != NULL; test = test->next) {
        int status = status_of(test);
        passed += status == EXIT_SUCCESS;
        if (status == EXIT_SUCCESS || status == EXIT_SKIPPED)
            continue;
        failures++;
        fprintf(stderr, "FAILED %s::%s\n", test->suite, test->name);
    }
    fprintf(stderr, "[====] Synthesis: Tested: %u | Passing: %u | Failing: %u | Crashing: 0\n",
            passed + failures, passed, failures);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

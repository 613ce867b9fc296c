/* replay.c - main of a fuzz target where libFuzzer is missing: gives it every file of the folders named as
 * arguments.
 *
 * A find is a crash or a sanitizer's report, so there is nothing to compare; the number of inputs is printed
 * so that a folder that went missing is seen.  A folder that does not exist counts as empty (a target without
 * finds has no regression folder). */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "replay: cannot %s %s: %s\n", what, path, strerror(errno));
    exit(2);
}

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail("open", path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1); /* exact, so that reading past the end is seen */
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size)
        fail("read", path);
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
}

static size_t replay_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir && errno == ENOENT)
        return 0;
    if (!dir)
        fail("open", folder);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        replay_file(path);
        count++;
    }
    closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    for (int i = 1; i < argc; i++)
        count += replay_folder(argv[i]);
    printf("replayed %zu inputs\n", count);
    return count ? 0 : 1;
}

/* The dashboard's files. */
#include "serve/api/assets.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/files.h"
#include "common/memory.h"

#define TOTAL_LIMIT (UINT64_C(64) << 20)
#define DEPTH_LIMIT 8

struct asset {
    char *path; /* "/index.html" */
    struct sta_representation *content;
};

struct sta_assets {
    struct asset *items;
    size_t count, capacity;
    uint64_t bytes;
};

static const struct {
    const char *suffix, *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".json", "application/json"},
    {".webmanifest", "application/manifest+json"},
    {".woff2", "font/woff2"},
    {".txt", "text/plain; charset=utf-8"},
};

static const char *type_of(const char *path)
{
    const char *suffix = strrchr(path, '.');
    for (size_t i = 0; suffix != NULL && i < STA_COUNT_OF(types); i++)
        if (strcmp(types[i].suffix, suffix) == 0)
            return types[i].type;
    return "application/octet-stream";
}

/* A name with a hash of 8 or more hexadecimal digits, or capitals and digits, before its suffix
 * ("app-1a2b3c4d.js", "app.2YELFWJH.js") changes with its content. */
static bool is_fingerprinted(const char *path)
{
    const char *suffix = strrchr(path, '.');
    size_t digits = 0;
    while (suffix != NULL && suffix - digits > path &&
           strchr("0123456789abcdefABCDEFGHIJKLMNOPQRSTUVWXYZ", suffix[-1 - (long)digits]) != NULL)
        digits++;
    return digits >= 8 && (suffix[-1 - (long)digits] == '-' || suffix[-1 - (long)digits] == '.');
}

/* The file that the build packed beside this one; NULL when there is none. */
static char *read_packed(const char *file, size_t *size)
{
    char *bytes = NULL;
    struct sta_error ignored = STA_ERROR_INIT;
    char *beside = sta_sprintf("%s.gz", file);
    if (sta_file_read(beside, TOTAL_LIMIT, &bytes, size, &ignored) != STA_OK)
        bytes = NULL;
    free(beside);
    return bytes;
}

static int add_file(struct sta_assets *assets, const char *file, const char *path, struct sta_error *err)
{
    char *bytes;
    size_t size;
    size_t packed_size = 0;
    struct sta_response response;
    int status = sta_file_read(file, TOTAL_LIMIT - assets->bytes, &bytes, &size, err);
    if (status != STA_OK)
        return status;
    assets->bytes += size;
    sta_response_init(&response);
    response.content_type = type_of(path);
    sta_put(&response.body, bytes, size);
    free(bytes);
    const char *caching = is_fingerprinted(path) ? "public, max-age=31536000, immutable" : "no-cache";
    char *packed = read_packed(file, &packed_size);
    STA_GROW(assets->items, assets->capacity, assets->count + 1);
    assets->items[assets->count++] = (struct asset){
        sta_strdup(path), packed ? sta_representation_create_packed(&response, caching, packed, packed_size)
                                 : sta_representation_create(&response, caching)};
    sta_response_fini(&response);
    return STA_OK;
}

static bool is_packed(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".gz") == 0;
}

static int add_folder(struct sta_assets *assets, const char *folder, const char *path, unsigned depth,
                      struct sta_error *err);

static int add_entry(struct sta_assets *assets, const char *folder, const char *path, const char *name,
                     unsigned depth, struct sta_error *err)
{
    struct stat about;
    int status = STA_OK;
    char *file = sta_path_join(folder, name), *below = sta_sprintf("%s/%s", path, name);
    if (lstat(file, &about) != 0)
        status = sta_fail_errno(err, errno, "Cannot look at %s", file);
    else if (S_ISDIR(about.st_mode) && depth < DEPTH_LIMIT)
        status = add_folder(assets, file, below, depth + 1, err);
    else if (S_ISREG(about.st_mode) && !is_packed(name))
        status = add_file(assets, file, below, err);
    free(file);
    free(below);
    return status;
}

static int add_folder(struct sta_assets *assets, const char *folder, const char *path, unsigned depth,
                      struct sta_error *err)
{
    int status = STA_OK;
    DIR *open = opendir(folder);
    if (open == NULL && errno == ENOENT)
        return STA_OK;
    if (open == NULL)
        return sta_fail_errno(err, errno, "Cannot read the folder %s", folder);
    for (struct dirent *entry; status == STA_OK && (entry = readdir(open)) != NULL;)
        if (entry->d_name[0] != '.')
            status = add_entry(assets, folder, path, entry->d_name, depth, err);
    closedir(open);
    return status;
}

static int compare_assets(const void *a, const void *b)
{
    return strcmp(((const struct asset *)a)->path, ((const struct asset *)b)->path);
}

int sta_assets_load(const char *folder, struct sta_assets **loaded, struct sta_error *err)
{
    struct sta_assets *assets = sta_alloc(sizeof *assets);
    int status = folder && folder[0] ? add_folder(assets, folder, "", 0, err) : STA_OK;
    if (status != STA_OK) {
        sta_assets_destroy(assets);
        return sta_error_wrap(err, "Cannot load the dashboard");
    }
    if (assets->count > 0)
        qsort(assets->items, assets->count, sizeof *assets->items, compare_assets);
    *loaded = assets;
    return STA_OK;
}

void sta_assets_destroy(struct sta_assets *assets)
{
    for (size_t i = 0; i < assets->count; i++) {
        free(assets->items[i].path);
        sta_representation_release(assets->items[i].content);
    }
    free(assets->items);
    free(assets);
}

struct sta_representation *sta_assets_find(const struct sta_assets *assets, const char *path)
{
    struct asset key = {.path = (char *)(uintptr_t)(strcmp(path, "/") == 0 ? "/index.html" : path)};
    const struct asset *found =
        assets->count ? bsearch(&key, assets->items, assets->count, sizeof key, compare_assets) : NULL;
    return found ? sta_representation_retain(found->content) : NULL;
}

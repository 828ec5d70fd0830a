/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* Runs a fuzz target on every file of a folder, where there is no libFuzzer. A fault ends the
 * program, as it does under libFuzzer; the file's name was printed before. Each input lies in a
 * block of its own size, so that a read past its end is seen. */

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int run_file(const char *folder, const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    printf("%s\n", path);
    (void)fflush(stdout);
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        if (file)
            (void)fclose(file);
        return -1;
    }
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    size_t n = data ? fread(data, 1, (size_t)size, file) : 0;
    (void)fclose(file);
    if (data)
        (void)LLVMFuzzerTestOneInput(data, n);
    free(data);
    return data && n == (size_t)size ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct dirent **names;
    int n = argc == 2 ? scandir(argv[1], &names, is_visible, alphasort) : -1;
    if (n <= 0) {
        fprintf(stderr, "%s: no seeds; a fuzz target needs a corpus folder with at least one\n",
                argc == 2 ? argv[1] : "usage: TARGET CORPUS");
        return 1;
    }
    int n_failed = 0;
    for (int i = 0; i < n; i++) {
        if (run_file(argv[1], names[i]->d_name) != 0)
            n_failed++;
        free(names[i]);
    }
    free(names);
    printf("%d passed, %d failed\n", n - n_failed, n_failed);
    return n_failed > 0;
}

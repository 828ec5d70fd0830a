/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The binary layout of everything in include/maar, compared with what is recorded in abi0.txt.
 *
 *     abi_layout GOLDEN            compares; 1 when something differs
 *     abi_layout GOLDEN --update   records
 *
 * While MAAR_ABI is 0 the layout may change: look at the difference, then record it. Once the
 * number is frozen, lines may only be added at the end of a struct that says its size. The list of
 * fields comes from the headers themselves (fields.awk), so a new one cannot be forgotten. */

#include "headers.inc" /* every public header */

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 256

static void write_layout(FILE *out)
{
    (void)fprintf(out,
                  "# Layout of include/maar: struct SIZE ALIGNMENT, field OFFSET SIZE, "
                  "enumerator VALUE.\nMAAR_ABI %u\n",
                  MAAR_ABI);
#define STRUCT(s)                                                                                  \
    (void)fprintf(out, "struct %s %zu %zu\n", #s, sizeof(struct s), _Alignof(struct s));
#define FIELD(s, f)                                                                                \
    (void)fprintf(out, "  %s %zu %zu\n", #f, offsetof(struct s, f), sizeof((struct s *)NULL)->f);
#define ENUM(e) (void)fprintf(out, "%s %d\n", #e, (int)(e));
#include "fields.inc"
#undef STRUCT
#undef FIELD
#undef ENUM
}

/* Prints each pair of lines that differ; after a line more or less every following one differs, so
 * the first few are enough. */
static int compare(FILE *want, FILE *found)
{
    char struct_line[MAX_LINE] = "";
    char w[MAX_LINE];
    char f[MAX_LINE];
    int n_different = 0;
    for (;;) {
        const char *has_want = fgets(w, sizeof w, want);
        const char *has_found = fgets(f, sizeof f, found);
        if (!has_want && !has_found)
            return n_different;
        if (has_found && strncmp(f, "struct ", 7) == 0)
            memcpy(struct_line, f, sizeof struct_line);
        if (has_want && has_found && strcmp(w, f) == 0)
            continue;
        if (n_different++ < 5)
            (void)fprintf(stderr, "in %s  recorded: %s  found:    %s",
                          *struct_line ? struct_line : "the head\n", has_want ? w : "nothing\n",
                          has_found ? f : "nothing\n");
    }
}

static int update(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        (void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    write_layout(file);
    return fclose(file) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (sizeof(void *) != 8) {
        (void)puts("the record is for machines of 64 bits");
        return 0;
    }
    if (argc == 3 && strcmp(argv[2], "--update") == 0)
        return update(argv[1]);
    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s GOLDEN [--update]\n", argv[0]);
        return 2;
    }
    FILE *want = fopen(argv[1], "r");
    FILE *found = tmpfile();
    if (!want || !found) {
        (void)fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    write_layout(found);
    rewind(found);
    int n_different = compare(want, found);
    (void)fclose(want);
    (void)fclose(found);
    if (n_different == 0)
        return 0;
    (void)fprintf(stderr,
                  "%d lines differ. A plugin that was compiled before does not fit any more.\n"
                  "While MAAR_ABI is 0 that is allowed; if it is meant, record it with\n"
                  "    %s %s --update\n",
                  n_different, argv[0], argv[1]);
    return 1;
}

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

#define MAX_LINE  256
#define MAX_LINES 4096

/* The record, or what was found: lines of "NAME NUMBERS". */
struct lines {
    char text[MAX_LINES][MAX_LINE];
    size_t n;
};

static struct lines recorded;
static struct lines found;

static void write_layout(FILE *out)
{
    (void)fprintf(out,
                  "# include/maar: STRUCT SIZE ALIGNMENT, STRUCT.FIELD OFFSET SIZE, "
                  "ENUMERATOR VALUE\nMAAR_ABI %u\n",
                  MAAR_ABI);
#define STRUCT(s) (void)fprintf(out, "%s %zu %zu\n", #s, sizeof(struct s), _Alignof(struct s));
#define FIELD(s, f)                                                                                \
    (void)fprintf(out, "%s.%s %zu %zu\n", #s, #f, offsetof(struct s, f),                           \
                  sizeof((struct s *)NULL)->f);
#define ENUM(e) (void)fprintf(out, "%s %d\n", #e, (int)(e));
#include "fields.inc"
#undef STRUCT
#undef FIELD
#undef ENUM
}

static void read_lines(FILE *file, struct lines *lines)
{
    while (lines->n < MAX_LINES && fgets(lines->text[lines->n], MAX_LINE, file))
        lines->n++;
}

/* The line of the same name, NULL when there is none. */
static const char *find_line(const struct lines *lines, const char *line)
{
    size_t n = strcspn(line, " ") + 1;
    for (size_t i = 0; i < lines->n; i++)
        if (strncmp(lines->text[i], line, n) == 0)
            return lines->text[i];
    return NULL;
}

/* Prints what is gone, new or elsewhere; returns how much that is. */
static int compare(void)
{
    int n_different = 0;
    for (size_t i = 0; i < recorded.n; i++) {
        const char *now = find_line(&found, recorded.text[i]);
        if (now && strcmp(now, recorded.text[i]) == 0)
            continue;
        n_different++;
        (void)fprintf(stderr, "- %s%s%s", recorded.text[i], now ? "+ " : "", now ? now : "");
    }
    for (size_t i = 0; i < found.n; i++) {
        if (find_line(&recorded, found.text[i]))
            continue;
        n_different++;
        (void)fprintf(stderr, "+ %s", found.text[i]);
    }
    return n_different;
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
    FILE *record = fopen(argv[1], "r");
    FILE *now = tmpfile();
    if (!record || !now) {
        (void)fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    read_lines(record, &recorded);
    write_layout(now);
    rewind(now);
    read_lines(now, &found);
    (void)fclose(record);
    (void)fclose(now);
    int n_different = compare();
    if (n_different == 0)
        return 0;
    (void)fprintf(stderr,
                  "%d differences: a plugin that was compiled before does not fit any more.\n"
                  "While MAAR_ABI is 0 that is allowed; if it is meant, record it with\n"
                  "    %s %s --update\n",
                  n_different, argv[0], argv[1]);
    return 1;
}

// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// maarctl: finds the command.
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/simulate_table.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"simulate", maar_cli_simulate, "play a scenario in virtual time and check what comes out"},
    {"check", maar_cli_check, "say what is wrong in a scheduler.conf, manifests or scenarios"},
    {"cluster", maar_cli_cluster, "serve an embedded cluster as a Kubernetes API"},
    {"plugins", maar_cli_plugins, "list what scheduler.conf can name, with arguments"},
    {"bench", maar_cli_bench, "measure placements a second on generated workloads"},
};

#define N_COMMANDS (sizeof commands / sizeof *commands)

static void print_help(FILE *out)
{
    fputs("maarctl works with the maar gang scheduler without a cluster.\n\n"
          "Usage: maarctl COMMAND [OPTION...]\n\n",
          out);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fputs("  version    print the version\n"
          "  help       this text; maarctl COMMAND --help tells more\n\n"
          "Exit status: 0 done, 1 the answer is no (an expectation not met, a check failed),\n"
          "2 bad input.\n",
          out);
}

static int refuse(const char *name)
{
    const char *names[N_COMMANDS + 3];
    for (size_t i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i].name;
    names[N_COMMANDS] = "version";
    names[N_COMMANDS + 1] = "help";
    names[N_COMMANDS + 2] = NULL;
    const char *nearest = maar_text_nearest(name, names);
    maar_autofree char *safe = maar_simulate_escape(name, false);
    fprintf(stderr, "maarctl: unknown command \"%s\"%s%s%s\nTry: maarctl help\n", safe,
            nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return MAAR_EXIT_INPUT;
}

static bool is_one_of(const char *name, const char *a, const char *b, const char *c)
{
    return strcmp(name, a) == 0 || strcmp(name, b) == 0 || strcmp(name, c) == 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return MAAR_EXIT_INPUT;
    }
    if (is_one_of(argv[1], "help", "--help", "-h")) {
        print_help(stdout);
        return MAAR_EXIT_OK;
    }
    if (is_one_of(argv[1], "version", "--version", "-V")) {
        puts("maarctl " MAAR_VERSION);
        return MAAR_EXIT_OK;
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            static char name[64]; /* what getopt calls the program */
            snprintf(name, sizeof name, "maarctl %s", argv[1]);
            argv[1] = name;
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return refuse(argv[1]);
}

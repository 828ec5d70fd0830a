/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CLI_COMMAND_H
#define MAAR_CLI_COMMAND_H

/* The commands of maarctl. Each gets the arguments from its own name on and returns an exit code: 0 done, 1 the answer
 * is no (an unmet expectation, a failed check), 2 bad input. */

enum maar_exit {
    MAAR_EXIT_OK = 0,
    MAAR_EXIT_NO = 1,
    MAAR_EXIT_INPUT = 2,
};

int maar_cli_simulate(int argc, char **argv);
int maar_cli_check(int argc, char **argv);
int maar_cli_cluster(int argc, char **argv);
int maar_cli_plugins(int argc, char **argv);
int maar_cli_bench(int argc, char **argv);

#endif

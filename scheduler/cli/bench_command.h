/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CLI_BENCH_COMMAND_H
#define MAAR_CLI_BENCH_COMMAND_H

/* `maarctl bench [W1|W1v|W2|W3|W8|k…] [--size S|L] [-o table|json]`: decides generated workloads on the engine alone, with
 * the class indexes and with the plain path, and prints the ratio. argv[0] is "bench". Returns the exit code: 0 when
 * every check held, 1 when one failed, 2 for bad input. */
int maar_cli_bench(int argc, char **argv);

#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright The maar Authors
// `maarctl cluster up`.
#include <stdio.h>

#include "cli/command.h"

int maar_cli_cluster(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    fputs("maarctl cluster: not there yet\n", stderr);
    return MAAR_EXIT_INPUT;
}

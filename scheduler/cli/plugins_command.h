/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
#ifndef MAAR_CLI_PLUGINS_COMMAND_H
#define MAAR_CLI_PLUGINS_COMMAND_H

/* `maarctl plugins [NAME] [--plugins-dir DIR] [-o table|json]`: what scheduler.conf can name, with
 * the hooks that each plugin fills in and the arguments it takes. argv[0] is "plugins". Writes to
 * standard output, faults to standard error. 0; 1 when the built-in modules cannot be loaded; 2 on
 * bad input (an unknown name or option, a folder that is refused). */
int maar_cli_plugins(int argc, char **argv);

#endif

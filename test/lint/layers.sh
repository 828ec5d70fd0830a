#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# Who may include whom. The table is that of the architecture: a layer of scheduler/ includes only
# itself and those to its left; plugins and actions see the public API and the C library.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Prints "file:line: what" for each #include that is not allowed.
git ls-files -z --cached --others --exclude-standard -- \
    'scheduler/*.[ch]' 'conf/*.[ch]' 'include/*.h' 'plugins/*.[ch]' 'actions/*.[ch]' |
    while IFS= read -r -d '' file; do [[ -e $file ]] && printf '%s\0' "$file"; done |
    xargs -0 awk '
    BEGIN {
        allowed["base"]    = "base"
        allowed["conf"]    = "conf base"
        allowed["model"]   = "model base"
        allowed["session"] = "session model conf base"
        allowed["place"]   = "place " allowed["session"]
        allowed["host"]    = "host " allowed["place"]
        allowed["wire"]    = "wire " allowed["host"]
        allowed["engine"]  = "engine " allowed["wire"]
        allowed["kube"]    = "kube " allowed["engine"]
        allowed["sim"]     = "sim " allowed["engine"]
        allowed["check"]   = "check sim " allowed["engine"]
        allowed["serve"]   = "serve sim kube " allowed["engine"]
        allowed["daemon"]  = "daemon " allowed["serve"]
        allowed["cli"]     = "cli check " allowed["serve"]
        allowed["agent"]   = "agent " allowed["serve"]
        n = split("assert ctype errno float inttypes limits math stdalign stdarg stdbool stddef " \
                  "stdint stdio stdlib string strings time", names, " ")
        for (i = 1; i <= n; i++) c_library[names[i] ".h"] = 1
    }
    FNR == 1 {
        n = split(FILENAME, part, "/")
        layer = part[1] == "scheduler" ? part[2] : part[1]
        folder = part[2]
        if (part[1] == "scheduler" && !(layer in allowed))
            complain(0, "scheduler/" layer "/ is no layer that test/lint/layers.sh knows")
    }
    function complain(line, text) {
        printf "%s:%d: %s\n", FILENAME, line, text
    }
    function has(list, word) {
        return index(" " list " ", " " word " ") > 0
    }
    /^[ \t]*#[ \t]*include[ \t]*</ {
        name = $0; sub(/^[^<]*</, "", name); sub(/>.*/, "", name)
        if (name ~ /^maar\//) next
        if ((layer == "plugins" || layer == "actions" || layer == "include") && !(name in c_library))
            complain(FNR, layer "/ includes <" name ">; only <maar/...> and the C library are allowed")
        next
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        name = $0; sub(/^[^"]*"/, "", name); sub(/".*/, "", name)
        n = split(name, to, "/")
        if (layer == "include" || layer == "actions") {
            complain(FNR, layer "/ includes \"" name "\"; only <maar/...> and the C library are allowed")
        } else if (layer == "plugins") {
            if (n > 1 && to[1] != "kubernetes" && to[1] != folder)
                complain(FNR, "a plugin includes \"" name "\"; only kubernetes/, its own folder, " \
                              "<maar/...> and the C library are allowed")
        } else if (n == 1) {
            complain(FNR, "write the folder too: \"" layer "/" name "\"")
        } else if (!(layer in allowed) || !has(allowed[layer], to[1])) {
            complain(FNR, layer "/ includes \"" name "\"; it may include " allowed[layer] \
                          " and <maar/...>. Move what is needed to the left, or pass it in")
        }
    }' |
    { ! grep .; }

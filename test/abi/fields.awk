# SPDX-License-Identifier: Apache-2.0
# The fields and enumerators of the public headers, as calls of macros:
#
#     STRUCT(maar_view)  FIELD(maar_view, size)  …  ENUM(MAAR_PERMIT)
#
# It understands the headers as the formatter leaves them: a definition starts in column 1 with
# "struct NAME {" or "enum NAME {" and ends with "};".

# One member declaration without its comments: a function pointer, or names with array bounds.
function member(text,   parts, n, i, name)
{
    if (match(text, /\(\*[a-z_0-9]+\)/)) {
        print "FIELD(" owner ", " substr(text, RSTART + 2, RLENGTH - 3) ")"
        return
    }
    n = split(text, parts, ",")
    for (i = 1; i <= n; i++) {
        name = parts[i]
        gsub(/\[[^]]*\]/, "", name)
        gsub(/[ \t]+$/, "", name)
        if (match(name, /[A-Za-z_0-9]+$/))
            print "FIELD(" owner ", " substr(name, RSTART, RLENGTH) ")"
    }
}

function body(text,   parts, n, i)
{
    n = split(text, parts, kind == "enum" ? "," : ";")
    for (i = 1; i <= n; i++) {
        gsub(/[ \t\n]+/, " ", parts[i])
        if (kind == "struct")
            member(parts[i])
        else if (match(parts[i], /[A-Z][A-Z_0-9]*/))
            print "ENUM(" substr(parts[i], RSTART, RLENGTH) ")"
    }
}

{
    line = $0
    # Comments go; one that spans lines is remembered.
    out = ""
    while (line != "") {
        if (in_comment) {
            at = index(line, "*/")
            if (!at) {
                line = ""
                break
            }
            in_comment = 0
            line = substr(line, at + 2)
        } else {
            at = index(line, "/*")
            if (!at) {
                out = out line
                line = ""
                break
            }
            out = out substr(line, 1, at - 1)
            line = substr(line, at + 2)
            in_comment = 1
        }
    }
    if (kind == "" && match(out, /^(struct|enum) [a-z_0-9]+ \{/)) {
        split(out, words, " ")
        kind = words[1]
        owner = words[2]
        text = ""
        if (kind == "struct")
            print "STRUCT(" owner ")"
        next
    }
    if (kind != "" && match(out, /^\}/)) {
        body(text)
        kind = ""
        next
    }
    if (kind != "")
        text = text out "\n"
}

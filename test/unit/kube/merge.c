/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

#include "kube/merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void patches_change_what_they_name(void **state)
{
    static const struct {
        const char *name;
        bool by_type;
        const char *target;
        const char *patch;
        const char *want;
    } rows[] = {
        {"set", false, "{'a':1,'b':2}", "{'a':3}", "{'a':3,'b':2}"},
        {"remove", false, "{'a':1,'b':2}", "{'a':null}", "{'b':2}"},
        {"remove what is not there", false, "{'b':2}", "{'a':null}", "{'b':2}"},
        {"nested", false, "{'a':{'b':1,'c':2}}", "{'a':{'b':null,'d':4}}", "{'a':{'c':2,'d':4}}"},
        {"a map in the place of a text", false, "{'a':'x'}", "{'a':{'b':1,'c':null}}",
         "{'a':{'b':1}}"},
        {"a text in the place of a map", false, "{'a':{'b':1}}", "{'a':'x'}", "{'a':'x'}"},
        {"arrays are replaced", false, "{'conditions':[1,2]}", "{'conditions':[3]}",
         "{'conditions':[3]}"},
        {"new maps lose their nulls", false, "{}", "{'a':{'b':{'c':null}}}", "{'a':{'b':{}}}"},
        {"conditions merge by type", true,
         "{'conditions':[{'type':'A','status':'True','x':1},{'type':'B','status':'True'}]}",
         "{'conditions':[{'type':'A','status':'False'},{'type':'C','status':'True'}]}",
         "{'conditions':[{'type':'A','status':'False','x':1},{'type':'B','status':'True'},"
         "{'type':'C','status':'True'}]}"},
        {"conditions where none were", true, "{'status':{}}",
         "{'status':{'conditions':[{'type':'A'}]}}", "{'status':{'conditions':[{'type':'A'}]}}"},
        {"other arrays are replaced", true, "{'x':[{'type':'A'}]}", "{'x':[]}", "{'x':[]}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[3][512];
        const char *const sources[] = {rows[i].target, rows[i].patch, rows[i].want};
        json_t *values[3];

        for (int k = 0; k < 3; k++) {
            size_t n = 0;

            for (const char *c = sources[k]; *c; c++)
                text[k][n++] = *c == '\'' ? '"' : *c;
            text[k][n] = '\0';
            values[k] = json_loads(text[k], 0, NULL);
            assert_non_null(values[k]);
        }
        maar_kube_merge(values[0], values[1], rows[i].by_type);
        if (!json_equal(values[0], values[2])) {
            char *got = json_dumps(values[0], 0);

            fail_msg("%s: got %s", rows[i].name, got);
        }
        for (int k = 0; k < 3; k++)
            json_decref(values[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(patches_change_what_they_name)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

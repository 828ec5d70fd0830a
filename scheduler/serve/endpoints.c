/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* The paths of maar-scheduler's servers. */

#include "serve/endpoints.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "engine/explanation.h"
#include "serve/conf_json.h"
#include "serve/explanation_json.h"

/* Of a Kubernetes name with its namespace, and some. */
#define MAX_NAME_BYTES 512u

static const char content_json[] = "application/json";

/* What one server answers. */
struct part {
    struct maar_endpoints *endpoints;
    unsigned which;
};

struct maar_endpoints {
    struct maar_endpoints_options options;
    MAAR_VEC(struct part *) parts;
    _Atomic int64_t came_round_ns;
    atomic_bool synced;
};

/* ---- health ---- */

static void answer_health(const struct maar_endpoints *endpoints, struct maar_web_answer *answer)
{
    int64_t away_ns = endpoints->options.now_ns() - endpoints->came_round_ns;
    int64_t limit_ns = endpoints->options.stall_ns;

    if (limit_ns == 0 || away_ns <= limit_ns)
        maar_web_say(answer, 200, "ok");
    else
        maar_web_say(answer, 500,
                     "the engine has not come round for %lld s, more than %lld s are not healthy\n",
                     (long long)(away_ns / MAAR_SECOND_NS), (long long)(limit_ns / MAAR_SECOND_NS));
}

static void answer_ready(const struct maar_endpoints *endpoints, struct maar_web_answer *answer)
{
    if (endpoints->synced)
        maar_web_say(answer, 200, "ok");
    else
        maar_web_say(answer, 503, "not every list of the cluster's objects is in yet\n");
}

/* ---- questions to the engine ---- */

static void answer_json(struct maar_web_answer *answer, json_t *document)
{
    char *dump = json_dumps(document, JSON_INDENT(2));

    maar_text_add(&answer->body, dump ? dump : "{}");
    maar_text_add_char(&answer->body, '\n');
    answer->content_type = content_json;
    free(dump);
    json_decref(document);
}

static void explain(struct maar_engine *engine, void *context, const char *object,
                    struct maar_web_answer *answer)
{
    struct maar_explanation *explanation = NULL;
    int r = maar_engine_explain(engine, object, &explanation);

    (void)context;
    if (r == -EBUSY)
        maar_web_say(answer, 503, "not every list of the cluster's objects is in yet\n");
    else if (r < 0)
        maar_web_say(answer, 404, "there is no %s\n", object);
    else
        answer_json(answer, maar_explanation_json(explanation));
    maar_explanation_destroy(explanation);
}

static bool is_object_name(const char *name, bool has_namespace)
{
    const char *slash = strchr(name, '/');

    if (!*name || strlen(name) > MAX_NAME_BYTES || (slash != NULL) != has_namespace)
        return false;
    return !slash || (slash > name && slash[1] && !strchr(slash + 1, '/'));
}

static void answer_explain(struct maar_endpoints *endpoints, const struct maar_web_request *request,
                           struct maar_web_answer *answer)
{
    static const struct {
        const char *key;
        bool has_namespace;
    } kinds[] = {{"podgroup", true}, {"pod", true}, {"queue", false}};
    maar_autofree char *object = NULL;
    size_t n_asked = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const char *name = maar_web_query(request, kinds[i].key);

        if (!name)
            continue;
        if (!is_object_name(name, kinds[i].has_namespace)) {
            maar_web_say(answer, 400, "%s: expected %s\n", kinds[i].key,
                         kinds[i].has_namespace ? "NAMESPACE/NAME" : "NAME");
            return;
        }
        if (n_asked++ == 0)
            object = maar_asprintf("%s/%s", kinds[i].key, name);
    }
    if (n_asked == 1)
        maar_asks_put(endpoints->options.asks, explain, NULL, object,
                      endpoints->options.ask_timeout_ns, answer);
    else
        maar_web_say(answer, 400, "expected one of ?podgroup=NS/NAME, ?pod=NS/NAME, ?queue=NAME\n");
}

static void configz(struct maar_engine *engine, void *context, const char *argument,
                    struct maar_web_answer *answer)
{
    struct maar_endpoints *endpoints = context;

    (void)argument;
    answer_json(answer, json_pack("{s:O, s:o}", "flags", endpoints->options.flags, "schedulerConf",
                                  maar_conf_json(maar_engine_conf(engine))));
}

/* ---- paths ---- */

static void answer_request(void *context, const struct maar_web_request *request,
                           struct maar_web_answer *answer)
{
    const struct part *part = context;
    struct maar_endpoints *endpoints = part->endpoints;
    const struct maar_endpoints_options *options = &endpoints->options;
    const char *path = maar_web_path(request);
    bool metrics = part->which & MAAR_ENDPOINT_METRICS;
    bool health = part->which & MAAR_ENDPOINT_HEALTH;
    bool explains = part->which & MAAR_ENDPOINT_EXPLAIN;

    if (metrics && strcmp(path, "/metrics") == 0) {
        answer->content_type = "text/plain; version=0.0.4; charset=utf-8";
        options->render_metrics(options->metrics_context, &answer->body);
    } else if (health && (strcmp(path, "/healthz") == 0 || strcmp(path, "/healthz/ping") == 0)) {
        answer_health(endpoints, answer);
    } else if (health && strcmp(path, "/readyz") == 0) {
        answer_ready(endpoints, answer);
    } else if (explains && strcmp(path, "/explain") == 0) {
        answer_explain(endpoints, request, answer);
    } else if (explains && strcmp(path, "/configz") == 0) {
        maar_asks_put(options->asks, configz, endpoints, "", options->ask_timeout_ns, answer);
    } else {
        maar_web_say(answer, 404, "not found; here are:%s%s%s\n", metrics ? " /metrics" : "",
                     health ? " /healthz /readyz" : "", explains ? " /explain /configz" : "");
    }
}

struct maar_endpoints *maar_endpoints_create(const struct maar_endpoints_options *options)
{
    struct maar_endpoints *endpoints = maar_calloc(1, sizeof *endpoints);

    endpoints->options = *options;
    endpoints->came_round_ns = options->now_ns();
    return endpoints;
}

void maar_endpoints_destroy(struct maar_endpoints *endpoints)
{
    if (!endpoints)
        return;
    for (size_t i = 0; i < endpoints->parts.n; i++)
        free(endpoints->parts.data[i]);
    maar_vec_fini(&endpoints->parts);
    free(endpoints);
}

int maar_endpoints_serve(struct maar_endpoints *endpoints, unsigned which, const char *address,
                         const char *certificate, const char *key, struct maar_web **ret_web,
                         struct maar_error *err)
{
    struct part *part = maar_malloc(sizeof *part);
    const struct maar_web_options options = {
        .address = address,
        .certificate = certificate,
        .key = key,
        .answer = answer_request,
        .context = part,
    };

    *part = (struct part){endpoints, which};
    maar_vec_push(&endpoints->parts, part);
    return maar_web_start(&options, ret_web, err);
}

void maar_endpoints_came_round(struct maar_endpoints *endpoints, bool synced)
{
    endpoints->came_round_ns = endpoints->options.now_ns();
    endpoints->synced = synced;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */

/* One request about the Lease runs at a time. A leader puts its Lease anew every retry period; when that fails for any
 * reason, the next attempt reads it first. A follower reads it every retry period and up to 1.2 times more (client-go's
 * jitter), and at once when a watch of it has something to say, which makes a hand-over quick.
 *
 * Whoever has just taken the Lease from another waits for a moment before it leads, so that its watches can bring what
 * the other wrote last. */

#include "kube/election.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "kube/backoff.h"
#include "kube/lease.h"
#include "wire/wire.h"

#define ANSWER_LIMIT_BYTES ((size_t)1024 * 1024)
#define EVENT_LIMIT_NS     (5 * MAAR_SECOND_NS)
#define CATCH_UP_NS        (500 * MAAR_MILLISECOND_NS)
#define WATCH_FOR_S        300
#define RELEASED_NS        MAAR_SECOND_NS /* the duration that client-go writes into a Lease given up */
#define JITTER             6              /* fifths of the retry period */

enum step {
    STEP_READ,
    STEP_CREATE,
    STEP_TAKE, /* also renews */
    STEP_GIVE_UP,
};

struct maar_election {
    struct maar_election_options options;
    struct maar_kube_transport transport;
    int64_t (*wall_ns)(void);
    uint64_t random;
    char *ns;
    char *name;
    char *identity;
    char *component;
    char *leases_path;
    char *path;

    enum maar_leadership leadership;
    bool holds; /* took the Lease, and nothing has told otherwise */
    bool resigning;
    int64_t leads_at_ns; /* once the watches had time to catch up */
    int64_t renewed_ns;  /* when the last request that took the Lease began */
    int64_t due_ns;      /* of the next attempt */

    struct maar_lease lease; /* as last seen */
    bool is_current;         /* nobody is known to have changed it since */
    int64_t observed_ns;     /* when its terms last changed, as far as we saw */

    enum step step;
    bool running;
    int64_t sent_ns;
    char *body;
    struct maar_kube_call call;

    bool watching;
    bool may_watch;
    char *watch_path;
    struct maar_kube_call watch;

    bool telling;
    struct maar_request event;
    struct maar_kube_call event_call;

    struct maar_error fault;
};

static void on_answer(struct maar_kube_call *call);

static int64_t now_ns(const struct maar_election *election)
{
    return election->transport.now_ns(election->transport.self);
}

struct maar_election *maar_election_create(const struct maar_election_options *options,
                                           struct maar_kube_transport transport,
                                           int64_t (*wall_ns)(void), uint64_t seed)
{
    struct maar_election *election = maar_calloc(1, sizeof *election);

    election->options = *options;
    election->transport = transport;
    election->wall_ns = wall_ns;
    election->random = seed ? seed : 1;
    election->options.ns = election->ns = maar_strdup(options->ns);
    election->options.name = election->name = maar_strdup(options->name);
    election->options.identity = election->identity = maar_strdup(options->identity);
    election->options.component = election->component = maar_strdup(options->component);
    election->leases_path =
        maar_asprintf("/apis/coordination.k8s.io/v1/namespaces/%s/leases", options->ns);
    election->path = maar_asprintf("%s/%s", election->leases_path, options->name);
    election->may_watch = true;
    election->due_ns = now_ns(election);
    return election;
}

static void cancel_all(struct maar_election *election)
{
    void *self = election->transport.self;

    election->transport.cancel(self, &election->call);
    election->transport.cancel(self, &election->watch);
    election->transport.cancel(self, &election->event_call);
    election->running = election->watching = election->telling = false;
}

void maar_election_destroy(struct maar_election *election)
{
    if (!election)
        return;
    cancel_all(election);
    maar_text_fini(&election->call.answer);
    maar_text_fini(&election->watch.answer);
    maar_text_fini(&election->event_call.answer);
    maar_lease_fini(&election->lease);
    maar_request_fini(&election->event);
    free(election->ns);
    free(election->name);
    free(election->identity);
    free(election->component);
    free(election->leases_path);
    free(election->path);
    free(election->watch_path);
    free(election->body);
    free(election);
}

enum maar_leadership maar_election_leadership(const struct maar_election *election)
{
    return election->leadership;
}

int64_t maar_election_until_ns(const struct maar_election *election)
{
    bool leads = election->leadership == MAAR_LEADS && !election->resigning;

    return leads ? election->renewed_ns + election->options.renew_deadline_ns : INT64_MIN;
}

bool maar_election_is_over(const struct maar_election *election)
{
    return election->leadership >= MAAR_LOST && !election->telling;
}

const char *maar_election_fault(const struct maar_election *election)
{
    return maar_error_text(&election->fault);
}

/* ---- what is told ---- */

static void on_told(struct maar_kube_call *call)
{
    struct maar_election *election = call->context;

    election->telling = false;
    if (!maar_kube_call_succeeded(call))
        maar_log_debug("the event about the Lease was not taken: status %d %s", call->status,
                       maar_error_text(&call->error));
}

static void tell(struct maar_election *election, const char *what)
{
    const struct maar_election_options *options = &election->options;
    maar_autofree char *message = maar_asprintf("%s %s", options->identity, what);
    struct maar_write *write = maar_write_create(MAAR_WRITE_EVENT, options->ns, options->name,
                                                 election->lease.object ? election->lease.uid : "");
    struct maar_text answer;

    write->now_ns = election->wall_ns();
    write->event.about_lease = true;
    write->event.type = "Normal";
    write->event.reason = "LeaderElection";
    write->event.message = message;
    write->event.source = options->component;
    election->transport.cancel(election->transport.self, &election->event_call);
    maar_request_fini(&election->event);
    election->telling =
        maar_wire_request(write, NULL, options->component, &election->event, NULL) == 0;
    maar_write_destroy(write);
    if (!election->telling) {
        election->event = (struct maar_request){0};
        return;
    }
    answer = election->event_call.answer;
    election->event_call = (struct maar_kube_call){
        .method = election->event.method,
        .path = election->event.path,
        .content_type = election->event.content_type,
        .body = election->event.body,
        .limit_ns = EVENT_LIMIT_NS,
        .limit_bytes = ANSWER_LIMIT_BYTES,
        .on_done = on_told,
        .context = election,
        .answer = answer,
    };
    election->transport.start(election->transport.self, &election->event_call);
}

/* Each fault is logged when it is new. */
static void note_fault(struct maar_election *election, const char *text)
{
    if (strcmp(election->fault.text, text) == 0)
        return;
    (void)maar_error_set(&election->fault, 0, "%s", text);
    maar_log_warning("leader election: %s", text);
}

static const char *doing(enum step step)
{
    static const char *const names[] = {
        [STEP_READ] = "read",
        [STEP_CREATE] = "created",
        [STEP_TAKE] = "updated",
        [STEP_GIVE_UP] = "given up",
    };

    return names[step];
}

static const char *cure(int status, enum step step)
{
    switch (status) {
    case 401:
        return "; the credentials are not accepted";
    case 403:
        return "; the role needs get, create and update on leases of coordination.k8s.io in that "
               "namespace, or run one replica with --leader-elect=false";
    case 404:
        return step == STEP_CREATE ? "; create that namespace or name another one with "
                                     "--leader-elect-resource-namespace"
                                   : "";
    default:
        return "";
    }
}

static void note_failed_call(struct maar_election *election)
{
    const struct maar_kube_call *call = &election->call;
    const struct maar_election_options *options = &election->options;
    json_t *answer = json_loadb(maar_text_get(&call->answer), call->answer.n, 0, NULL);
    const char *message = json_string_value(json_object_get(answer, "message"));
    maar_autofree char *status = maar_asprintf("status %d", call->status);
    maar_autofree char *text = NULL;

    if (!call->complete)
        message = maar_error_text(&call->error);
    else if (maar_kube_call_succeeded(call))
        message = "the answer came too late";
    text = maar_asprintf("the Lease %s/%s cannot be %s: %s%s", options->ns, options->name,
                         doing(election->step), message && *message ? message : status,
                         cure(call->complete ? call->status : 0, election->step));
    json_decref(answer);
    note_fault(election, text);
}

/* ---- requests ---- */

static void start_call(struct maar_election *election, enum step step, const char *method,
                       const char *path, char *body)
{
    struct maar_text answer = election->call.answer;
    /* A connection that has swallowed a request gets no second one. */
    bool fresh = election->call.method && !election->call.complete;

    free(election->body);
    election->body = body;
    election->step = step;
    election->sent_ns = now_ns(election);
    election->running = true;
    election->call = (struct maar_kube_call){
        .method = method,
        .path = path,
        .content_type = body ? "application/json" : NULL,
        .body = body,
        .limit_ns = election->options.renew_deadline_ns / 2,
        .limit_bytes = ANSWER_LIMIT_BYTES,
        .fresh = fresh,
        .on_done = on_answer,
        .context = election,
        .answer = answer,
    };
    election->transport.start(election->transport.self, &election->call);
}

static char *make_body(const struct maar_election *election, const char *holder,
                       int64_t duration_ns)
{
    const struct maar_lease_terms terms = {
        .ns = election->options.ns,
        .name = election->options.name,
        .holder = holder,
        .duration_ns = duration_ns,
        .now_ns = election->wall_ns(),
    };

    return maar_lease_body(election->lease.object ? &election->lease : NULL, &terms);
}

static void start_read(struct maar_election *election)
{
    start_call(election, STEP_READ, "GET", election->path, NULL);
}

static void start_create(struct maar_election *election)
{
    start_call(
        election, STEP_CREATE, "POST", election->leases_path,
        make_body(election, election->options.identity, election->options.lease_duration_ns));
}

static void start_take(struct maar_election *election)
{
    start_call(
        election, STEP_TAKE, "PUT", election->path,
        make_body(election, election->options.identity, election->options.lease_duration_ns));
}

static void start_give_up(struct maar_election *election)
{
    start_call(election, STEP_GIVE_UP, "PUT", election->path, make_body(election, "", RELEASED_NS));
}

static bool is_held_by_us(const struct maar_election *election)
{
    return election->lease.object &&
           strcmp(election->lease.holder, election->options.identity) == 0;
}

static void attempt(struct maar_election *election)
{
    if (!election->is_current || !is_held_by_us(election))
        start_read(election);
    else if (election->resigning)
        start_give_up(election);
    else
        start_take(election);
}

static void attempt_later(struct maar_election *election)
{
    const int64_t period_ns = election->options.retry_period_ns;

    election->due_ns = now_ns(election) + period_ns;
    if (!election->holds)
        election->due_ns +=
            (int64_t)maar_random_below(&election->random, (uint64_t)period_ns * JITTER / 5 + 1);
}

/* ---- the watch of a follower ---- */

static int on_watch_data(struct maar_kube_call *call, const char *data, size_t n)
{
    struct maar_election *election = call->context;

    (void)data;
    (void)n;
    election->due_ns = now_ns(election);
    return 0;
}

static void on_watch_end(struct maar_kube_call *call)
{
    struct maar_election *election = call->context;

    election->watching = false;
    /* Without this right the attempts alone must do. */
    if (call->complete && call->status >= 400 && call->status < 500 && call->status != 410 &&
        call->status != 429)
        election->may_watch = false;
}

static void follow(struct maar_election *election)
{
    struct maar_text answer = election->watch.answer;
    const char *version = election->lease.version;

    if (election->watching || !election->may_watch || election->resigning || !*version ||
        version[strspn(version, "0123456789")])
        return;
    free(election->watch_path);
    election->watch_path = maar_asprintf(
        "%s?watch=true&fieldSelector=metadata.name%%3D%s&resourceVersion=%s&timeoutSeconds=%d",
        election->leases_path, election->options.name, version, WATCH_FOR_S);
    election->watching = true;
    election->watch = (struct maar_kube_call){
        .method = "GET",
        .path = election->watch_path,
        .limit_ns = (WATCH_FOR_S + 30) * MAAR_SECOND_NS,
        .limit_bytes = ANSWER_LIMIT_BYTES,
        .on_data = on_watch_data,
        .on_done = on_watch_end,
        .context = election,
        .answer = answer,
    };
    election->transport.start(election->transport.self, &election->watch);
}

static void end_watch(struct maar_election *election)
{
    election->transport.cancel(election->transport.self, &election->watch);
    election->watching = false;
}

/* ---- changes of state ---- */

static void lose(struct maar_election *election, const char *why)
{
    maar_log_error("leader election: %s no longer leads: %s", election->options.identity, why);
    cancel_all(election);
    election->holds = false;
    election->leadership = MAAR_LOST;
    tell(election, "stopped leading");
}

static void become_holder(struct maar_election *election, bool had_other_holder)
{
    end_watch(election);
    election->holds = true;
    election->leads_at_ns = now_ns(election) + (had_other_holder ? CATCH_UP_NS : 0);
    maar_log_info("leader election: %s holds the Lease %s/%s", election->options.identity,
                  election->options.ns, election->options.name);
    tell(election, "became leader");
}

static void end_resignation(struct maar_election *election)
{
    bool led = election->holds;

    election->holds = false;
    election->leadership = MAAR_RESIGNED;
    end_watch(election);
    if (led)
        tell(election, "stopped leading");
}

/* The server holds the Lease that we sent. */
static void end_take(struct maar_election *election)
{
    bool existed = election->step == STEP_TAKE;
    bool had_other_holder = existed && !is_held_by_us(election);
    struct maar_lease lease;

    election->is_current = false;
    if (maar_lease_read(maar_text_get(&election->call.answer), election->call.answer.n, &lease,
                        NULL) == 0) {
        maar_lease_fini(&election->lease);
        election->lease = lease;
        election->is_current = true;
    }
    election->observed_ns = election->sent_ns;
    election->renewed_ns = election->sent_ns;
    election->fault.text[0] = '\0';
    if (!election->holds)
        become_holder(election, had_other_holder);
    attempt_later(election);
}

/* An answer that took so long says nothing about now. */
static bool is_stale(const struct maar_election *election)
{
    return now_ns(election) - election->sent_ns >= election->options.renew_deadline_ns;
}

static bool is_valid(const struct maar_election *election)
{
    int64_t duration_ns = election->lease.duration_ns;

    if (duration_ns <= 0)
        duration_ns = election->options.lease_duration_ns;
    return now_ns(election) - election->observed_ns < duration_ns;
}

/* Remembers what the server holds and since when we have seen nothing new. */
static int observe(struct maar_election *election)
{
    struct maar_error err = MAAR_ERROR_INIT;
    struct maar_lease lease;
    bool is_new;

    if (maar_lease_read(maar_text_get(&election->call.answer), election->call.answer.n, &lease,
                        &err) < 0) {
        maar_autofree char *text =
            maar_asprintf("the Lease %s/%s cannot be used: %s; mend or delete it",
                          election->options.ns, election->options.name, maar_error_text(&err));

        note_fault(election, text);
        return -1;
    }
    is_new = !election->lease.object || !maar_lease_has_same_terms(&election->lease, &lease);
    if (is_new && *lease.holder && strcmp(lease.holder, election->options.identity) != 0 &&
        (!election->lease.object || strcmp(election->lease.holder, lease.holder) != 0))
        maar_log_info("leader election: %s holds the Lease %s/%s", lease.holder,
                      election->options.ns, election->options.name);
    if (is_new)
        election->observed_ns = now_ns(election);
    maar_lease_fini(&election->lease);
    election->lease = lease;
    election->is_current = true;
    return 0;
}

static void end_read(struct maar_election *election)
{
    bool is_other;

    if (observe(election) < 0) {
        attempt_later(election);
        return;
    }
    election->fault.text[0] = '\0';
    is_other = *election->lease.holder && !is_held_by_us(election);
    if (election->holds && is_other) {
        maar_autofree char *why = maar_asprintf("%s holds the Lease", election->lease.holder);

        lose(election, why);
    } else if (election->resigning) {
        if (is_held_by_us(election))
            start_give_up(election);
        else
            end_resignation(election);
    } else if (is_other && is_valid(election)) {
        follow(election);
        attempt_later(election);
    } else {
        start_take(election);
    }
}

static void end_missing(struct maar_election *election)
{
    maar_lease_fini(&election->lease);
    election->is_current = false;
    if (election->resigning)
        end_resignation(election);
    else
        start_create(election);
}

static void end_failed(struct maar_election *election)
{
    const struct maar_kube_call *call = &election->call;
    bool was_changed = call->complete && (call->status == 409 || call->status == 404);

    election->is_current = false;
    /* Who holds the Lease cannot wait to see what has become of it. */
    if (was_changed && election->step != STEP_READ && election->step != STEP_CREATE &&
        election->holds) {
        start_read(election);
        return;
    }
    if (!(call->complete && call->status == 409))
        note_failed_call(election);
    attempt_later(election);
}

static void on_answer(struct maar_kube_call *call)
{
    struct maar_election *election = call->context;
    bool ok = call->status >= 200 && call->status < 300;

    election->running = false;
    if (election->step == STEP_READ && ok && call->complete)
        end_read(election);
    else if (election->step == STEP_READ && call->complete && call->status == 404)
        end_missing(election);
    else if (election->step == STEP_READ || !ok || is_stale(election))
        end_failed(election);
    else if (election->step == STEP_GIVE_UP)
        end_resignation(election);
    else
        end_take(election);
    /* No pause between the last renewal and giving up. */
    if (election->resigning && !election->running)
        election->due_ns = election->is_current ? now_ns(election) : election->due_ns;
}

void maar_election_resign(struct maar_election *election)
{
    if (election->resigning || election->leadership >= MAAR_LOST)
        return;
    election->resigning = true;
    election->due_ns = now_ns(election);
    /* Of a request that may take the Lease, the answer decides. */
    if (election->running && election->step != STEP_READ)
        return;
    if (!election->holds) {
        cancel_all(election);
        end_resignation(election);
    }
}

int64_t maar_election_tick(struct maar_election *election)
{
    int64_t at_ns = now_ns(election);
    int64_t deadline_ns = election->renewed_ns + election->options.renew_deadline_ns;
    int64_t next_ns = INT64_MAX;

    if (election->leadership >= MAAR_LOST)
        return INT64_MAX;
    if (election->holds && at_ns >= deadline_ns) {
        maar_autofree char *why =
            maar_asprintf("the Lease was not renewed for %.1f s%s%s",
                          (double)(at_ns - election->renewed_ns) / (double)MAAR_SECOND_NS,
                          election->fault.text[0] ? ": " : "", election->fault.text);

        lose(election, why);
        return INT64_MAX;
    }
    if (election->holds && election->leadership == MAAR_FOLLOWS && !election->resigning &&
        at_ns >= election->leads_at_ns)
        election->leadership = MAAR_LEADS;
    if (!election->running && at_ns >= election->due_ns)
        attempt(election);
    if (election->leadership >= MAAR_LOST)
        return INT64_MAX;
    if (!election->running)
        next_ns = election->due_ns;
    if (election->holds && deadline_ns < next_ns)
        next_ns = deadline_ns;
    if (election->holds && election->leadership == MAAR_FOLLOWS && election->leads_at_ns < next_ns)
        next_ns = election->leads_at_ns;
    return next_ns;
}

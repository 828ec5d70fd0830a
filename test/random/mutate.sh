#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
#
# Breaks the program on purpose, one line at a time, and expects the tests to notice:
#
#   test/random/mutate.sh [NAME...]
#
# Each mutation below is a sed expression for one file. It is applied in a copy of the committed tree, the tests of the
# core are built and run, and at least one must fail. A mutation that survives, or that no longer changes its file, is
# an error. Not part of `make test`: every mutation is a build. With names: only those mutations. JOBS: parallel jobs
# (2). RANDOM_N: random clusters per mutation (400).

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# name | file | sed expression
mutations=$(
    cat <<'END'
ledger-releasing-is-idle | scheduler/model/ledger.c | s/if (task->status == MAAR_TASK_RELEASING)$/if (task->status == MAAR_TASK_RUNNING)/
ledger-used-without-total | scheduler/model/ledger.c | s/add(&world->total_used\[d\], amount);/(void)0;/
ledger-subtree-of-itself | scheduler/model/ledger.c | s/for (struct maar_queue \*up = &queue->view; up; up = up->parent)/for (struct maar_queue *up = \&queue->view; up; up = NULL)/
ledger-best-effort-for-ever | scheduler/model/ledger.c | s/role->n_pending_best_effort += (uint32_t)sign;/role->n_pending_best_effort += sign > 0;/
undo-forgets-the-place | scheduler/model/ledger.c | s/entry->node, entry->node_at);/entry->node, UINT32_MAX);/
undo-forgets-phases | scheduler/model/ledger.c | s/maar_job_set_phase(world, maar_job_entry(entry->job), entry->status);/(void)0;/
binding-lost-to-stale-news | scheduler/model/tasks.c | s/if (task->assumed \&\& !\*pod->node_name/if (false \&\& !*pod->node_name/
refused-binding-keeps-room | scheduler/model/world.c | s/if (ok || !task->assumed)/if (true || ok || !task->assumed)/
late-node-forgets-pods | scheduler/model/nodes.c | s/settle_waiting(world, record->name, slot);/(void)0;/
node-rank-backwards | scheduler/model/nodes.c | s/world->node_rank\[slots.data\[i\]\] = i;/world->node_rank[slots.data[i]] = (uint32_t)slots.n - i;/
touch-forgotten | scheduler/model/ledger.c | 0,/maar_nodes_touch(world, slot, false);/s//(void)0;/
cycle-of-queues | scheduler/model/queues.c | s/|| in_cycle(world, queue))/|| false)/
class-ignores-tolerations | scheduler/model/class.c | s/add_int(key, spec->n_tolerations);/return;/
vote-reject-is-mild | scheduler/session/votes.c | s/if (vote < 0)/if (vote < -1)/
vote-one-tier-is-enough | scheduler/session/votes.c | s/permitted |= vote > 0;/permitted = true;/
vote-ready-by-any | scheduler/session/votes.c | 0,/if (hook \&\& !hook(SELF(listing), job))/s//if (hook \&\& hook(SELF(listing), job))/
vote-starving-asks-all | scheduler/session/votes.c | s/if (asked)$/if (false)/
vote-overused-by-all | scheduler/session/votes.c | s/if (hook \&\& hook(SELF(listing), queue))/if (hook \&\& !hook(SELF(listing), queue))/
vote-empty-victims-go-on | scheduler/session/votes.c | s/set = any_bit(out, n_words);/set = true;/
vote-room-is-the-last | scheduler/session/votes.c | s/        want = room;/        want = room + 0 * want; if (want == 0) return 1;/
commit-leaves-kept-members | scheduler/session/statement.c | s/if (job->n\[MAAR_TASK_ALLOCATED\] == 0)/if (true)/
discard-keeps-the-last | scheduler/session/statement.c | s/maar_statement_rewind(statement, statement->base, false);/maar_statement_rewind(statement, statement->base + 1, false);/
kept-room-for-ever | scheduler/session/session.c | s/if (task->status == MAAR_TASK_ALLOCATED || task->status == MAAR_TASK_PIPELINED)/if (task->status == MAAR_TASK_ALLOCATED)/
phase-counts-bindings | scheduler/session/status.c | s/int64_t scheduled = (int64_t)maar_job_n_scheduled(job)/int64_t scheduled = (int64_t)maar_job_n_ready(job)/
status-without-change | scheduler/session/status.c | s/    if (!changed)$/    if (false)/
room-without-memory | scheduler/place/fit.c | 0,/if (request->v\[d\] > nodes->idle\[d\]\[slot\])/s//if (d != MAAR_DIM_MEMORY \&\& request->v[d] > nodes->idle[d][slot])/
debt-is-no-matter | scheduler/place/fit.c | s/if (nodes->idle\[MAAR_DIM_CPU\]\[slot\] < 0 ||/if (nodes->idle[MAAR_DIM_CPU][slot] < -1000000000 ||/
tally-forgets-one-move | scheduler/model/tally.c | s/tally->sums\[domain\] += change;/(void)change;/
tally-keeps-its-least | scheduler/model/tally.c | s/^        tally->least_stale = true;/        (void)0;/
tally-counts-who-leaves | scheduler/model/tasks.c | s/maar_tallies_recount(world, task);/(void)0;/
tally-outlives-labels | scheduler/model/namespaces.c | s/maar_tallies_drop(world);/(void)0;/
key-read-for-ever | scheduler/model/world.c | s/maar_projection_prepare(world);/(void)0;/
index-skips-load-filters | scheduler/place/index.c | s/maar_run_filters(session, task, place->nodes, n_room, place->fit, MAAR_FILTER_LOAD);/(void)0;/
late-filters-skipped | scheduler/place/late.c | s/^    maar_run_filters(session, task, place->nodes, heap->n, place->fit, MAAR_FILTER_LATE);/    (void)0;/
late-scores-skipped | scheduler/place/late.c | s/} else if (maar_score_is_late(use) \&\& maar_score_applies(use, task)) {/} else if (false) {/
late-scores-among-all | scheduler/place/late.c | s/if (any \&\& (min != term->min\[tier\] || max != term->max\[tier\]))/if (!any)/
index-keeps-old-scores | scheduler/place/index.c | 0,/^        index->node_sum\[slot\] = place->node_sum\[i\];/s//        (void)0;/
index-forgets-extremes | scheduler/place/index.c | s/if (change->dirty\[t\])/if (false)/
index-ties-by-slot | scheduler/place/index.c | 0,/return rank\[l\] < rank\[r\];/s//return l > r;/
index-later-room-is-now | scheduler/place/index.c | s/? 0 : 1;$/? 0 : 0;/
gang-in-parts | plugins/gang.c | s/^           maar_job_is_ready(job);/           true;/
allocate-commits-anyway | actions/allocate.c | s/^    host->discard(statement);/    host->commit(statement);/
engine-forgets-answers | scheduler/engine/engine.c | s/maar_world_bind_done(engine->world, write->uid, ok);/maar_world_bind_done(engine->world, write->uid, true);/
engine-wakes-for-nothing | scheduler/engine/engine.c | s/engine->relevant = false;/engine->relevant = true;/
END
)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git archive HEAD | tar -x -C "$scratch"
cd "$scratch"

suites='^(unit_(model|session|place|engine)_|random$)'
sed -i "s/--n 1000/--n ${RANDOM_N:-400}/" test/random/CMakeLists.txt
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug >/dev/null
targets=$(ninja -C build -t targets all | sed -n 's/^\(unit_\(model\|session\|place\|engine\)_[a-z_]*\|random\|fixtures\|plugin_[a-z-]*\|action_[a-z]*\): phony$/\1/p')

check() {
    # shellcheck disable=SC2086
    ninja -C build -j "${JOBS:-2}" $targets >build.log 2>&1 || return 2
    ctest --test-dir build -j "${JOBS:-2}" -R "$suites" --timeout 300 >test.log 2>&1
}

status=0
check || {
    echo "mutate: the tests fail before anything is broken:" >&2
    tail -20 build.log test.log >&2
    exit 1
}

n_noticed=0
while IFS='|' read -r name file expression; do
    name=${name// /} file=${file// /} expression=${expression# }
    if (($# > 0)) && [[ " $* " != *" $name "* ]]; then
        continue
    fi
    cp "$file" before
    sed -i "$expression" "$file"
    if cmp -s before "$file"; then
        echo "$name: changes nothing in $file any more"
        status=1
        continue
    fi
    rc=0
    check || rc=$?
    case $rc in
    0)
        echo "$name: SURVIVES"
        status=1
        ;;
    2)
        echo "$name: does not build ($(grep -m 1 'error:' build.log || true))"
        status=1
        ;;
    *)
        echo "$name: noticed by $(sed -n 's/^\t *[0-9]* - \([a-z_]*\) .*/\1/p' test.log | tr '\n' ' ')"
        n_noticed=$((n_noticed + 1))
        ;;
    esac
    cp before "$file"
done <<<"$mutations"
echo "$n_noticed mutations noticed"
exit $status

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
"""Looks at and fills the cluster of control-plane.sh for run.sh.

  wait SECONDS EXPRESSION   until the expression holds
  hold SECONDS EXPRESSION   that it holds, and goes on to hold for so long
  count EXPRESSION          prints its value
  reset                     removes what the steps create
  placements                {"namespace/pod": "node"} as JSON
  compare FILE SECONDS      until the placements are those of a 'maarctl simulate -o json' output
  watch-binds COUNT SECONDS prints "watching", then the time from first to last bind as JSON
  request-nodes, request-gangs, request-binds, request-deletes
                            prints requests for load

An expression is Python over the functions of Snapshot, for example
'bound("fit") == 3 and phase("fit") == "Running"'. Where EXPECT_PID is set, waiting ends when that
process does.
"""

import argparse
import ast
import collections
import json
import os
import pathlib
import re
import signal
import sys
import time

import api

GROUP = "scheduling.k8s.io/group-name"
ROLE = "volcano.sh/task-spec"
PODS = "/api/v1/pods"
PODGROUPS = "/apis/scheduling.volcano.sh/v1beta1/podgroups"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
SUFFIXES = {"": 1, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
            "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def quantity(text):
    number, suffix = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", str(text)).groups()
    return float(number) * SUFFIXES[suffix]


def key(item):
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"


def group_of(pod):
    return pod["metadata"].get("annotations", {}).get(GROUP)


def condition(item, kind):
    for entry in item.get("status", {}).get("conditions", []):
        if entry["type"] == kind:
            return entry
    return {}


def requests_of(pod):
    total = collections.Counter({"pods": 1})
    for container in pod["spec"]["containers"]:
        for name, amount in container.get("resources", {}).get("requests", {}).items():
            total[name] += quantity(amount)
    return total


class Snapshot:
    """The cluster at one moment, each kind listed when first asked for. Methods without underscore
    are what expressions may call."""

    def __init__(self, client, directory):
        self._client = client
        self._directory = directory
        self._lists = {}

    def _list(self, path):
        if path not in self._lists:
            self._lists[path] = self._client.get(path)["items"]
        return self._lists[path]

    def pods(self, group):
        return [pod for pod in self._list(PODS) if group_of(pod) == group]

    def _podgroup(self, group):
        return next((item for item in self._list(PODGROUPS)
                     if item["metadata"]["name"] == group), {})

    def bound(self, group=None):
        """The number of bound pods, of one group or of all."""
        pods = self._list(PODS) if group is None else self.pods(group)
        return sum("nodeName" in pod["spec"] for pod in pods)

    def nodes(self, group):
        """The nodes that its pods are bound to, sorted, once each."""
        return sorted({pod["spec"]["nodeName"] for pod in self.pods(group)
                       if "nodeName" in pod["spec"]})

    def running(self, group=None):
        pods = self._list(PODS) if group is None else self.pods(group)
        return sum(pod["status"]["phase"] == "Running" for pod in pods)

    def ready_nodes(self):
        """The number of nodes that are Ready and no longer carry the taint of new nodes."""
        return sum(condition(node, "Ready").get("status") == "True"
                   and all(taint["key"] != "node.kubernetes.io/not-ready"
                           for taint in node["spec"].get("taints", []))
                   for node in self._list("/api/v1/nodes"))

    def phase(self, group):
        return self._podgroup(group).get("status", {}).get("phase")

    def groups_in_phase(self, phase):
        return sum(item.get("status", {}).get("phase") == phase for item in self._list(PODGROUPS))

    def members_running(self, group):
        """What the PodGroup itself says of them."""
        return self._podgroup(group).get("status", {}).get("running", 0)

    def podgroup_condition(self, group, kind):
        return condition(self._podgroup(group), kind).get("status")

    def waiting_with_reason(self, group):
        """The number of pods with PodScheduled=False, a reason and a message."""
        waits = [condition(pod, "PodScheduled") for pod in self.pods(group)]
        return sum(wait.get("status") == "False" and bool(wait.get("reason"))
                   and bool(wait.get("message")) for wait in waits)

    def bound_of_queue(self, queue):
        groups = {item["metadata"]["name"] for item in self._list(PODGROUPS)
                  if item["spec"]["queue"] == queue}
        return sum("nodeName" in pod["spec"] for pod in self._list(PODS) if group_of(pod) in groups)

    def partly_bound(self):
        """The groups of which some pods are bound and fewer than minMember."""
        return [item["metadata"]["name"] for item in self._list(PODGROUPS)
                if 0 < self.bound(item["metadata"]["name"]) < item["spec"].get("minMember", 0)]

    def overfull(self):
        """The nodes whose pods request more than is allocatable."""
        used = collections.defaultdict(collections.Counter)
        for pod in self._list(PODS):
            if pod["spec"].get("nodeName") and pod["status"]["phase"] in ("Pending", "Running"):
                used[pod["spec"]["nodeName"]] += requests_of(pod)
        sizes = {node["metadata"]["name"]: node["status"].get("allocatable", {})
                 for node in self._list("/api/v1/nodes")}
        return sorted({name for name, total in used.items() for resource, amount in total.items()
                       if amount > quantity(sizes.get(name, {}).get(resource, 0)) + 1e-6})

    def scheduled_events(self, group):
        """The number of bound pods with the event that tells of it."""
        events = {(event["involvedObject"].get("namespace"), event["involvedObject"].get("name"),
                   event.get("type"), event.get("message"))
                  for event in self._list("/api/v1/events")
                  if event.get("reason") == "Scheduled"
                  and event["involvedObject"].get("kind") == "Pod"}
        count = 0
        for pod in self.pods(group):
            meta = pod["metadata"]
            text = f"Successfully assigned {key(pod)} to {pod['spec'].get('nodeName')}"
            count += (meta["namespace"], meta["name"], "Normal", text) in events
        return count

    def _audit(self):
        """What the scheduler's user has asked since the last reset."""
        if "audit" not in self._lists:
            with open(self._directory / "audit.log", "rb") as file:
                file.seek(audit_offset(self._directory))
                self._lists["audit"] = [json.loads(line) for line in file if line.endswith(b"\n")]
        return self._lists["audit"]

    def binds_asked(self, group=None):
        """How often the scheduler asked for a bind, successful or not."""
        wanted = None if group is None else {key(pod) for pod in self.pods(group)}
        return sum(wanted is None or name in wanted for name, _ in self._bind_requests())

    def bound_twice(self):
        """The pods that it bound and tried to bind again. A request that is cut off when its sender
        is killed ends with another code (504) and binds nothing."""
        counts = collections.Counter(name for name, code in self._bind_requests()
                                     if code in (201, 409))
        return sorted(name for name, count in counts.items() if count > 1)

    def _bind_requests(self):
        for entry in self._audit():
            ref = entry.get("objectRef", {})
            if ref.get("resource") == "pods" and ref.get("subresource") == "binding":
                yield (f"{ref['namespace']}/{ref['name']}",
                       entry.get("responseStatus", {}).get("code"))

    def forbidden(self):
        """What it asked for and may not have."""
        return sorted({f"{entry['verb']} {entry['requestURI'].split('?')[0]}"
                       for entry in self._audit()
                       if entry.get("responseStatus", {}).get("code") == 403})

    def scope(self):
        """Names that expressions know."""
        return {name: getattr(self, name) for name in dir(self)
                if not name.startswith("_") and name != "scope"}


def audit_offset(directory):
    try:
        return int((directory / "audit.offset").read_text(encoding="ascii"))
    except FileNotFoundError:
        return 0


def clauses(expression):
    body = ast.parse(expression, mode="eval").body
    return body.values if isinstance(body, ast.BoolOp) and isinstance(body.op, ast.And) else [body]


def evaluate(node, scope):
    # The expressions come from run.sh alone.
    return eval(compile(ast.Expression(node), "expression", "eval"),  # pylint: disable=eval-used
                {"__builtins__": {"len": len, "sorted": sorted}}, scope)


def what_fails(expression, snapshot):
    """The clauses that do not hold, with what they are instead; None when all hold."""
    scope = snapshot.scope()
    failing = []
    for clause in clauses(" ".join(expression.split())):
        if not evaluate(clause, scope):
            text = ast.unparse(clause)
            if isinstance(clause, ast.Compare):
                text = f"wanted {text}, found {evaluate(clause.left, scope)!r}"
            failing.append(text)
    return "; ".join(failing) or None


def expected_process_ended():
    pid = os.environ.get("EXPECT_PID")
    if not pid:
        return False
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def poll(seconds, check):
    """Calls check, which returns None or why not, until it returns None or the time is over."""
    deadline = time.monotonic() + seconds
    while True:
        ended = expected_process_ended()
        why = check()
        if why is None:
            return
        if ended:
            sys.exit(f"the scheduler has ended; {why}")
        if time.monotonic() > deadline:
            sys.exit(f"after {seconds:g} s: {why}")
        time.sleep(0.1)


def hold(seconds, check):
    deadline = time.monotonic() + seconds
    while True:
        why = check()
        if why is not None:
            sys.exit(why)
        if expected_process_ended():
            sys.exit("the scheduler has ended")
        if time.monotonic() > deadline:
            return
        time.sleep(0.2)


def reset(client, directory):
    now = {"gracePeriodSeconds": 0}
    for path in (PODGROUPS, PODS, "/api/v1/events"):
        for namespace in {item["metadata"]["namespace"] for item in client.get(path)["items"]}:
            base, _, plural = path.rpartition("/")
            client.request("DELETE", f"{base}/namespaces/{namespace}/{plural}", now)
    for path in ("/api/v1/nodes", QUEUES):
        client.request("DELETE", path, now)
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    for item in client.get(classes)["items"]:
        if not item["metadata"]["name"].startswith("system-"):
            client.request("DELETE", f"{classes}/{item['metadata']['name']}", now)
    audit = directory / "audit.log"
    if audit.exists():
        (directory / "audit.offset").write_text(str(audit.stat().st_size), encoding="ascii")


def placements(client):
    return {key(pod): pod["spec"]["nodeName"] for pod in client.get(PODS)["items"]
            if "nodeName" in pod["spec"]}


def nodes_by_role(pods, node_of):
    """group/role → the nodes of its pods. Pods of one role are alike, and which of them goes to which
    of these nodes hangs on their uids."""
    roles = collections.defaultdict(list)
    for pod in pods:
        role = pod["metadata"].get("annotations", {}).get(ROLE, "")
        roles[f"{group_of(pod)}/{role}"].append(node_of(pod) or "-")
    return {role: sorted(nodes) for role, nodes in roles.items()}


def differences(client, simulated):
    pods = client.get(PODS)["items"]
    real = nodes_by_role(pods, lambda pod: pod["spec"].get("nodeName"))
    want = nodes_by_role(pods, lambda pod: simulated.get(key(pod), {}).get("node"))
    texts = [f"{role}: simulated {' '.join(want[role])}, real {' '.join(real[role])}"
             for role in sorted(real) if real[role] != want[role]]
    unknown = simulated.keys() - {key(pod) for pod in pods}
    texts += [f"{name}: simulated only" for name in sorted(unknown)]
    return "; ".join(texts) or None


def watch_binds(client, count, seconds):
    listing = client.get(PODS + "?limit=1")
    print("watching", flush=True)
    times = []
    started = time.monotonic()
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(
        f"{len(times)} of {count} pods bound after {seconds} s"))
    signal.alarm(seconds)
    for kind, _ in client.watch(PODS, listing["metadata"]["resourceVersion"],
                                "&fieldSelector=spec.nodeName!%3D",
                                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"):
        if kind == "ADDED":
            times.append(time.monotonic())
            if len(times) == count:
                break
    else:
        sys.exit(f"the watch ended after {len(times)} of {count} binds")
    took = max(times[-1] - times[0], 1e-6)
    print(json.dumps({"binds": count, "firstAfter": round(times[0] - started, 3),
                      "seconds": round(took, 3), "perSecond": round((count - 1) / took)}))


def show_request(method, path, body):
    print(method, path, json.dumps(body, separators=(",", ":")))


def request_nodes(options):
    size = {"cpu": str(options.cpu), "memory": options.memory, "pods": "110"}
    for number in range(options.count):
        show_request("POST", "/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": f"{options.prefix}{number:05}",
                         "annotations": {"e2e.maar.dev/capacity": json.dumps(size)}}})


def request_gangs(options):
    names = [f"{options.prefix}{number:04}" for number in range(options.count)]
    for name in names:
        show_request("POST", PODGROUPS.replace("podgroups", "namespaces/default/podgroups"), {
            "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
            "metadata": {"name": name},
            "spec": {"minMember": options.size, "queue": options.queue}})
    for name in names:
        for index in range(options.size):
            show_request("POST", "/api/v1/namespaces/default/pods", {
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": f"{name}-{index}", "annotations": {GROUP: name}},
                "spec": {"schedulerName": "volcano", "terminationGracePeriodSeconds": 0,
                         "containers": [{"name": "c", "image": "example.com/c", "resources": {
                             "requests": {"cpu": "1", "memory": "1Gi"}}}]}})


def request_binds(options):
    for name, node in json.load(options.file).items():
        namespace, _, pod = name.partition("/")
        show_request("POST", f"/api/v1/namespaces/{namespace}/pods/{pod}/binding", {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod},
            "target": {"kind": "Node", "name": node}})


def request_deletes(client):
    for base, kind in ((PODS, "pods"), (PODGROUPS, "podgroups")):
        for item in client.get(base)["items"]:
            namespace, _, name = key(item).partition("/")
            path = base.replace(kind, f"namespaces/{namespace}/{kind}")
            show_request("DELETE", f"{path}/{name}", {"gracePeriodSeconds": 0})


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", type=pathlib.Path, required=True, help="of control-plane.sh start")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name in ("wait", "hold"):
        verb = verbs.add_parser(name)
        verb.add_argument("seconds", type=float)
        verb.add_argument("expression")
    verb = verbs.add_parser("count")
    verb.add_argument("expression")
    verbs.add_parser("reset")
    verbs.add_parser("placements")
    verb = verbs.add_parser("compare")
    verb.add_argument("file", type=argparse.FileType())
    verb.add_argument("seconds", type=float)
    verb = verbs.add_parser("watch-binds")
    verb.add_argument("count", type=int)
    verb.add_argument("seconds", type=int)
    verb = verbs.add_parser("request-nodes")
    verb.add_argument("prefix")
    verb.add_argument("count", type=int)
    verb.add_argument("--cpu", type=int, default=32)
    verb.add_argument("--memory", default="256Gi")
    verb = verbs.add_parser("request-gangs")
    verb.add_argument("prefix")
    verb.add_argument("count", type=int)
    verb.add_argument("size", type=int)
    verb.add_argument("--queue", default="default")
    verb = verbs.add_parser("request-binds")
    verb.add_argument("file", type=argparse.FileType())
    verbs.add_parser("request-deletes")
    return parser.parse_args()


def main():
    options = parse_options()
    client = api.Client(api.Config(str(options.dir / "admin.kubeconfig")))

    def expression_fails():
        return what_fails(options.expression, Snapshot(client, options.dir))

    if options.verb == "wait":
        poll(options.seconds, expression_fails)
    elif options.verb == "hold":
        hold(options.seconds, expression_fails)
    elif options.verb == "count":
        tree = ast.parse(options.expression, mode="eval").body
        print(evaluate(tree, Snapshot(client, options.dir).scope()))
    elif options.verb == "reset":
        reset(client, options.dir)
    elif options.verb == "placements":
        json.dump(placements(client), sys.stdout)
    elif options.verb == "compare":
        simulated = json.load(options.file)["pods"]
        poll(options.seconds, lambda: differences(client, simulated))
        hold(2, lambda: differences(client, simulated))
    elif options.verb == "watch-binds":
        watch_binds(client, options.count, options.seconds)
    elif options.verb == "request-nodes":
        request_nodes(options)
    elif options.verb == "request-gangs":
        request_gangs(options)
    elif options.verb == "request-binds":
        request_binds(options)
    elif options.verb == "request-deletes":
        request_deletes(client)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
"""Plays the kubelets of a cluster that has none.

A new node gets capacity and allocatable from its annotation e2e.maar.dev/capacity (a JSON object of
resources) or keeps those of its manifest, becomes Ready, and loses the not-ready taint. A node
whose manifest has a Ready condition keeps that condition, so that a test can hold a node back. A
pod that is bound becomes Running, and one that is being deleted goes at once, without its grace
period.

Prints "ready" once it has seen what is there. Ends with SIGTERM or SIGINT.
"""

import argparse
import http.client
import json
import queue
import signal
import sys
import threading
import time

import api

CAPACITY = "e2e.maar.dev/capacity"
NOT_READY = "node.kubernetes.io/not-ready"


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def log(text):
    print(f"kubelet.py: {text}", file=sys.stderr, flush=True)


def ready_condition(node):
    for condition in node.get("status", {}).get("conditions", []):
        if condition["type"] == "Ready":
            return condition["status"]
    return None


def node_status(node):
    """The status that makes the node Ready, or None when its size is not known."""
    status = node.get("status", {})
    annotation = node["metadata"].get("annotations", {}).get(CAPACITY)
    if annotation:
        capacity = {key: str(value) for key, value in json.loads(annotation).items()}
        allocatable = capacity
    else:
        capacity = status.get("capacity") or status.get("allocatable")
        allocatable = status.get("allocatable") or capacity
    if not capacity:
        return None
    return {
        "capacity": {"pods": "110", **capacity},
        "allocatable": {"pods": "110", **allocatable},
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady",
                        "message": "kubelet is posting ready status",
                        "lastHeartbeatTime": now(), "lastTransitionTime": now()}],
    }


def serve_node(client, node):
    path = "/api/v1/nodes/" + node["metadata"]["name"]
    if ready_condition(node) is None:
        status = node_status(node)
        if status is None:
            log(f"{path} has neither {CAPACITY} nor status.capacity; it stays not ready")
            return
        node = client.request("PATCH", path + "/status", {"status": status}, api.STRATEGIC_MERGE)
    taints = node["spec"].get("taints", [])
    kept = [taint for taint in taints if taint["key"] != NOT_READY]
    if ready_condition(node) == "True" and len(kept) < len(taints):
        # The list is replaced as a whole; the version keeps a change of someone else from being
        # lost.
        client.request("PATCH", path, {
            "metadata": {"resourceVersion": node["metadata"]["resourceVersion"]},
            "spec": {"taints": kept},
        }, api.MERGE)


def serve_pod(client, pod):
    meta = pod["metadata"]
    path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
    if "deletionTimestamp" in meta:
        client.request("DELETE", path, {"gracePeriodSeconds": 0,
                                        "preconditions": {"uid": meta["uid"]}})
    elif pod["status"].get("phase") == "Pending":
        time_now = now()
        conditions = [{"type": kind, "status": "True", "lastTransitionTime": time_now}
                      for kind in ("Initialized", "ContainersReady", "Ready")]
        # The uid makes the server refuse the patch for a successor of the same name.
        client.request("PATCH", path + "/status", {
            "metadata": {"uid": meta["uid"]},
            "status": {"phase": "Running", "startTime": time_now, "conditions": conditions},
        }, api.STRATEGIC_MERGE)


class Workers:
    """Threads with a queue each; what is known under one key is served by one thread, in order."""

    def __init__(self, config, count):
        self._queues = [queue.SimpleQueue() for _ in range(count)]
        for tasks in self._queues:
            threading.Thread(target=self._run, args=(config, tasks), daemon=True).start()

    def put(self, key, serve, item):
        self._queues[hash(key) % len(self._queues)].put((serve, item))

    @staticmethod
    def _run(config, tasks):
        client = api.Client(config)
        while True:
            serve, item = tasks.get()
            while True:
                try:
                    serve(client, item)
                    break
                except api.ApiError as error:
                    # Gone or replaced meanwhile; the watch tells what is there now.
                    if error.code not in (404, 409):
                        log(f"{item['metadata']['name']}: {error}")
                    break
                except (OSError, http.client.HTTPException):
                    time.sleep(0.1)
                except (ValueError, KeyError, AttributeError) as error:
                    log(f"{item['metadata']['name']}: {error!r}")
                    break


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--threads", type=int, default=8)
    options = parser.parse_args()
    config = api.Config(options.kubeconfig)
    workers = Workers(config, options.threads)
    listed = [threading.Event(), threading.Event()]

    def on_object(serve):
        def put(kind, item):
            if kind != "DELETED":
                workers.put(item["metadata"]["uid"], serve, item)
        return put

    for path, query, serve, event in (
            ("/api/v1/nodes", "", serve_node, listed[0]),
            ("/api/v1/pods", "&fieldSelector=spec.nodeName!%3D", serve_pod, listed[1])):
        threading.Thread(target=api.follow, daemon=True, args=(
            api.Client(config), path, query, on_object(serve), event.set)).start()

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    for event in listed:
        event.wait()
    print("ready", flush=True)
    try:
        while True:
            signal.pause()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()

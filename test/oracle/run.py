#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The maar Authors
"""Recorded decisions of Volcano against `maarctl simulate`.

    run.py MAARCTL [--plain [--update]] [--family F]... [--case NAME] [--jobs 2] [--keep DIR] [-v]

Each case of FAMILY.jsonl.gz is a small cluster, a scheduler.conf and what Volcano decided on it, cycle by cycle. It is
played with `compatibility: volcano`; then everything that the record is sure of must come out the same: how many pods
of which PodGroup are bound, which pods, on which nodes, what is evicted, and the phases at the end. With --plain it is
played as it is; a case may then differ where differences.txt names a section of docs/differences.md for it, and only
there. --update takes lines out of differences.txt that are not needed any more, and adds the missing ones with a "?" to
be replaced by hand.

Cases that need a plugin without shared object beside MAARCTL are left out, by its name. The last line counts cases; exit 0 if none failed."""

import argparse
import collections
import concurrent.futures
import fnmatch
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FAMILIES = ("gang", "proportion", "drf", "capacity", "score", "predicates")
POINTS = ("binds", "pods", "nodes", "evictions", "victims", "phases")


# ---- what a case needs -----------------------------------------------------------------------------------------------

def conf_plugins(conf):
    tiers = conf.split("\nconfigurations:")[0]
    return set(re.findall(r"^\s*-\s+name:\s*[\"']?([\w-]+)", tiers, re.M))


def pod_needs(spec):
    affinity = spec.get("affinity") or {}
    if affinity.get("podAffinity") or affinity.get("podAntiAffinity"):
        yield "pod affinity"
    if spec.get("topologySpreadConstraints"):
        yield "topology spread"
    if any(port.get("hostPort") for c in spec.get("containers", []) for port in c.get("ports") or []):
        yield "host ports"


def needs(case):
    found = {"plugin " + name for name in conf_plugins(case["conf"])}
    if re.search(r"enabled?Hierarchy:\s*true", case["conf"]) and "plugin drf" in found:
        found.add("drf hierarchy")
    for manifest in case["manifests"]:
        if manifest["kind"] == "Pod":
            found.update(pod_needs(manifest["spec"]))
    return found


def built_plugins(maarctl):
    folder = os.path.join(os.path.dirname(os.path.abspath(maarctl)), "plugins")
    return {name[:-3] for name in os.listdir(folder) if name.endswith(".so")}


def missing(case, plugins):
    """the first thing that the case needs and that is not there; None"""
    for need in sorted(needs(case)):
        kind, _, name = need.partition(" ")
        if kind == "plugin" and name not in plugins:
            return need
    return None


# ---- playing a case --------------------------------------------------------------------------------------------------

def exact_facts(case):
    """up to and with the first cycle in which the recorded runs parted ways"""
    return [fact for fact in case["facts"] if fact["exact"]]


def scenario(case, plain):
    conf = case["conf"].rstrip() + "\n"
    if not plain:
        conf += "compatibility: volcano\n"
    head = {
        "apiVersion": "sim.maar.dev/v1", "kind": "Scenario", "metadata": {"name": case["name"]},
        # Later than everything in the case: records give each object a second of its own.
        "spec": {"conf": conf, "start": "2026-06-01T00:00:00Z", "cycles": exact_facts(case)[-1]["cycle"]},
    }
    return "---\n".join(json.dumps(document) + "\n" for document in [head, *case["manifests"]])


def play(maarctl, case, options):
    """(report, what went wrong)"""
    folder = options.keep or tempfile.gettempdir()
    path = os.path.join(folder, f"{case['name']}-{os.getpid()}.yaml" if not options.keep else case["name"] + ".yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(scenario(case, options.plain))
    try:
        run = subprocess.run([maarctl, "simulate", "-f", path, "-o", "json"], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return None, "no end after 60 s"
    finally:
        if not options.keep:
            os.unlink(path)
    try:
        report = json.loads(run.stdout)
    except ValueError:
        return None, f"exit {run.returncode}: {(run.stderr.strip() or 'no output').splitlines()[-1]}"
    if report["violations"]:
        return report, "; ".join(f"cycle {v['cycle']}: {v['text']}" for v in report["violations"])
    return report, f"exit {run.returncode}" if run.returncode else ""


# ---- comparing -------------------------------------------------------------------------------------------------------

def group_of(case):
    groups = {}
    for manifest in case["manifests"]:
        if manifest["kind"] == "Pod":
            meta = manifest["metadata"]
            name = (meta.get("annotations") or {}).get("scheduling.k8s.io/group-name")
            groups[f"{meta['namespace']}/{meta['name']}"] = f"{meta['namespace']}/{name}" if name else "no group"
    return groups


class Cycle:
    """what happened in one cycle, in the words of the record"""

    def __init__(self, groups, report, number):
        self.groups = groups
        self.binds = {b["pod"]: b["node"] for b in report["binds"] if b["cycle"] == number and not b.get("failed")}
        self.evictions = [(e["pod"], e["node"]) for e in report["evictions"] if e["cycle"] == number]

    def origin(self, pod):
        """the pod that a recreated one (NAME-r1) stands for"""
        return pod if pod in self.groups else re.sub(r"-r\d+$", "", pod)

    def group(self, pod):
        return self.groups.get(self.origin(pod), "no group")

    def alias(self, pod):
        """recreated pods of a group are alike"""
        return pod if pod in self.groups else self.group(pod) + " again"

    def count(self, words):
        return dict(collections.Counter(words))


def on_nodes(per_group):
    return {f"{group} on {node}": n for group, nodes in per_group.items() for node, n in nodes.items()}


def points_of(fact, cycle):
    """(point, recorded, played) for all that the record is sure of"""
    sure = set(fact["agreed"])
    victims = [pod for pod, _ in cycle.evictions]
    if "bindsPerJob" in sure:
        yield "binds", fact.get("bindsPerJob", {}), cycle.count(map(cycle.group, cycle.binds))
    elif "binds" in fact:
        yield "binds", {"in all": fact["binds"]}, {"in all": len(cycle.binds)}
    if "boundPods" in sure:
        yield "pods", cycle.count(map(cycle.alias, fact.get("boundPods", []))), cycle.count(map(cycle.alias, cycle.binds))
    places = fact.get("boundNodes", {})
    if "boundNodes" in sure:
        yield ("nodes", cycle.count(f"{cycle.alias(p)} on {n}" for p, n in places.items()),
               cycle.count(f"{cycle.alias(p)} on {n}" for p, n in cycle.binds.items()))
    else:  # the pods whose node was the same each time
        fixed = {p: n for p, n in places.items() if p in cycle.groups}
        if fixed:
            yield "nodes", fixed, {p: n for p, n in cycle.binds.items() if p in fixed}
        if "boundOn" in sure:
            yield ("nodes", on_nodes(fact.get("boundOn", {})),
                   cycle.count(f"{cycle.group(p)} on {n}" for p, n in cycle.binds.items()))
    if "evictedPerJob" in sure:
        yield "evictions", fact.get("evictedPerJob", {}), cycle.count(map(cycle.group, victims))
    elif "evictions" in fact:
        yield "evictions", {"in all": fact["evictions"]}, {"in all": len(victims)}
    if "evictedPods" in sure:
        yield ("victims", cycle.count(map(cycle.alias, fact.get("evictedPods", []))),
               cycle.count(map(cycle.alias, victims)))
    elif "evictedFrom" in sure:
        yield ("victims", on_nodes(fact.get("evictedFrom", {})),
               cycle.count(f"{cycle.group(p)} on {n}" for p, n in cycle.evictions))


def difference(recorded, played):
    keys = sorted(k for k in {*recorded, *played} if recorded.get(k) != played.get(k))
    return ", ".join(f"{k}: Volcano {recorded.get(k, '-')}, maar {played.get(k, '-')}" for k in keys)


def compare(case, report):
    """{point: [differences]}; a point of which nothing is recorded is not there"""
    found = {}
    groups = group_of(case)
    facts = exact_facts(case)
    for fact in facts:
        for point, recorded, played in points_of(fact, Cycle(groups, report, fact["cycle"])):
            lines = found.setdefault(point, [])
            if recorded != played:
                lines.append(f"cycle {fact['cycle']}: {difference(recorded, played)}")
    if "phases" in facts[-1]["agreed"]:
        recorded = facts[-1].get("phases", {})
        played = {name: group["phase"] for name, group in report["podGroups"].items() if name in recorded}
        found["phases"] = [] if recorded == played else [f"at the end: {difference(recorded, played)}"]
    return found


# ---- differences that are meant --------------------------------------------------------------------------------------

class Rules:
    """lines "CASE HEADING [+ HEADING]..." of differences.txt; * in a case stands for anything"""

    def __init__(self):
        with open(os.path.join(HERE, "../../docs/differences.md"), encoding="utf-8") as file:
            headings = {re.sub(r"\s+", " ", text) for text in re.findall(r"\*\*(.+?)\*\*", file.read(), re.S)}
        self.headings = {re.sub(r"\s*\[V\]$", "", text).rstrip(".") for text in headings}
        self.rules = []
        self.used = set()
        with open(os.path.join(HERE, "differences.txt"), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                line = line.split("#")[0].strip()
                if line:
                    self.add(number, *line.split(None, 1))

    def add(self, number, pattern, headings):
        for heading in headings.split(" + "):
            if heading == "?":
                sys.exit(f"differences.txt:{number}: why does {pattern} differ?")
            if heading.strip().rstrip(".") not in self.headings:
                sys.exit(f"differences.txt:{number}: docs/differences.md has no \"{heading.strip()}\"")
        self.rules.append((number, pattern, headings))

    def find(self, case):
        """the rule that the case falls under; None"""
        for number, pattern, headings in self.rules:
            if fnmatch.fnmatchcase(case["name"], pattern):
                self.used.add(number)
                return headings
        return None

    def update(self, missing_cases):
        stale = {number for number, _ in self.unused()}
        path = os.path.join(HERE, "differences.txt")
        with open(path, encoding="utf-8") as file:
            lines = [line for number, line in enumerate(file, 1) if number not in stale]
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines + [f"{name:<20}?\n" for name in missing_cases])

    def unused(self):
        return [(number, pattern) for number, pattern, _ in self.rules if number not in self.used]


# ---- main ------------------------------------------------------------------------------------------------------------

def read_cases(options, plugins, left_out):
    for family in options.family or FAMILIES:
        with gzip.open(os.path.join(HERE, family + ".jsonl.gz"), "rt", encoding="utf-8") as file:
            for line in file:
                case = json.loads(line)
                if options.case and not fnmatch.fnmatchcase(case["name"], options.case):
                    continue
                lack = missing(case, plugins)
                if lack:
                    left_out[family, lack] += 1
                else:
                    yield case


def print_table(table, left_out):
    print(f"{'family':<12}{'cases':>7}{'equal':>7}{'meant':>7}{'failed':>7}" + "".join(f"{p:>11}" for p in POINTS))
    for family, row in table.items():
        cells = "".join(f"{row[p, 'equal']}/{row[p, 'all']}".rjust(11) for p in POINTS)
        print(f"{family:<12}{row['cases']:>7}{row['equal']:>7}{row['meant']:>7}{row['failed']:>7}{cells}")
    for (family, lack), n in sorted(left_out.items()):
        print(f"left out: {n} of {family} need {lack}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("maarctl")
    parser.add_argument("--plain", action="store_true", help="without compatibility: volcano")
    parser.add_argument("--update", action="store_true", help="write differences.txt anew")
    parser.add_argument("--family", action="append", choices=FAMILIES)
    parser.add_argument("--case", help="only the cases of this name; * stands for anything")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", metavar="DIR", help="write the scenario files there and leave them")
    parser.add_argument("-v", "--verbose", action="store_true", help="also show differences that are meant")
    options = parser.parse_args()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)

    rules = Rules() if options.plain else None
    left_out, table, missing_cases = collections.Counter(), {}, []
    cases = list(read_cases(options, built_plugins(options.maarctl), left_out))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, (report, wrong) in zip(cases, pool.map(lambda c: play(options.maarctl, c, options), cases)):
            row = table.setdefault(case["family"], collections.Counter())
            found = compare(case, report) if report else {}
            for point, lines in found.items():
                row[point, "all"] += 1
                row[point, "equal"] += not lines
            differs = any(found.values())
            meant = rules.find(case) if differs and rules and not wrong else None
            verdict = "failed" if wrong or (differs and not meant) else "meant" if differs else "equal"
            row["cases"] += 1
            row[verdict] += 1
            if verdict == "failed" and not wrong:
                missing_cases.append(case["name"])
            if verdict == "failed" or (verdict == "meant" and options.verbose):
                print(f"{case['name']}{''.join(f' [{tag}]' for tag in case['tags'])}: {wrong or meant or 'differs'}")
                for point, lines in found.items():
                    for line in lines:
                        print(f"    {point}, {line}")

    print_table(table, left_out)
    stale = rules.unused() if rules and not options.family and not options.case else []
    for number, pattern in stale:
        print(f"differences.txt:{number}: no case of {pattern} differs any more: remove the line")
    if options.update and rules:
        rules.update(missing_cases)
    failed = sum(row["failed"] for row in table.values()) + len(stale)
    passed = sum(row["equal"] + row["meant"] for row in table.values())
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())

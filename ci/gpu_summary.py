#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ci/gpu_check.sh says of its figures, from the files that it wrote.

ci/gpu_summary.py product TORCH.jsonl RESULT.jsonl...  one product, as bench and PyTorch timed it
ci/gpu_summary.py rules BENCH RESULT.jsonl...          use of tensor cores as counters, names of kernels
                                                       and rules tell it, for each case with counters
ci/gpu_summary.py kernels FILE.jsonl...                how many kernels belong to an operator or layer,
                                                       of `bench run --profile` and `bench profile`
ci/gpu_summary.py answers FOLDER                       the questions (a) to (j) of docs/cuda.md

Status: 0 all is as it should be, 1 something is not, or there is nothing to compare, 2 usage."""

import collections
import csv
import json
import pathlib
import re
import statistics
import subprocess
import sys

QUESTIONS = {
    "a": "cuDNN's description of the device; versions and paths of libraries",
    "b": "tracing with the CUPTI that travels",
    "c": "kernels start after their launches, on CLOCK_MONOTONIC",
    "d": "what tracing costs kernels of 2, 20 and 200 us, and a graph of 50: node by node, and as one record",
    "e": "a second traced session in one process is refused",
    "f": "counters against the models of operations and bytes",
    "g": "kernels chosen, and tensor cores used, against what is predicted",
    "h": "what NVML answers",
    "i": "ceilings",
    "j": "conversion copies: the workspace against the kernels that appear",
}
WANTED_RATIO = 1.03  # of bench's time to PyTorch's
WANTED_SHAPES = 100  # with a counter's verdict
SHOWN = 20           # lines of a list that may be long
ORPHANS = re.compile(r"(\d+) kernels belong to no known operator")


def records(path):
    """Of a file of JSON lines; none where it is missing. What is no record is left out."""
    if not path.exists():
        return
    for line in path.read_text(errors="replace").splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(record, dict):
            yield record


def details_of(record):
    return record.get("details") or {}


def is_traced(profile):
    """Counters are read in a process of their own: where that fails, what was traced stands."""
    return (profile.get("outcome") == "ok"
            or str(profile.get("reason") or "").startswith("counters: "))


def valid_passes(path):
    return (r for r in records(path)
            if r.get("record") == "profile_pass" and is_traced(r))


def shortened(lines):
    more = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return lines[:SHOWN] + more


# ---- product

def product(torch_file, result_files):
    theirs = [r for r in records(torch_file) if r.get("record") == "torch_product"]
    torch = [r["median_ns"] for r in theirs]
    ours = [r["time"]["median_ns"] for file in result_files for r in records(file)
            if r.get("record") == "case" and r.get("outcome") == "ok"]
    if not torch or not ours:
        print("product   no figures: "
              + ", ".join(name for name, found in (("PyTorch", torch), ("bench", ours)) if not found))
        return 1
    a, b = statistics.median(ours), statistics.median(torch)
    print(f"product   bf16 {theirs[0]['size']}^3: bench {a / 1e6:.3f} ms, PyTorch {b / 1e6:.3f} ms,"
          f" ratio {a / b:.4f} (medians of {len(ours)} and {len(torch)} rounds in turns; wanted"
          f" within {WANTED_RATIO})")
    return 0 if a / b <= WANTED_RATIO else 1


# ---- rules. A verdict is True: tensor cores are used, or may be; False: they are not; None: unknown.

def verdict_of(text):
    if text.startswith(("used", "eligible")):
        return True
    return False if text.startswith(("not used", "not eligible")) else None


def word_of(verdict):
    return {True: "used", False: "not used", None: "unknown"}[verdict]


def verdict_by_names(texts):
    """Of a case by those of its kernels, as in profiler/kernel_names/kernel_evidence.hpp."""
    verdicts = {verdict_of(text) for text in texts}
    if True in verdicts:
        return True
    return False if verdicts == {False} else None


def kernels_by_case(bench, file):
    """The names of the kernels that compute, each with what it tells of tensor cores."""
    table = subprocess.run(
        [bench, "analyze", str(file), "--kind", "kernel", "--top", "0", "--format", "csv",
         "--columns", "case,name,tensor_cores,auxiliary"], capture_output=True, text=True, check=False)
    if table.returncode != 0:
        print(f"rules     {file.name}: {table.stderr.strip()}")
    cases = collections.defaultdict(dict)
    for row in csv.DictReader(table.stdout.splitlines()):
        if not row["auxiliary"]:
            cases[row["case"]][row["name"]] = row["tensor_cores"]
    return cases


class Shape:
    """What is known of one case."""

    def __init__(self, case, profile, kernels):
        facts, found = details_of(case), details_of(profile)
        self.id = profile["id"]
        self.kernels = kernels
        self.eligible = verdict_of(facts.get("tensor_cores.eligible", ""))
        self.rule = facts.get("tensor_cores.rule", "no rule")
        self.named = verdict_by_names(kernels.values())
        text = found.get("tensor_cores", "")
        self.counted = verdict_of(text) if text.endswith("(counter)") else None
        self.no_counters = found.get("counters", "")

    def differs(self):
        return len({self.eligible, self.named, self.counted} - {None}) > 1

    def __str__(self):
        rules = {True: "eligible", False: "not eligible", None: "unknown"}[self.eligible]
        return (f"{self.id}: rules {rules} [{self.rule}], names {word_of(self.named)},"
                f" counters {word_of(self.counted)}: {', '.join(sorted(self.kernels)) or 'no kernel'}")


def shapes_of(bench, files):
    shapes = []
    for file in files:
        kernels = kernels_by_case(bench, file)
        cases = {r["id"]: r for r in records(file) if r.get("record") == "case"}
        shapes += [Shape(cases.get(p["id"], {}), p, kernels.get(p["id"], {}))
                   for p in valid_passes(file)]
    return shapes


def print_agreement(title, pairs):
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    agreeing = sum(a == b for a, b in known)
    print(f"rules     {title}: {agreeing} of {len(known)} agree")


def print_kernel_names(shapes):
    """What counters say of each kernel that computes a case alone: ground for rules of names."""
    alone = collections.defaultdict(list)
    for shape in shapes:
        if len(shape.kernels) == 1:
            (name, text), = shape.kernels.items()
            alone[name, word_of(verdict_of(text))].append(word_of(shape.counted))
    for (name, text), counted in sorted(alone.items()):
        found = ", ".join(f"{word} {n}" for word, n in sorted(collections.Counter(counted).items()))
        print(f"rules     kernel {name}: by name {text}, by counters {found}")


def rules(bench, files):
    shapes = shapes_of(bench, files)
    counted = sum(shape.counted is not None for shape in shapes)
    print(f"rules     {len(shapes)} shapes; verdicts of counters {counted} (wanted: {WANTED_SHAPES}),"
          f" of names {sum(shape.named is not None for shape in shapes)},"
          f" of rules {sum(shape.eligible is not None for shape in shapes)}")
    print_agreement("names and counters", [(s.named, s.counted) for s in shapes])
    print_agreement("rules and counters", [(s.eligible, s.counted) for s in shapes])
    print_agreement("rules and names", [(s.eligible, s.named) for s in shapes])
    for reason in sorted({shape.no_counters for shape in shapes} - {""}):
        print(f"rules     counters {reason}")
    differing = [shape for shape in shapes if shape.differs()]
    for shape in differing:
        print(f"rules     differs: {shape}")
    print_kernel_names(shapes)
    return 1 if differing or not any(s.counted is not None or s.named is not None for s in shapes) else 0


# ---- kernels

class Attribution:
    """Kernels, those of nobody, and why there are none."""

    def __init__(self):
        self.kernels = self.orphans = self.parts = 0
        self.names = collections.Counter()  # of those of nobody
        self.reasons = set()

    def add_pass(self, profile):
        self.parts += 1
        if not is_traced(profile):
            self.reasons.add(f"not counted: {profile.get('reason') or profile.get('outcome')}")
            return
        found = details_of(profile)
        counts = [int(value) for key, value in found.items()
                  if re.fullmatch(r"gpu\d*\.kernels", key)]
        note = found.get("gpu.note", "")
        self.kernels += sum(counts)
        self.orphans += sum(int(count) for count in ORPHANS.findall(note))
        if not counts:
            self.reasons.add(f"no kernels: {note or 'none ran'}")

    def add_kernel(self, activity):
        self.kernels += 1
        if "op" not in (activity.get("attributes") or {}) and not activity.get("scope"):
            self.orphans += 1
            self.names[activity.get("name", "")] += 1

    def print(self, title):
        print(f"kernels   {title}: {self.kernels - self.orphans} of {self.kernels} attributed")
        for name, count in self.names.most_common(5):
            print(f"kernels   {title}: of nobody {name} ({count})")
        for reason in sorted(self.reasons):
            print(f"kernels   {title}: {reason}")


def kernels(files):
    run, groups = Attribution(), []
    for file in files:
        profiled = None  # of a file of `bench profile`, whose head is its first record
        for record in records(file):
            kind = record.get("record")
            if kind == "profile" and profiled is None:
                profiled = Attribution()
                groups.append((file.stem, profiled))
            elif kind == "profile_pass":
                run.add_pass(record)
            elif kind == "activity" and profiled and record.get("kind") == "kernel":
                profiled.add_kernel(record)
    if run.parts:
        groups.insert(0, (f"bench run, {run.parts} passes", run))
    for title, group in groups:
        group.print(title)
    total = sum(group.kernels for _, group in groups)
    orphans = sum(group.orphans for _, group in groups)
    print(f"kernels   all kernels attributed: {total - orphans} of {total}")
    return 0 if total and not orphans else 1


# ---- answers

def device_answers(folder):
    try:
        report = json.loads((folder / "device.json").read_text())
    except (OSError, json.JSONDecodeError):
        return {"a": ["no device.json"]}
    report = report.get("report") or report
    answers = {"a": [], "h": []}
    for device in report.get("devices", []):
        described = "described" if device.get("cudnn_properties") else "not described by cuDNN"
        answers["a"].append(f"{device.get('name')}: {described}")
        nvml = device.get("nvml") or {}
        known = [key for key, value in nvml.items() if value is not None]
        answers["h"].append(f"{device.get('name')}: {', '.join(known) or device.get('nvml_reason')}")
    for library in report.get("libraries", []):
        where = library.get("path") or library.get("reason") or "absent"
        version = library.get("version") or "of unknown version"
        answers["a"].append(f"{library.get('name')} {version} {where}")
    return answers


def case_answers(folder):
    results = folder / "results.jsonl"
    cases = [r for r in records(results) if r.get("record") == "case"]
    outcomes = collections.Counter(r.get("outcome") for r in cases)
    answers = {"f": [], "g": []}
    if cases:
        answers["g"] = [", ".join(f"{n} {outcome}" for outcome, n in sorted(outcomes.items()))]
    answers["g"] += shortened([f"{r['id']}: {r['outcome']}: {r.get('reason')}" for r in cases
                               if r.get("outcome") not in ("ok", "unsupported")])
    verdicts = collections.Counter()
    for profile in valid_passes(results):
        found = details_of(profile)
        if "tensor_cores" in found:
            verdicts[word_of(verdict_of(found["tensor_cores"]))] += 1
        answers["f"] += [f"{profile['id']}: {name}: {found[name]}"
                         for name in ("check.tensor_operations", "check.dram_bytes") if name in found]
    answers["f"] = shortened(answers["f"])
    answers["g"] += [f"tensor cores {word}: {n} cases" for word, n in sorted(verdicts.items())]
    return answers


def check_answers(folder):
    answers = collections.defaultdict(list)
    for record in records(folder / "checks.jsonl"):
        question = record.get("question")
        if question in QUESTIONS:
            figures = {key: value for key, value in record.items() if key != "question"}
            answers[question].append(json.dumps(figures))
    return answers


def answers(folder):
    """Status 1 where a question has no answer."""
    found = collections.defaultdict(list)
    for part in (device_answers(folder), check_answers(folder), case_answers(folder)):
        for question, lines in part.items():
            found[question] += lines
    for question, text in QUESTIONS.items():
        print(f"({question}) {text}")
        for line in found[question] or ["no answer"]:
            print(f"    {line}")
    return 0 if all(found[question] for question in QUESTIONS) else 1


def main():
    command, words = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    paths = [pathlib.Path(word) for word in words]
    if command == "product" and len(words) >= 2:
        return product(paths[0], paths[1:])
    if command == "rules" and len(words) >= 2:
        return rules(words[0], paths[1:])
    if command == "kernels":
        return kernels(paths)
    if command == "answers" and len(words) == 1:
        return answers(paths[0])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())

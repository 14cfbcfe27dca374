#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Evaluates the files that ci/gpu_check.sh wrote, for its summary.

ci/gpu_summary.py product TORCH.jsonl RESULT.jsonl...  one product, as bench and PyTorch timed it
ci/gpu_summary.py rules BENCH RESULT.jsonl...          use of tensor cores by counters, by kernel names
                                                       and by rules, for each case with counters
ci/gpu_summary.py kernels FILE.jsonl...                how many kernels belong to an operator or layer,
                                                       of `bench run --profile` and `bench profile`
ci/gpu_summary.py peaks CHECKS.jsonl DEVICE.json PEAK.jsonl...
                                                       the ceilings of runs of `bench peak` and their
                                                       spread, also as figures into CHECKS; nothing
                                                       moves more than its memory's clock and bus do
ci/gpu_summary.py frameworks CHECKS.jsonl TORCH.jsonl UNTUNED.jsonl... TUNED.jsonl...
                                                       each shape as bench and PyTorch timed it, also as
                                                       figures into CHECKS; a file is of tuned cases if
                                                       its name begins with "tuned"
ci/gpu_summary.py answers FOLDER                       the questions (a) to (n) of docs/cuda.md
ci/gpu_summary.py table FOLDER...                      its table of figures, as Markdown, from what calls
                                                       of ci/gpu_check.sh have left, even incomplete
ci/gpu_summary.py goals FOLDER...                      the goals of docs/cuda.md, and whether they are met

Status: 0 everything is as expected, 1 something is not, or nothing can be compared, 2 usage."""

import collections
import csv
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import zlib

QUESTIONS = {
    "a": "cuDNN's description of the device; versions and paths of libraries",
    "b": "tracing with the CUPTI that travels",
    "c": "kernels lie between their launches and now, on CLOCK_MONOTONIC",
    "d": "what tracing costs kernels of 2, 20 and 200 us, and a graph of 50: node by node, and as one record",
    "e": "a second traced session in one process is refused",
    "f": "counters against the models of operations and bytes",
    "g": "kernels chosen, and tensor cores used, against what is predicted",
    "h": "what NVML answers",
    "i": "ceilings",
    "j": "conversion copies: the workspace against the kernels that appear",
    "k": "cold caches: a product over 0, 2 and 4 times L2",
    "l": "the start of a worker, with and without the device held open",
    "m": "the gate of a kernel against itself",
    "n": "convolutions and products, as bench and PyTorch time them",
}
WANTED_RATIO = 1.03  # bench's time relative to PyTorch's
WANTED_SHAPES = 100  # with a verdict from counters
SHOWN = 20           # maximum lines of a list
ORPHANS = re.compile(r"(\d+) kernels? belongs? to no known operator")


def unpacked(path):
    """Returns the text of a file of compressed parts, without the end that a killed run did not
    write."""
    gzip_format = 31  # zlib's code for it
    text, rest = b"", path.read_bytes()
    while rest:
        part = zlib.decompressobj(gzip_format)
        try:
            text += part.decompress(rest)
        except zlib.error:
            break
        rest = part.unused_data
    return text.decode(errors="replace")


def records(path):
    """Returns the records of a file of JSON lines, compressed or not; none if it is missing. Skips
    invalid lines, such as the incomplete last line of a killed run."""
    packed = path.with_name(path.name + ".gz")
    if path.exists():
        text = path.read_text(errors="replace")
    elif packed.exists():
        text = unpacked(packed)
    else:
        return
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(record, dict):
            yield record


def details_of(record):
    return record.get("details") or {}


def is_traced(profile):
    """Counters are read in a separate process: if that fails, the traced data remain valid."""
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
    cases = [r for file in result_files for r in records(file)
             if r.get("record") == "case" and r.get("outcome") == "ok"]
    ours = [r["time"]["median_ns"] for r in cases]
    if not ours:
        print("product   no figures: bench")
        return 1
    a = statistics.median(ours)
    state = state_of(cases[0])
    if not torch:
        print(f"product   {cases[0]['id']}: bench {a / 1e6:.3f} ms{state}, PyTorch was not measured")
        return 0
    b = statistics.median(torch)
    print(f"product   bf16 {theirs[0]['size']}^3: bench {a / 1e6:.3f} ms{state}, PyTorch {b / 1e6:.3f} ms,"
          f" ratio {a / b:.4f} (wanted within {WANTED_RATIO})")
    return 0 if a / b <= WANTED_RATIO else 1


def state_of(case):
    """Returns clock and counts of void and throttled samples: " at 1.41 GHz, 0 void, 52 throttled"."""
    clock = f" at {case['clock_hz'] / 1e9:.2f} GHz" if case.get("clock_hz") else ""
    counts = [f"{(case.get(key) or {}).get('count', 0)} {word}"
              for key, word in (("voided", "void"), ("throttled", "throttled"))]
    return f"{clock}, {', '.join(counts)}"


# ---- frameworks

def frameworks(checks_file, torch_file, result_files):
    """Returns 1 if nothing can be compared; the goals judge the figures."""
    theirs = {r["id"]: r for r in records(torch_file) if r.get("record") == "torch_shape"}
    ours, whose = collections.defaultdict(lambda: collections.defaultdict(list)), None
    for file in result_files:
        side = "tuned" if file.name.startswith("tuned") else "default"
        whose = "a transformer's" if file.name.startswith("transformer") else "PyTorch's"
        for r in records(file):
            if r.get("record") == "case":
                time = r["time"]["median_ns"] / 1e3 if r.get("outcome") == "ok" else None
                ours[r["id"]][side].append((time, r))
    for name, sides in ours.items():
        row = {"question": "n", "check": f"{whose} {name}", "outcome": "figures"}
        for side, runs in sides.items():
            times = [time for time, _ in runs if time is not None]
            if times:
                row[f"{side}_us"] = round(statistics.mean(times), 3)
                row[f"{side}_spread"] = round(max(times) / min(times) - 1, 4)
            record = runs[0][1]
            clocks = [r["clock_hz"] for _, r in runs if r.get("clock_hz")]
            if clocks:
                row[f"{side}_mhz"] = round(statistics.mean(clocks) / 1e6)
            row[f"{side}_implementation"] = record.get("implementation") or record.get("reason") or "n/a"
            if "tuned" in details_of(record):
                row["tuning"] = details_of(record)["tuned"]
        torch = theirs.get(name, {})
        for key, source in (("torch_us", "median_ns"), ("torch_benchmark_us", "benchmark_ns")):
            if torch.get(source):
                row[key] = torch[source] / 1e3
        if "default_us" in row and "torch_us" in row:
            row["ratio"] = round(row["default_us"] / row["torch_us"], 4)
        print(f"shapes    {name}: bench {text_us(row, 'default_us')}, tuned {text_us(row, 'tuned_us')},"
              f" PyTorch {text_us(row, 'torch_us')}, ratio {row.get('ratio', 'n/a')}")
        with checks_file.open("a") as checks:
            checks.write(json.dumps(row) + "\n")
    if not ours:
        print("shapes    no figures: bench")
    return 0 if ours else 1


def text_us(row, key):
    return f"{row[key]:.2f} us" if key in row else "n/a"


# ---- peaks

PEAK_UNITS = {"flops_per_s": "FLOP/s", "bytes_per_s": "B/s", "ns": "ns"}


def with_prefix(value, unit):
    """Formats 66.9e12 and "FLOP/s" as "66.90 TFLOP/s"."""
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= factor:
            return f"{value / factor:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"


def report_of(device_file):
    """Returns what the plugin reports, from the answer of `bench worker --probe`; {} without one."""
    try:
        answer = json.loads(device_file.read_text())
        return answer.get("report") or answer
    except (OSError, json.JSONDecodeError):
        return {}


def memory_by_clock(device_file):
    """Returns the bytes per second that two transfers per clock over the whole bus make, or None."""
    device = next(iter(report_of(device_file).get("devices") or []), {})
    clock, bits = device.get("memory_clock_khz"), device.get("memory_bus_bits")
    return 2 * clock * 1e3 * bits / 8 if clock and bits else None


def peaks(checks_file, device_file, peak_files):
    found = {}  # by ceiling; the values of all runs
    for r in (r for file in peak_files for r in records(file) if r.get("gpu")):
        unit = next(unit for unit in PEAK_UNITS if unit in r)
        found.setdefault((f"{r['name']} {r.get('level', '')}".strip(), unit), []).append(r[unit])
    if not found:
        print("peaks     no figures: bench peak")
        return 1
    limit, status = memory_by_clock(device_file), 0
    with checks_file.open("a") as checks:
        for (name, unit), values in found.items():
            low, high = min(values), max(values)
            text = f"{with_prefix(low, PEAK_UNITS[unit])} to {with_prefix(high, PEAK_UNITS[unit])}"
            print(f"peaks     {name}: {text}, spread {100 * (high - low) / high:.1f} % over {len(values)} runs")
            if name.endswith(" dram") and limit and high > limit:
                print(f"peaks     {name}: more than the {with_prefix(limit, 'B/s')} of clock and bus")
                status = 1
            checks.write(json.dumps({"question": "i", "check": f"bench peak: {name}", "outcome": "figures",
                                     "ceiling": text}) + "\n")
    if not limit:
        print("peaks     the driver does not report the memory's clock and bus, so no limit is known")
    return status


# ---- rules. A verdict is True: tensor cores are or may be used; False: they are not; None:
# unknown.

def verdict_of(text):
    if text.startswith(("used", "eligible")):
        return True
    return False if text.startswith(("not used", "not eligible")) else None


def word_of(verdict):
    return {True: "used", False: "not used", None: "unknown"}[verdict]


def verdict_by_names(texts):
    """Returns a case's verdict from its kernels', as in profiler/kernel_names/kernel_names.hpp."""
    verdicts = {verdict_of(text) for text in texts}
    if True in verdicts:
        return True
    return False if verdicts == {False} else None


def kernels_by_case(bench, file):
    """Returns the names of the kernels that compute, each with its evidence on tensor cores."""
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
    """What is known about one case."""

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
        """Whether names and counters differ, or a rule forbids what they show. What is eligible and
        not used is missed: no contradiction."""
        shown = {self.named, self.counted} - {None}
        return len(shown) > 1 or (self.eligible is False and True in shown)

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


def judge_rules(pairs):
    """Returns how many pairs of a rule and evidence agree, are missed (eligible, not used) and are
    known."""
    known = [(rule, shown) for rule, shown in pairs if rule is not None and shown is not None]
    missed = sum(rule and not shown for rule, shown in known)
    return sum(rule == shown for rule, shown in known), missed, len(known)


def print_rules(what, pairs):
    agreeing, missed, known = judge_rules(pairs)
    print(f"rules     rules and {what}: {agreeing} of {known} agree, {missed} missed")


def print_kernel_names(shapes):
    """Returns the counters' verdict on each kernel that computes a case alone, to check name rules."""
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
    print_rules("counters", [(s.eligible, s.counted) for s in shapes])
    print_rules("names", [(s.eligible, s.named) for s in shapes])
    for reason in sorted({shape.no_counters for shape in shapes} - {""}):
        print(f"rules     counters {reason}")
    differing = [shape for shape in shapes if shape.differs()]
    for shape in differing:
        print(f"rules     differs: {shape}")
    print_kernel_names(shapes)
    return 1 if differing or not any(s.counted is not None or s.named is not None for s in shapes) else 0


# ---- kernels

class Attribution:
    """Kernels, unattributed kernels, and why there are none."""

    def __init__(self):
        self.kernels = self.orphans = self.parts = 0
        self.names = collections.Counter()  # of unattributed kernels
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
            print(f"kernels   {title}: unattributed {name} ({count})")
        for reason in sorted(self.reasons):
            print(f"kernels   {title}: {reason}")


def kernels(files):
    run, groups = Attribution(), []
    for file in files:
        profiled = None  # for a file of `bench profile`, whose header is its first record
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
    if files and not groups:
        print("kernels   no pass and no profile was asked for")
        return 0
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
    """A question without an answer was not asked, or its step was cut; this is not a failure."""
    found = collections.defaultdict(list)
    for part in (device_answers(folder), check_answers(folder), case_answers(folder)):
        for question, lines in part.items():
            found[question] += lines
    for question, text in QUESTIONS.items():
        print(f"({question}) {text}")
        for line in found[question] or ["no answer"]:
            print(f"    {line}")
    return 0


# ---- table. A row is (name, value, step that measures it); a value of None: it was not measured.

class Evidence:
    """The files that calls of ci/gpu_check.sh have left."""

    def __init__(self, folders):
        self.checks, self.cases, self.passes, self.device = {}, {}, {}, {}
        self.operators = {}  # cases of gpu_operators.yaml; another configuration may have them, too
        self.torch, self.networks = [], []
        for folder in folders:
            for r in records(folder / "checks.jsonl"):
                if "check" in r:
                    self.checks.setdefault(r["check"], []).append(r)
            for r in records(folder / "results.jsonl"):
                if r.get("record") == "case":
                    self.cases[r["id"]] = r
                    if "gpu_operators.yaml" in str(r.get("source")):
                        self.operators[r["id"]] = r
                elif r.get("record") == "profile_pass":
                    self.passes[r["id"]] = r
            for r in records(folder / "profiles.jsonl"):
                if r.get("record") == "torch_product":
                    self.torch.append(r)
                elif r.get("record") == "torch_network":
                    self.networks.append(r)
            self.device = self.device or report_of(folder / "device.json")

    def check(self, name, *keys):
        """Returns the figures of a check that has all of these."""
        for record in self.checks.get(name, []):
            if all(key in record for key in keys):
                return record
        return None


def rows_of_starts(evidence):
    for held, text in ((False, "start of a worker"), (True, "start of a worker, device held open")):
        times = [r["ms"] for r in evidence.checks.get("the start of a worker", [])
                 if r.get("device_held_open") is held]
        yield text, f"{statistics.median(times[0]):.0f} ms" if times else None, "start"


def rows_of_sampling(evidence):
    for length in (2, 5, 20, 50, 200):
        r = evidence.check(f"stream against graph, {length} us", "stream_us", "graph_us")
        yield (f"kernel of {length} us by stream, by graph",
               f"{r['stream_us']:.2f} us, {r['graph_us']:.2f} us" if r else None, "sampling")
    r = evidence.check("minimum launch time", "empty_kernel_us")
    yield "empty kernel, the gap at most", f"{r['empty_kernel_us']:.2f} us" if r else None, "sampling"
    r = evidence.check("a graph of 4096 nodes behind the blocking kernel", "node_us")
    yield ("node of a graph of 4096", f"{r['node_us']:.2f} us ({r['method']})" if r else None,
           "long_graph")


def rows_of_tracing(evidence):
    r = evidence.check("kernels lie between their launches and the session's end", "earliest_us")
    yield ("kernels after their launch, before the end",
           f"{r['earliest_us']:.1f} us, {-r['latest_us']:.1f} us" if r else None, "tracing")
    r = evidence.check("a tracer that begins after the context", "kernel_ns")
    clock = None
    if r:
        ends = {"CLOCK_MONOTONIC": r["end_monotonic_ns"], "CLOCK_REALTIME": r["end_realtime_ns"]}
        clock = min(ends, key=lambda name: abs(ends[name] - r["kernel_ns"]))
    yield "clock of a tracer after the context", clock, "late_tracing"
    for length in (2, 20, 200):
        r = evidence.check(f"a traced kernel of {length} us", "recorded_us", "cost_us")
        yield (f"kernel of {length} us traced: recorded, added cost",
               f"{r['recorded_us']:.2f} us, {r['cost_us']:.2f} us" if r else None, "tracing")


def rows_of_counters(evidence):
    r = evidence.check("tensor operations of a product of 4096^3 in bf16", "counted_by_expected")
    yield ("tensor operations counted by the model's",
           f"{r['counted_by_expected']:.4f}" if r else None, "counters")
    for times in (0, 2, 4):
        r = evidence.check(f"a product of 2048^3 in bf16 over {times} x L2", "us")
        hits = f", {100 * r['l2_hit_share']:.0f} % hits" if r and "l2_hit_share" in r else ""
        yield f"bf16 2048^3 over {times} x L2", f"{r['us']:.1f} us{hits}" if r else None, "cold"


def rows_of_results(evidence):
    case = next((r for name, r in evidence.cases.items() if name.startswith("gemm/")
                 and "/bf16/" in name and r.get("outcome") == "ok"
                 and evidence.torch and f"m{evidence.torch[0]['size']}n" in name), None)
    ours = case["time"]["median_ns"] if case else None
    yield ("product of PyTorch's size", f"{ours / 1e6:.3f} ms{state_of(case)}" if case else None, "product")
    theirs = statistics.median(r["median_ns"] for r in evidence.torch) if evidence.torch else None
    yield "the same by PyTorch", f"{theirs / 1e6:.3f} ms" if theirs else None, "product"
    yield ("bench by PyTorch", f"{ours / theirs:.4f}" if ours and theirs else None, "product")
    plan = next((r for name, r in evidence.cases.items()
                 if name.startswith("conv/") and "+relu" in name and (r.get("setup") or {}).get("plan_ns")), None)
    yield ("plan of a fused f16 convolution",
           f"{plan['setup']['plan_ns'] / 1e6:.0f} ms" if plan else None, "plan")
    network = next((r for name, r in evidence.cases.items()
                    if name.startswith("network/") and r.get("outcome") == "ok"), None)
    yield ("network", f"{network['time']['median_ns'] / 1e6:.3f} ms" if network else None, "network")
    verdicts = collections.Counter(word_of(verdict_of(details_of(r).get("tensor_cores", "")))
                                   for r in evidence.passes.values()
                                   if details_of(r).get("tensor_cores", "").endswith("(counter)"))
    yield ("verdicts of counters on tensor cores",
           ", ".join(f"{n} {word}" for word, n in sorted(verdicts.items())) or None, "shapes")
    outcomes = collections.Counter(r.get("outcome") for r in evidence.cases.values())
    yield ("cases", ", ".join(f"{n} {word}" for word, n in sorted(outcomes.items())) or None,
           "shapes, operators")


def rows_of_transformers(evidence):
    ratios = {name: found[0]["ratio"] for name, found in evidence.checks.items()
              if str(name).startswith("a transformer's ") and "ratio" in found[0]}
    worst = max(ratios, key=ratios.get, default=None)
    mean = math.exp(statistics.mean(math.log(r) for r in ratios.values())) if ratios else None
    yield ("operators of transformers, bf16, by PyTorch's time",
           f"geometric mean {mean:.3f} over {len(ratios)}, worst {ratios[worst]:.3f}: {worst[16:]}"
           if ratios else None, "transformer")


def rows_of_verdicts(evidence):
    """Figures of bench_gpu_test, all from one process."""
    shapes = [r[0] for name, r in evidence.checks.items() if str(name).startswith("tensor cores of ")]
    pairs = [(verdict_of(r["eligible"]), verdict_of(r["counted"])) for r in shapes if "counted" in r]
    agreeing, missed, known = judge_rules(pairs)
    text = f"{agreeing} of {known} agree, {missed} missed" if known else None
    yield "rules and counters on tensor cores, one process", text, "verdicts"


def rows_of_gate(evidence):
    r = evidence.check("the gate of a kernel against itself", "text")
    yield "a kernel against itself", r["text"] if r else None, "gate"


def table(folders):
    evidence = Evidence(folders)
    devices = evidence.device.get("devices") or []
    if not devices:
        print("No figures: no device answered. `ci/gpu_check.sh FOLDER` makes them.")
        return 0
    print(f"{devices[0].get('name')}, driver {evidence.device.get('driver_version') or 'n/a'};"
          " each row by `ci/gpu_check.sh --only STEP FOLDER`:")
    print()
    print("| figure | value | step |")
    print("|---|---|---|")
    for rows in (rows_of_starts, rows_of_sampling, rows_of_tracing, rows_of_counters,
                 rows_of_results, rows_of_transformers, rows_of_verdicts, rows_of_gate):
        for what, value, step in rows(evidence):
            print(f"| {what} | {value or 'not measured'} | `{step}` |")
    for name, found in sorted(evidence.checks.items()):
        r = found[0]
        if "ceiling" in r:
            print(f"| {name} | {r['ceiling']} | `peaks` |")
        if r.get("question") == "i" and "us" in r:
            rate = next((f", {r[unit]:.1f} {unit}" for unit in r if unit.endswith("_per_s")), "")
            print(f"| {name} | {r['us']:.1f} us{rate} | `ceilings` |")
    return 0


# ---- goals. A goal is (name, what was measured, whether it is met); None: it was not measured.

WANTED_UNSUPPORTED = 19
WANTED_MEAN = 0.91
WANTED_NETWORK_MS = 1.30
TUNING_MARGIN = 1.01


def goal_of_operators(evidence):
    found = collections.Counter(r.get("outcome") for r in evidence.operators.values())
    text = ", ".join(f"{n} {word}" for word, n in sorted(found.items()))
    bad = sum(n for word, n in found.items() if word not in ("ok", "unsupported"))
    yield (f"operators: none wrong or failed, at most {WANTED_UNSUPPORTED} unsupported", text or None,
           bad == 0 and found["unsupported"] <= WANTED_UNSUPPORTED)


def goals_of_shapes(evidence):
    shapes = [found[0] for name, found in evidence.checks.items() if str(name).startswith("PyTorch's ")]
    ratios = {r["check"]: r["ratio"] for r in shapes if "ratio" in r}
    worst = max(ratios, key=ratios.get, default=None)
    text = f"worst {ratios[worst]:.3f}: {worst[10:]}" if worst else None
    yield "each shape takes at most PyTorch's time", text, bool(worst) and ratios[worst] <= 1
    mean = math.exp(statistics.mean(math.log(r) for r in ratios.values())) if ratios else None
    yield (f"geometric mean of these ratios: at most {WANTED_MEAN}",
           f"{mean:.3f} over {len(ratios)} shapes" if ratios else None, bool(ratios) and mean <= WANTED_MEAN)
    tuned = {r["check"]: r["tuned_us"] / r["default_us"] for r in shapes
             if "tuned_us" in r and "default_us" in r}
    worst = max(tuned, key=tuned.get, default=None)
    yield ("tuned never slower than untuned by more than 1 %",
           f"worst {tuned[worst]:.3f}: {worst[10:]}" if worst else None,
           bool(worst) and tuned[worst] <= TUNING_MARGIN)


def goal_of_network(evidence):
    network = next((r for name, r in evidence.cases.items()
                    if name.startswith("network/") and r.get("outcome") == "ok"), None)
    ours = network["time"]["median_ns"] / 1e6 if network else None
    theirs = {r["variant"]: r["median_ns"] / 1e6 for r in evidence.networks
              if r.get("network", "resnet50_v1_5") == "resnet50_v1_5"}
    beside = "".join(f", PyTorch {name} {ms:.3f} ms" for name, ms in theirs.items())
    yield (f"ResNet-50, 32 images, f16: at most {WANTED_NETWORK_MS:.2f} ms",
           f"{ours:.3f} ms{beside}" if ours else None, bool(ours) and ours <= WANTED_NETWORK_MS)


def goals_of_evidence(evidence):
    passes = [details_of(r) for r in evidence.passes.values() if "tensor_cores" in details_of(r)]
    counted = [d["tensor_cores"] for d in passes if d["tensor_cores"].endswith("(counter)")]
    known = sum(verdict_of(text) is not None for text in counted)
    yield ("every counted case has a verdict on tensor cores",
           f"{known} of {len(counted)}" if counted else None, bool(counted) and known == len(counted))
    _, text, _ = next(rows_of_verdicts(evidence))
    agreeing, known, missed = (int(n) for n in re.findall(r"\d+", text)) if text else (0, 0, 0)
    yield ("counters contradict no rule in 99 % of the shapes", text,
           bool(known) and agreeing + missed >= 0.99 * known)


def goals(folders):
    """Returns 0 for missed goals too, because the checks themselves have succeeded."""
    evidence = Evidence(folders)
    print("goal: measured")
    for goal in (goal_of_operators, goals_of_shapes, goal_of_network, goals_of_evidence):
        for what, text, is_met in goal(evidence):
            verdict = "not measured" if text is None else "met" if is_met else "MISSED"
            print(f"{verdict:12}  {what}" + (f": {text}" if text else ""))
    return 0


def main():
    command, words = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    paths = [pathlib.Path(word) for word in words]
    if command == "product" and len(words) >= 2:
        return product(paths[0], paths[1:])
    if command == "frameworks" and len(words) >= 3:
        return frameworks(paths[0], paths[1], paths[2:])
    if command == "goals" and words:
        return goals(paths)
    if command == "rules" and len(words) >= 2:
        return rules(words[0], paths[1:])
    if command == "peaks" and len(words) >= 3:
        return peaks(paths[0], paths[1], paths[2:])
    if command == "kernels":
        return kernels(paths)
    if command == "answers" and len(words) == 1:
        return answers(paths[0])
    if command == "table" and words:
        return table(paths)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())

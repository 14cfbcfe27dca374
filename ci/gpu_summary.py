#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ci/gpu_check.sh says at its end, from the files that it wrote.

ci/gpu_summary.py product TORCH.jsonl RESULT.jsonl...   one product, as bench and PyTorch timed it
ci/gpu_summary.py answers FOLDER                        the questions (a) to (j) of docs/cuda.md
ci/gpu_summary.py rules RESULT.jsonl BENCH ARCH         tensor cores that ran, as counters say, against
                                                        `BENCH explain --arch ARCH`: no GPU is needed"""

import collections
import json
import pathlib
import statistics
import subprocess
import sys

QUESTIONS = {
    "a": "cuDNN's description of the device; versions and paths of libraries",
    "b": "tracing with the CUPTI that travels",
    "c": "kernels start after their launches, on CLOCK_MONOTONIC",
    "d": "what tracing costs kernels of 2, 20 and 200 us and a graph of 50",
    "e": "a second traced session",
    "f": "counters against the models of operations and bytes",
    "g": "kernels chosen, and tensor cores used, against what is predicted",
    "h": "what NVML answers",
    "i": "ceilings",
    "j": "conversion copies: the workspace against the kernels that appear",
}


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


def product(torch_file, result_files):
    torch = [r["median_ns"] for r in records(torch_file) if r.get("record") == "torch_product"]
    ours = [r["time"]["median_ns"] for file in result_files for r in records(file)
            if r.get("record") == "case" and r.get("outcome") == "ok"]
    if not torch or not ours:
        print("product   no figures: "
              + ", ".join(name for name, found in (("PyTorch", torch), ("bench", ours)) if not found))
        return 1
    a, b = statistics.median(ours), statistics.median(torch)
    print(f"product   bf16 8192^3: bench {a / 1e6:.3f} ms, PyTorch {b / 1e6:.3f} ms, ratio {a / b:.4f}"
          f" (medians of {len(ours)} and {len(torch)} rounds in turns; wanted within 1.03)")
    return 0 if a / b <= 1.03 else 1


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
        answers["a"].append(f"{library.get('name')} {library.get('version') or ''} {where}")
    return answers


def case_answers(folder):
    cases = [r for r in records(folder / "results.jsonl") if r.get("record") == "case"]
    outcomes = collections.Counter(r.get("outcome") for r in cases)
    lines = [", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
             or "no cases"]
    lines += [f"{r['id']}: {r['outcome']}: {r.get('reason')}" for r in cases
              if r.get("outcome") not in ("ok", "unsupported")]
    passes = [r.get("details") or {} for r in records(folder / "results.jsonl")
              if r.get("record") == "profile_pass"]
    verdicts = collections.Counter(str(details["tensor_cores"]).split(" ")[0] for details in passes
                                   if "tensor_cores" in details)
    lines += [f"tensor cores {verdict}: {count} cases" for verdict, count in sorted(verdicts.items())]
    checks = [f"{name}: {details[name]}" for details in passes
              for name in ("check.tensor_operations", "check.dram_bytes") if name in details]
    return {"g": lines, "f": checks[:20]}


def check_answers(folder):
    answers = collections.defaultdict(list)
    for record in records(folder / "checks.jsonl"):
        question = record.get("question")
        if question in QUESTIONS:
            figures = {key: value for key, value in record.items() if key != "question"}
            answers[question].append(json.dumps(figures))
    return answers


def rules(result_file, bench, arch):
    """Status 1 where the rules promise what did not run, or the reverse."""
    differing = compared = 0
    for record in records(result_file):
        used = (record.get("details") or {}).get("tensor_cores", "")
        if record.get("record") != "profile_pass" or not used.startswith(("used", "not used")):
            continue
        explained = subprocess.run([bench, "explain", record["id"], "--arch", arch, "--json"],
                                   capture_output=True, text=True, check=False)
        if explained.returncode != 0:
            print(f"{record['id']}: {explained.stderr.strip()}")
            continue
        verdict = json.loads(explained.stdout)["cases"][0]["tensor_cores"]
        compared += 1
        if (verdict["verdict"] == "eligible") != used.startswith("used"):
            differing += 1
            print(f"{record['id']}: {verdict['verdict']} [{verdict['rule']}], but {used}")
    print(f"{compared} cases compared, {differing} differ")
    return 1 if differing or not compared else 0


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
    if len(sys.argv) >= 4 and sys.argv[1] == "product":
        return product(pathlib.Path(sys.argv[2]), [pathlib.Path(name) for name in sys.argv[3:]])
    if len(sys.argv) == 3 and sys.argv[1] == "answers":
        return answers(pathlib.Path(sys.argv[2]))
    if len(sys.argv) == 5 and sys.argv[1] == "rules":
        return rules(pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4])
    return __doc__


if __name__ == "__main__":
    sys.exit(main())

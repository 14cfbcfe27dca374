#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the output of ci/gpu_summary.py for small files, line by line."""

import gzip
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "ci" / "gpu_summary.py"


def case(name, nanoseconds=1000, outcome="ok", **details):
    record = {"record": "case", "id": name, "outcome": outcome, "details": details}
    if outcome == "ok":
        record["time"] = {"median_ns": nanoseconds}
    else:
        record["reason"] = "because"
    return record


def profile_pass(name, outcome="ok", reason=None, **details):
    details = {key.replace("__", "."): value for key, value in details.items()}
    record = {"record": "profile_pass", "id": name, "outcome": outcome, "details": details}
    return record | ({"reason": reason} if reason else {})


def eligible(name, word):
    record = case(name)
    record["details"] = {"tensor_cores.eligible": word, "tensor_cores.rule": "a-rule"}
    return record


class GpuSummary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, *rows):
        path = self.folder / name
        path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
        return path

    def run_program(self, *words):
        """Returns its status and the lines that it prints."""
        done = subprocess.run([sys.executable, PROGRAM, *words], capture_output=True, text=True,
                              check=False)
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stdout.splitlines()

    def analyzer(self, *rows):
        """Replaces `bench`: prints these rows of kernels, whatever the arguments."""
        self.write("kernels.csv", "case,name,tensor_cores,auxiliary", *rows)
        program = self.write("bench", "#!/bin/sh", f"cat '{self.folder}/kernels.csv'")
        program.chmod(0o755)
        return program

    def product(self, ours, theirs):
        torch = self.write("torch.jsonl", "no record", *(
            {"record": "torch_product", "size": 8192, "median_ns": time} for time in theirs))
        results = [self.write(f"{i}.jsonl", {"record": "run"}, case("gemm", time))
                   for i, time in enumerate(ours)]
        return self.run_program("product", torch, *results)

    def test_a_product_compares_medians(self):
        self.assertEqual(self.product([1030000, 5000000, 1000], [900000, 1000000, 1100000]), (0, [
            "product   bf16 8192^3: bench 1.030 ms, 0 void, 0 throttled, PyTorch 1.000 ms,"
            " ratio 1.0300 (wanted within 1.03)"]))

    def test_what_a_killed_run_has_compressed_is_read(self):
        torch = self.write("torch.jsonl", {"record": "torch_product", "size": 8192, "median_ns": 10})
        whole = gzip.compress(json.dumps(case("gemm", 10)).encode() + b"\n")
        later = gzip.compress(json.dumps(case("gemm", 1000)).encode() + b"\n")
        for end in (whole, later[:len(later) // 2], later[:3], b"\0\0"):
            (self.folder / "r.jsonl.gz").write_bytes(whole + end)
            _, lines = self.run_program("product", torch, self.folder / "r.jsonl")
            self.assertIn("ratio 1.0000", lines[0])

    def test_a_product_tells_its_clock_and_what_held_it_back(self):
        torch = self.write("torch.jsonl", {"record": "torch_product", "size": 8192, "median_ns": 10})
        record = case("gemm", 10) | {"clock_hz": 1410000000, "throttled": {"count": 52, "reasons": {}}}
        _, lines = self.run_program("product", torch, self.write("r.jsonl", record))
        self.assertIn("bench 0.000 ms at 1.41 GHz, 0 void, 52 throttled, PyTorch", lines[0])

    def goal(self, words):
        _, lines = self.run_program("goals", self.folder)
        return next(line for line in lines if words in line)

    def test_each_shape_is_compared_with_the_other_framework_and_tuning_with_the_default(self):
        torch = self.write("torch.jsonl", {"record": "torch_shape", "id": "conv/a", "median_ns": 2000},
                           {"record": "torch_shape", "id": "conv/b", "error": "no memory"})
        runs = [self.write(name, case("conv/a", time), case("conv/b", outcome="failed"))
                for name, time in (("untuned.1.jsonl", 1900), ("untuned.2.jsonl", 2300),
                                   ("tuned.1.jsonl", 2200), ("tuned.2.jsonl", 2200))]
        checks = self.folder / "checks.jsonl"
        self.assertEqual(self.run_program("frameworks", checks, torch, *runs), (0, [
            "shapes    conv/a: bench 2.10 us, tuned 2.20 us, PyTorch 2.00 us, ratio 1.05",
            "shapes    conv/b: bench n/a, tuned n/a, PyTorch n/a, ratio n/a"]))
        self.assertIn("MISSED        each shape takes at most PyTorch's time: worst 1.050: conv/a",
                      self.goal("each shape"))
        self.assertIn("MISSED", self.goal("tuned never slower"))
        self.assertIn("1.050 over 1 shapes", self.goal("geometric mean"))

    def test_one_wrong_operator_misses_the_goal_of_all(self):
        row = {"source": "/share/gpu_operators.yaml:3"}
        cases = [case("conv/a") | row, case("conv/b", outcome="unsupported") | row]
        self.write("results.jsonl", *cases, case("gemm/c", outcome="failed"))
        self.assertEqual(self.goal("operators"), "met           operators: none wrong or failed,"
                         " at most 19 unsupported: 1 ok, 1 unsupported")
        self.write("results.jsonl", *cases, case("conv/c", outcome="wrong_result") | row)
        self.assertTrue(self.goal("operators").startswith("MISSED"))

    def test_an_operator_that_another_configuration_has_too_is_counted(self):
        own, other = {"source": "gpu_operators.yaml:3"}, {"source": "transformer.yaml:5"}
        self.write("results.jsonl", case("softmax/a") | own, case("softmax/a") | other)
        self.assertIn("unsupported: 1 ok", self.goal("operators"))

    def test_the_network_is_shown_beside_the_other_framework(self):
        self.write("results.jsonl", case("network/forward/resnet50", 1250000))
        self.write("profiles.jsonl", {"record": "torch_network", "variant": "torch.compile",
                                      "median_ns": 1465000})
        self.assertTrue(self.goal("ResNet-50").startswith("met"))
        self.assertIn("1.250 ms, PyTorch torch.compile 1.465 ms", self.goal("ResNet-50"))

    def test_a_goal_that_nothing_measured_is_not_met(self):
        _, lines = self.run_program("goals", self.folder)
        self.assertEqual({line[:12] for line in lines[1:]}, {"not measured"})

    def peaks(self, *rows, clock=1000000):
        device = {"memory_clock_khz": clock, "memory_bus_bits": 64} if clock else {}
        report = self.write("device.json", {"report": {"devices": [device]}})
        peaks = self.write("peak.jsonl", *({"record": "peak", "gpu": "Fake GPU"} | row for row in rows))
        return self.run_program("peaks", self.folder / "checks.jsonl", report, peaks)

    def test_peaks_show_their_spread_and_become_figures(self):
        status, lines = self.peaks(
            {"name": "copy", "level": "dram", "bytes_per_s": 15e9},
            {"name": "gemm_f16", "flops_per_s": 794e12},
            {"name": "copy", "level": "dram", "bytes_per_s": 12e9},
            {"name": "dispatch", "ns": 900},
            {"name": "read", "level": "dram", "bytes_per_s": 99e9, "gpu": ""})
        self.assertEqual((status, lines), (0, [
            "peaks     copy dram: 12 GB/s to 15 GB/s, spread 20.0 % over 2 runs",
            "peaks     gemm_f16: 794 TFLOP/s to 794 TFLOP/s, spread 0.0 % over 1 runs",
            "peaks     dispatch: 900 ns to 900 ns, spread 0.0 % over 1 runs"]))
        self.write("device.json", {"report": {"devices": [{"name": "Fake GPU"}]}})
        _, table = self.run_program("table", self.folder)
        self.assertIn("| bench peak: copy dram | 12 GB/s to 15 GB/s | `peaks` |", table)

    def test_a_copy_above_the_bandwidth_of_clock_and_bus_fails(self):
        status, lines = self.peaks({"name": "copy", "level": "dram", "bytes_per_s": 16.1e9},
                                   {"name": "copy", "level": "l2", "bytes_per_s": 90e9})
        self.assertEqual(status, 1)
        self.assertIn("peaks     copy dram: more than the 16 GB/s of clock and bus", lines)
        self.assertEqual(len(lines), 3)

    def test_without_clock_and_bus_there_is_no_limit(self):
        status, lines = self.peaks({"name": "copy", "level": "dram", "bytes_per_s": 99e12}, clock=None)
        self.assertEqual(status, 0)
        self.assertIn("no limit is known", lines[-1])

    def test_no_peaks_are_a_failure(self):
        self.assertEqual(self.peaks(), (1, ["peaks     no figures: bench peak"]))

    def test_a_product_that_is_slower_fails(self):
        status, lines = self.product([1040000], [1000000])
        self.assertEqual(status, 1)
        self.assertIn("ratio 1.0400", lines[0])

    def test_a_product_without_figures_says_whose_are_missing(self):
        self.assertEqual(self.product([1000000], []), (0, [
            "product   gemm: bench 1.000 ms, 0 void, 0 throttled, PyTorch was not measured"]))
        failed = self.write("failed.jsonl", case("gemm", outcome="failed"))
        self.assertEqual(self.run_program("product", self.folder / "none.jsonl", failed),
                         (1, ["product   no figures: bench"]))

    def test_rules_agree(self):
        bench = self.analyzer("a,nvjet,used (name: nvjet),", "a,splitK,not used (name: plain),1",
                              "b,sgemm,not used (name: plain),")
        results = self.write(
            "r.jsonl", eligible("a", "eligible"), profile_pass("a", tensor_cores="used (counter)"),
            eligible("b", "not eligible"), profile_pass("b", tensor_cores="not used (counter)"),
            eligible("void", "eligible"), profile_pass("void", outcome="failed"))
        self.assertEqual(self.run_program("rules", bench, results), (0, [
            "rules     2 shapes; verdicts of counters 2 (wanted: 100), of names 2, of rules 2",
            "rules     names and counters: 2 of 2 agree",
            "rules     rules and counters: 2 of 2 agree, 0 missed",
            "rules     rules and names: 2 of 2 agree, 0 missed",
            "rules     kernel nvjet: by name used, by counters used 1",
            "rules     kernel sgemm: by name not used, by counters not used 1"]))

    def test_what_is_eligible_and_not_used_is_missed_and_contradicts_no_rule(self):
        bench = self.analyzer("a,sgemm,not used (name: plain),")
        results = self.write("r.jsonl", eligible("a", "eligible"),
                             profile_pass("a", tensor_cores="not used (counter)"))
        status, lines = self.run_program("rules", bench, results)
        self.assertEqual(status, 0)
        self.assertIn("rules     rules and counters: 0 of 1 agree, 1 missed", lines)

    def test_rules_that_differ_are_listed_with_their_kernels(self):
        bench = self.analyzer("a,convert,,", "a,sgemm,not used (name: plain),", "b,odd,,",
                              "c,nvjet,used (name: nvjet),", "c,convert,,")
        results = self.write(
            "r.jsonl", eligible("a", "not eligible"), profile_pass("a", tensor_cores="used (counter)"),
            eligible("b", "not applicable"), profile_pass("b", tensor_cores="used (counter)"),
            eligible("c", "eligible"),
            profile_pass("c", tensor_cores="used by 1 of 2 kernels (name: nvjet)",
                         counters="n/a: for administrators alone"))
        self.assertEqual(self.run_program("rules", bench, results), (1, [
            "rules     3 shapes; verdicts of counters 2 (wanted: 100), of names 1, of rules 2",
            "rules     names and counters: 0 of 0 agree",
            "rules     rules and counters: 0 of 1 agree, 0 missed",
            "rules     rules and names: 1 of 1 agree, 0 missed",
            "rules     counters n/a: for administrators alone",
            "rules     differs: a: rules not eligible [a-rule], names unknown, counters used: convert,"
            " sgemm",
            "rules     kernel odd: by name unknown, by counters used 1"]))

    def test_rules_without_anything_to_compare_fail(self):
        self.assertEqual(self.run_program("rules", self.analyzer(), self.folder / "none.jsonl")[0], 1)

    def test_kernels_of_all_passes_and_profiles(self):
        results = self.write(
            "r.jsonl", profile_pass("a", gpu__kernels="40", gpu1__kernels="2"),
            profile_pass("b", gpu__kernels="8", gpu__note="cold; 3 kernels belong to no known operator"),
            profile_pass("c", gpu__note="the device is not traced: no CUPTI"),
            profile_pass("d", outcome="failed", reason="7 records were dropped", gpu__kernels="5"))
        kernel = {"record": "activity", "kind": "kernel"}
        profile = self.write(
            "p.jsonl", {"record": "profile"}, kernel | {"name": "gemm", "attributes": {"op": "gemm"}},
            kernel | {"name": "relu", "scope": "layer"}, kernel | {"name": "tail"},
            kernel | {"name": "tail"}, {"record": "activity", "kind": "memcpy", "name": "copy"})
        self.assertEqual(self.run_program("kernels", profile, results), (1, [
            "kernels   bench run, 4 passes: 47 of 50 attributed",
            "kernels   bench run, 4 passes: no kernels: the device is not traced: no CUPTI",
            "kernels   bench run, 4 passes: not counted: 7 records were dropped",
            "kernels   p: 2 of 4 attributed",
            "kernels   p: unattributed tail (2)",
            "kernels   all kernels attributed: 49 of 54"]))

    def test_without_a_pass_no_kernel_is_missing(self):
        """`--only operators`, whose cases are not traced, used to fail."""
        results = self.write("r.jsonl", '{"record":"case","id":"a","outcome":"ok"}')
        self.assertEqual(self.run_program("kernels", results), (0, [
            "kernels   no pass and no profile was asked for"]))

    def test_kernels_that_all_have_an_owner(self):
        results = self.write("r.jsonl", profile_pass("a", gpu__kernels="5"))
        self.assertEqual(self.run_program("kernels", results), (0, [
            "kernels   bench run, 1 passes: 5 of 5 attributed",
            "kernels   all kernels attributed: 5 of 5"]))
        self.assertEqual(self.run_program("kernels")[0], 1)

    def test_a_pass_whose_counters_failed_was_traced_all_the_same(self):
        results = self.write("r.jsonl",
                             profile_pass("a", "failed", "counters: it hangs", gpu__kernels="3"),
                             profile_pass("b", "failed", "no memory", gpu__kernels="4"))
        self.assertEqual(self.run_program("kernels", results), (0, [
            "kernels   bench run, 2 passes: 3 of 3 attributed",
            "kernels   bench run, 2 passes: not counted: no memory",
            "kernels   all kernels attributed: 3 of 3"]))

    def write_answers(self):
        self.write("device.json", {"report": {
            "devices": [{"name": "GPU", "cudnn_properties": "{}", "nvml": {"ecc": False, "mig": None}}],
            "libraries": [{"name": "cuDNN", "version": "9.1", "path": "/lib/cudnn"},
                          {"name": "NVML", "version": "", "reason": "not found"}]}})
        self.write("checks.jsonl", *({"question": question, "check": "one", "us": 1.5}
                                     for question in "bcdeijklmn"), {"check": "of no question"})
        self.write("results.jsonl", case("a"), case("b", outcome="failed"),
                   case("c", outcome="unsupported"),
                   profile_pass("a", check__dram_bytes="1.000 of the model",
                                tensor_cores="not used (counter)"))

    def test_answers(self):
        self.write_answers()
        status, lines = self.run_program("answers", self.folder)
        self.assertEqual([line for line in lines if not line.startswith("(")], [
            "    GPU: described", "    cuDNN 9.1 /lib/cudnn", "    NVML of unknown version not found",
            *['    {"check": "one", "us": 1.5}'] * 4, "    a: check.dram_bytes: 1.000 of the model",
            "    1 failed, 1 ok, 1 unsupported", "    b: failed: because",
            "    tensor cores not used: 1 cases", "    GPU: ecc",
            *['    {"check": "one", "us": 1.5}'] * 6])
        self.assertEqual([line[1] for line in lines if line.startswith("(")], list("abcdefghijklmn"))
        self.assertEqual(status, 0)

    # The time limit may cut the steps that answer some of them.
    def test_a_question_without_an_answer_is_no_failure(self):
        self.write_answers()
        (self.folder / "results.jsonl").unlink()
        status, lines = self.run_program("answers", self.folder)
        self.assertEqual(status, 0)
        self.assertEqual(lines.count("    no answer"), 2)  # (f) and (g)

    def test_the_table_has_what_came_back_of_two_calls(self):
        first, second = self.folder / "a", self.folder / "b"
        first.mkdir()
        second.mkdir()
        self.write("a/device.json", {"report": {"driver_version": "580.1", "devices": [{"name": "GPU"}]}})
        # The second call was cut in the middle of a line after packing its results.
        self.write("a/checks.jsonl",
                   {"check": "stream against graph, 20 us", "stream_us": 21.5, "graph_us": 20.0},
                   {"check": "a tracer that begins after the context", "kernel_ns": 900,
                    "end_monotonic_ns": 1000, "end_realtime_ns": 10**18},
                   '{"check": "a product of 2048')
        with gzip.open(second / "results.jsonl.gz", "wt") as packed:
            packed.write(json.dumps(case("network/forward/n", 2500000)) + "\n")
        status, lines = self.run_program("table", first, second)
        self.assertEqual(status, 0)
        self.assertEqual(lines[0], "GPU, driver 580.1; each row by `ci/gpu_check.sh --only STEP FOLDER`:")
        for line in ("| kernel of 20 us by stream, by graph | 21.50 us, 20.00 us | `sampling` |",
                     "| kernel of 50 us by stream, by graph | not measured | `sampling` |",
                     "| clock of a tracer after the context | CLOCK_MONOTONIC | `late_tracing` |",
                     "| network | 2.500 ms | `network` |",
                     "| the same by PyTorch | not measured | `product` |",
                     "| cases | 1 ok | `shapes, operators` |"):
            self.assertIn(line, lines)

    def test_without_a_device_there_is_no_table(self):
        status, lines = self.run_program("table", self.folder)
        self.assertEqual(status, 0)
        self.assertEqual(lines, ["No figures: no device answered. `ci/gpu_check.sh FOLDER` makes them."])

    def test_what_is_no_command_is_told_the_usage(self):
        self.assertEqual(self.run_program("product"), (2, []))
        self.assertEqual(self.run_program(), (2, []))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Files of bench as records, and runs of the program."""

import builtins
import gzip
import importlib.util
import json
import os
import sys
import unittest
import unittest.mock

import bench_profile as bp
from bench_profile import _records
from tests.support import NEEDS_PROGRAM, TestInFolder

RUN = {"record": "run", "schema": "bench.result/1"}
CASE = {"record": "case", "id": "gemm/x", "outcome": "ok", "flags": ["noisy"],
        "time": {"median_ns": 2000, "low_ns": 1900, "high_ns": 2100}}
FAILED = {"record": "case", "id": "gemm/<y>", "outcome": "failed", "reason": "because", "flags": []}
# Every other measurement of bench on the machine would delay a test.
TINY = ["gemm/forward/m8n8k8/f32/onednn/cpu/hot", "--set", "measure.processes=1", "--set",
        "measure.max_time=1ms", "--set", "warmup.time=1ms", "--beside", "run"]


class Read(TestInFolder):
    def write_lines(self, name, *records, end="\n", opener=open):
        path = self.folder / name
        with opener(path, "wt", encoding="utf-8") as file:
            file.write("\n".join(map(json.dumps, records)) + end)
        return path

    def test_plain_and_compressed_files_have_the_same_records(self):
        plain = bp.read(self.write_lines("r.jsonl", RUN, CASE, FAILED))
        packed = bp.read(str(self.write_lines("r.data", RUN, CASE, FAILED, opener=gzip.open)))
        self.assertEqual(plain, [RUN, CASE, FAILED])
        self.assertEqual(packed, plain)
        self.assertEqual(plain.cases, [CASE, FAILED])
        self.assertEqual(repr(plain), f"<Records of {plain.path}: 1 run, 2 case>")
        self.assertEqual(bp.read(plain.path, "case"), [CASE, FAILED])

    def test_an_incomplete_last_line_is_ignored_with_a_warning(self):
        path = self.write_lines("r.jsonl", RUN, CASE, end='\n{"record": "ca')
        with self.assertWarnsRegex(UserWarning, "incomplete last line ignored"):
            self.assertEqual(len(bp.read(path)), 2)

    def test_a_record_after_an_incomplete_one_on_its_line_counts(self):
        path = self.folder / "r.jsonl"
        path.write_text('{"record":"run","sch{"record":"case","id":"a"}\n', encoding="utf-8")
        with self.assertWarnsRegex(UserWarning, "incomplete part of line 1 ignored"):
            self.assertEqual(bp.read(path), [{"record": "case", "id": "a"}])

    def test_another_file_is_an_error_with_its_line(self):
        path = self.write_lines("r.jsonl", RUN, {"name": "x"})
        with self.assertRaisesRegex(ValueError, r"r\.jsonl:2: the line is not a record of bench"):
            bp.read(path)
        with self.assertRaises(FileNotFoundError):
            bp.read(self.folder / "none.jsonl")

    def test_a_folder_is_that_of_a_gate(self):
        self.write_lines("gate.jsonl", RUN, {"record": "verdict", "id": "a", "verdict": "PASS"})
        self.assertEqual(bp.read(self.folder).of("verdict")[0]["verdict"], "PASS")

    def test_without_pandas_the_error_says_what_to_install(self):
        original = builtins.__import__

        def refuse(name, *arguments):
            if name == "pandas":
                raise ImportError
            return original(name, *arguments)
        with unittest.mock.patch.object(builtins, "__import__", refuse):
            with self.assertRaisesRegex(ImportError, "pip install pandas"):
                bp.read(self.write_lines("r.jsonl", RUN)).to_pandas()

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_a_row_per_case(self):
        table = bp.read(self.write_lines("r.jsonl", RUN, CASE, FAILED)).to_pandas()
        self.assertEqual(list(table["id"]), ["gemm/x", "gemm/<y>"])
        self.assertEqual(table["time.median_ns"][0], 2000)
        self.assertEqual(len(bp.read(self.folder / "r.jsonl").to_pandas("run")), 1)

    def test_the_table_of_cases_is_escaped(self):
        table = _records._table_of_cases([CASE, FAILED])
        self.assertIn("<td>gemm/x</td><td>2.000 us</td><td>5.00%</td><td>n/a</td>"
                      "<td>ok noisy</td>", table)
        self.assertIn("<td>gemm/&lt;y&gt;</td><td>n/a</td>", table)

    def test_times_have_four_digits(self):
        texts = [_records._format_time(ns) for ns in (7, 1234, 12345678, 2.5e9)]
        self.assertEqual(texts, ["7 ns", "1.234 us", "12.35 ms", "2.500 s"])


@NEEDS_PROGRAM
class Run(TestInFolder):
    def test_a_run_returns_its_cases(self):
        records = bp.run(*TINY)
        self.assertEqual([case["id"] for case in records.cases], [TINY[0]])
        self.assertEqual(records.cases[0]["outcome"], "ok")
        self.assertEqual(records.status, 0)
        self.assertEqual(records.of("end")[0]["exit"], 0)
        self.assertRegex(records.answer, "^Measured 1 case in ")
        page = records._repr_html_()
        self.assertIn(f"<td>{TINY[0]}</td>", page)
        self.assertIn("srcdoc=\"&lt;!DOCTYPE html&gt;", page)
        records.save_report(self.folder / "report.md")
        self.assertIn(TINY[0], (self.folder / "report.md").read_text(encoding="utf-8"))
        path = records.path
        del records
        self.assertFalse(os.path.exists(path))

    def test_a_named_result_file_is_kept_and_not_replaced(self):
        out = self.folder / "r.jsonl"
        self.assertEqual(bp.run(*TINY, out=out), bp.read(out))
        with self.assertRaisesRegex(bp.RunFailed, "--force"):
            bp.run(*TINY, out=out)

    def test_a_profile_comes_with_the_run(self):
        activities = bp.run(*TINY, "--profile").activities
        self.assertIn("primitive", {activity["kind"] for activity in activities})

    def test_a_run_that_measures_nothing_raises_its_message(self):
        config = self.write("bad.yaml", "version: 1\ncases:\n  - {op: gem, m: 1, n: 1, k: 1}\n")
        with self.assertRaisesRegex(bp.RunFailed, "bad.yaml:3.*gem") as caught:
            bp.run(config)
        self.assertEqual(caught.exception.status, 2)


class Interrupts(TestInFolder):
    def test_the_program_ends_its_measurement(self):
        # Interrupts the caller only, as a notebook does, and waits until the caller interrupts it.
        program = self.write("bench", f"""\
            #!{sys.executable}
            import os, pathlib, signal, sys
            def end(*arguments):
                pathlib.Path("ended").write_text("x")
                sys.exit(130)
            signal.signal(signal.SIGINT, end)
            os.kill(os.getppid(), signal.SIGINT)
            while True:
                signal.pause()
        """)
        program.chmod(0o755)
        script = self.write("script.py", """
            import tempfile
            import bench_profile as bp
            tempfile.tempdir = "."
            try:
                bp.run("x.yaml")
            except KeyboardInterrupt:
                print("interrupted")
        """)
        out, _ = self.run_python(script, BENCH=str(program))
        self.assertEqual(out.strip(), "interrupted")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()),
                         ["bench", "ended", "script.py"])


class Program(TestInFolder):
    def test_another_program_of_the_name_is_not_taken(self):
        self.write("bench", "#!/bin/sh\necho 5.22.6\n").chmod(0o755)
        variables = {"BENCH": "", "PATH": f"{self.folder}:{os.environ['PATH']}"}
        with unittest.mock.patch.dict(os.environ, variables), \
                unittest.mock.patch("bench_profile._program.source_checkout", return_value=None):
            with self.assertRaisesRegex(bp.ProgramNotFound, f"{self.folder}/bench is another"):
                bp.find_program()

    def test_a_program_on_path_is_found(self):
        path = self.write("bench", "#!/bin/sh\necho 'bench 0.1.0 (commit 0123abc)'\n")
        path.chmod(0o755)
        variables = {"BENCH": "", "PATH": f"{self.folder}:{os.environ['PATH']}"}
        with unittest.mock.patch.dict(os.environ, variables):
            self.assertEqual(bp.find_program(), str(path))

    def test_a_variable_that_names_no_program_is_an_error(self):
        with unittest.mock.patch.dict(os.environ, {"BENCH": "/no/such/program"}):
            with self.assertRaisesRegex(bp.ProgramNotFound, "/no/such/program, which is not"):
                bp.find_program()


if __name__ == "__main__":
    unittest.main()

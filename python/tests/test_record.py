# SPDX-License-Identifier: Apache-2.0
"""What a program records arrives in its profile."""

import asyncio
import json
import unittest

import bench_profile as bp
from tests.support import NEEDS_LIBRARY, TestInFolder, scopes


@NEEDS_LIBRARY
class Scopes(TestInFolder):
    def test_scopes_nest(self):
        found = self.profile("""
            with bp.scope("encoder"):
                with bp.scope("attention"):
                    pass
                with bp.scope("größe:1"):
                    pass
        """)
        self.assertEqual(scopes(found), ["encoder:attention", r"encoder:größe\:1", "encoder"])

    def test_each_call_of_a_decorated_function_is_a_scope(self):
        found = self.profile("""
            @bp.scope
            def load(depth):
                return load(depth - 1) if depth else 7

            @bp.scope("named")
            def other(*, key):
                return key

            assert load(1) == 7 and other(key=3) == 3 and load.__name__ == "load"
        """)
        self.assertEqual(scopes(found), ["load:load", "load", "named"])

    def test_exceptions_end_scopes(self):
        found = self.profile("""
            @bp.scope
            def fail():
                with bp.scope("inside"):
                    raise ValueError
            try:
                fail()
            except ValueError:
                pass
            with bp.scope("after"):
                pass
        """)
        self.assertEqual(scopes(found), ["fail:inside", "fail", "after"])

    def test_a_thread_begins_outside_of_the_scopes_of_others(self):
        found = self.profile("""
            import threading
            def work():
                with bp.scope("work"):
                    pass
            with bp.scope("main"):
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
        """)
        self.assertEqual(scopes(found), ["work", "main"])

    def test_a_scope_is_entered_again_only_after_its_end(self):
        scope = bp.scope("one")
        for _ in range(2):
            with scope:
                with self.assertRaisesRegex(RuntimeError, "'one' is open"):
                    scope.__enter__()


class SuspendedFunctions(unittest.TestCase):
    def test_they_are_refused(self):
        async def coroutine():
            await asyncio.sleep(0)

        def generator():
            yield 1
        for function in (coroutine, generator):
            with self.assertRaisesRegex(TypeError, "is suspended while others run"):
                bp.scope(function)


@NEEDS_LIBRARY
class Others(TestInFolder):
    def test_ranges_markers_and_counters(self):
        found = self.profile("""
            with bp.task("epoch", domain="training"):
                with bp.frame("step", domain="training"):
                    pass
            load = bp.event("load")
            load.start()
            load.stop()
            load.stop()  # has ended: records nothing
            bp.mark("checkpoint", domain="training", extent="thread")
            samples = bp.counter("samples", domain="training", value=1)
            samples += 32
            samples -= 3
            samples.set(2**70)
            assert samples.value == 2**63 - 1
        """)
        rows = [(a["kind"], a["name"], a["attributes"].get("domain"), a["attributes"].get("role"))
                for a in found if a["kind"] != "process"]
        self.assertEqual(rows[:4], [("range", "step", "training", "frame"),
                                    ("range", "epoch", "training", "task"),
                                    ("range", "load", None, "event"),
                                    ("marker", "checkpoint", "training", None)])
        self.assertEqual(found[3]["attributes"]["marker_scope"], "thread")
        values = [a["attributes"]["value"] for a in found if a["kind"] == "counter"]
        self.assertEqual(values, [33, 30, 2.0**63])

    def test_an_unknown_extent_is_refused(self):
        with self.assertRaisesRegex(ValueError, "expected one of global, process"):
            bp.mark("x", extent="galaxy")


@NEEDS_LIBRARY
class Control(TestInFolder):
    def test_nothing_is_recorded_in_a_pause_and_after_stop(self):
        found = self.profile("""
            for name, call in (("a", bp.pause), ("b", bp.resume), ("c", bp.stop), ("d", bp.start)):
                with bp.scope(name):
                    pass
                call()
            assert bp.recording() and bp.file() == "profile.jsonl"
            with bp.scope("e"):
                pass
            bp.dump()
            assert [a["name"] for a in bp.read("profile.jsonl", "activity")].count("e") == 1
            with bp.scope("f"):  # written at the end of the program
                pass
        """)
        self.assertEqual(scopes(found), ["a", "c", "e", "f"])

    def test_dumps_has_a_row_per_name(self):
        script = self.write("script.py", """
            import bench_profile as bp
            bp.start()
            for number in range(200):
                with bp.scope(f"layer{number}"):
                    pass
            print(bp.dumps("json", reset=True))
            assert "layer7" not in bp.dumps(sort="count", order="ascending")
        """)
        out, _ = self.run_python(script, BENCH_PROFILE_FILE="other.jsonl")
        self.assertIn("layer199", json.dumps(json.loads(out)))
        self.assertEqual(len(scopes(bp.read(self.folder / "other.jsonl").activities)), 200)

    def test_what_the_profiler_refuses_is_an_exception_with_the_reason(self):
        script = self.write("script.py", """
            import bench_profile as bp
            for arguments in ({"file": "no/such/folder/p.jsonl"}, {"kinds": ["operators", "x"]}):
                try:
                    bp.start(**arguments)
                except bp.ProfileError as error:
                    print(error)
        """)
        out, _ = self.run_python(script)
        folder, kinds = out.splitlines()
        self.assertIn("no/such/folder/p.jsonl", folder)
        self.assertIn("unknown word", kinds)

    def test_package_and_library_have_one_version(self):
        self.assertEqual(bp.version(), bp.__version__)


@NEEDS_LIBRARY
class RunModule(TestInFolder):
    def test_a_script_is_recorded_without_a_change(self):
        self.write("beside.py", "VALUE = 5")
        self.write("script.py", """
            import sys
            import beside
            import bench_profile as bp
            with bp.scope("work"):
                assert __name__ == "__main__" and beside.VALUE == 5
            print(sys.argv)
            sys.exit(int(sys.argv[2]))
        """)
        out, errors = self.run_python("-m", "bench_profile", "-o", "p.jsonl", "script.py", "-o",
                                      "3", status=3)
        self.assertEqual(out.strip(), "['script.py', '-o', '3']")
        self.assertIn("the profile is p.jsonl; next: bench analyze p.jsonl", errors)
        self.assertEqual(scopes(bp.read(self.folder / "p.jsonl").activities), ["work"])

    def test_a_module_is_run(self):
        self.write("module.py", """
            import bench_profile as bp
            with bp.scope(__name__):
                raise ValueError("of the module")
        """)
        _, errors = self.run_python("-m", "bench_profile", "-o", "p.jsonl", "-m", "module",
                                    status=1)
        self.assertIn("ValueError: of the module", errors)
        self.assertEqual(scopes(bp.read(self.folder / "p.jsonl").activities), ["__main__"])

    def test_autostart_begins_with_the_first_call(self):
        script = self.write("script.py", """
            import bench_profile as bp
            with bp.scope("work"):
                pass
        """)
        self.run_python(script, BENCH_PROFILE_AUTOSTART="1", BENCH_PROFILE_FILE="p.jsonl")
        self.assertEqual(scopes(bp.read(self.folder / "p.jsonl").activities), ["work"])

    def test_a_missing_script_is_named(self):
        _, errors = self.run_python("-m", "bench_profile", "none.py", status=1)
        self.assertEqual(errors.strip(), "python -m bench_profile: none.py does not exist")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the job files of ci/recipes.

  GitHub Actions, GitLab CI   against the schemas of their formats, as check-jsonschema ships them
  GitHub Actions              also the permissions: a job that runs the code of a pull request can write nothing
  Jenkinsfile                 quotes, brackets, and which section is in which one (the parser of Jenkins needs a server)

tests/perf_gate_test.sh and tests/library_gate_test.sh execute their scripts. Only the CI systems themselves check
actions, images and caches.

usage: check_recipes.py [FOLDER]       exit status 77 if all other checks pass but check-jsonschema is not installed
       check_recipes.py --self-test    check the checker on job files with known errors
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# ci/setup installs the version that ci/requirements/recipes.txt pins.
SCHEMA_CHECKER = ROOT / "build/deps/venv/bin/check-jsonschema"
SKIPPED = 77

# Sections of a declarative pipeline: what each one may contain. None: steps or conditions, which are not checked.
STAGE = {"agent", "environment", "input", "options", "post", "stages", "steps", "tools", "when"}
SECTIONS = {
    "": {"pipeline"},
    "pipeline": {"agent", "environment", "options", "parameters", "post", "stages", "tools", "triggers"},
    "stages": {"stage"},
    "stage": STAGE,
    "post": {"aborted", "always", "changed", "cleanup", "failure", "fixed", "regression", "success", "unstable"},
}
REQUIRED = {"pipeline": {"agent", "stages"}, "stage": {"steps"}}
CLOSING = {"(": ")", "[": "]", "{": "}"}

JENKINS_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\w+|[^\w\s]""", re.S)


def jenkins_tokens(text):
    """Yields (line, token); a string is one token."""
    for match in JENKINS_TOKEN.finditer(text):
        if not match[0].startswith(("//", "/*")):
            yield text.count("\n", 0, match.start()) + 1, match[0]


class JenkinsChecker:
    """Reads the tokens of a Jenkinsfile; `errors` are (line, text)."""

    def __init__(self):
        self.errors = []
        self.open = []  # (bracket, name of the section, line, names in it)
        self.name = ""  # what a brace would open
        self.names = set()  # at the top level

    def begin(self, line, bracket):
        name = self.name if bracket == "{" else ""
        if bracket == "{":
            parent, _ = self.enclosing()
            allowed = SECTIONS.get(parent)
            if allowed is not None and name not in allowed:
                self.errors.append((line, f"`{name}` cannot be in {f'`{parent}`' if parent else 'the file'}"))
        self.open.append((bracket, name, line, set()))

    def enclosing(self):
        for bracket, name, _, names in reversed(self.open):
            if bracket == "{":
                return name, names
        return "", self.names

    def end(self, line, bracket):
        if not self.open or CLOSING[self.open[-1][0]] != bracket:
            self.errors.append((line, f"`{bracket}` closes nothing"))
            return
        opening, name, begin, names = self.open.pop()
        if opening == "{":
            for missing in sorted(REQUIRED.get(name, set()) - names):
                self.errors.append((begin, f"`{name}` lacks `{missing}`"))

    def check(self, text):
        line = 1
        for line, token in jenkins_tokens(text):
            if token in ("'", '"'):
                self.errors.append((line, "a string does not end"))
            elif token in CLOSING:
                self.begin(line, token)
            elif token in CLOSING.values():
                self.end(line, token)
            elif re.fullmatch(r"\w+", token) and not any(bracket == "(" for bracket, *_ in self.open):
                self.name = token
                parent, names = self.enclosing()
                if token in SECTIONS.get(parent, ()):
                    names.add(token)  # `agent any` has no brace
        self.errors += [(begin, f"`{bracket}` is not closed") for bracket, _, begin, _ in self.open]
        if "pipeline" not in self.names:
            self.errors.append((line, "contains no `pipeline`"))
        return self.errors


def check_jenkins(text):
    return JenkinsChecker().check(text)


def check_github(text):
    """Returns what would give the code of a pull request more than it may have."""
    errors = []
    if "pull_request_target" in text:
        errors.append((1, "`pull_request_target` runs the code of a fork with the rights of the project"))
    head, _, jobs = text.partition("\njobs:\n")
    has_default = re.search(r"^permissions:", head, flags=re.M) is not None
    for job in re.split(r"^(?=  \w+:\n)", jobs, flags=re.M):
        name = job.split(":", 1)[0].strip()
        if not name:
            continue
        if not has_default and not re.search(r"^    permissions:", job, flags=re.M):
            errors.append((1, f"the job `{name}` states no permissions, so it has those of the project"))
        if "actions/checkout@" in job and re.search(r"^      [\w-]+: write\b|^    permissions: write-all", job, flags=re.M):
            errors.append((1, f"the job `{name}` runs the code of the pull request and may write"))
        if "actions/checkout@" in job and "persist-credentials: false" not in job:
            errors.append((1, f"the job `{name}` leaves its token in the checkout; add persist-credentials: false"))
        if "actions/upload-artifact@" in job and "if-no-files-found: error" not in job:
            errors.append((1, f"the job `{name}` passes without a report; add if-no-files-found: error"))
    return errors


def check_gitlab(_):
    return []  # its schema says everything


# Name of a recipe -> its checker, and the options of check-jsonschema for its schema.
KINDS = {
    "github.yml": (check_github, ["--builtin-schema", "vendor.github-workflows"]),
    "gitlab.yml": (check_gitlab, ["--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"]),
    "Jenkinsfile": (check_jenkins, None),
}


def check_schema(path, options):
    """Returns the output of check-jsonschema if the file violates its schema, else an empty text."""
    done = subprocess.run([SCHEMA_CHECKER, *options, path], capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else ""


def check_folder(folder):
    recipes = sorted(path for path in folder.rglob("*") if path.name in KINDS)
    has_schemas = SCHEMA_CHECKER.exists()
    failed = not recipes
    if not recipes:
        print(f"{folder}: contains no recipe; they are named {', '.join(KINDS)}")
    for path in recipes:
        check, schema = KINDS[path.name]
        errors = [f"{path}:{line}: {text}" for line, text in check(path.read_text(encoding="utf-8"))]
        violation = check_schema(path, schema) if schema and has_schemas else ""
        if violation:
            errors.append(f"{path}: {violation}")
        failed = failed or bool(errors)
        print("\n".join(errors or [f"{path}: ok" if has_schemas or not schema else f"{path}: schema NOT checked"]))
    if failed:
        return 1
    if not has_schemas:
        print(f"skipped the schemas: {SCHEMA_CHECKER} is not installed; run ci/setup")
        return SKIPPED
    return 0


JENKINS = "pipeline { agent any\nstages { stage('a') { steps { sh 'x' } } } }\n"
GITHUB = """on: pull_request
permissions: {}
jobs:
  gate:
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@v4
        with:
          persist-credentials: false
"""
# (checker, text, a part of the expected error; None if the text is right)
EXAMPLES = [
    (check_jenkins, JENKINS, None),
    (check_jenkins, JENKINS + "}", "`}` closes nothing"),
    (check_jenkins, JENKINS.replace("} }", "}", 1), "is not closed"),
    (check_jenkins, JENKINS.replace("'x'", "'x"), "a string does not end"),
    (check_jenkins, JENKINS.replace("steps", "step"), "`step` cannot be in `stage`"),
    (check_jenkins, JENKINS.replace("{ steps { sh 'x' } }", "{ when { changeRequest() } }"), "`stage` lacks `steps`"),
    (check_jenkins, JENKINS.replace("agent any\n", ""), "`pipeline` lacks `agent`"),
    (check_jenkins, "// pipeline {}\n", "contains no `pipeline`"),
    (check_github, GITHUB, None),
    (check_github, GITHUB.replace("on: pull_request", "on: pull_request_target"), "with the rights of the project"),
    (check_github, GITHUB.replace("contents: read", "contents: write"), "and may write"),
    (check_github, GITHUB.replace("permissions", "x"), "states no permissions"),
    (check_github, GITHUB.replace("persist-credentials: false", "fetch-depth: 0"), "leaves its token"),
    (check_github, GITHUB + "      - uses: actions/upload-artifact@v4\n", "passes without a report"),
]


def self_test():
    failed = False
    for check, text, expected in EXAMPLES:
        errors = [error for _, error in check(text)]
        if errors if expected is None else not any(expected in error for error in errors):
            failed = True
            print(f"{check.__name__}: expected {expected}, got {errors}, for:\n{text}")
    return int(failed)


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        return self_test()
    return check_folder(pathlib.Path(arguments[0]) if arguments else pathlib.Path("ci/recipes"))


if __name__ == "__main__":
    sys.exit(main())

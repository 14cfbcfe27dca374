#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of a recipe of docs/ci as its CI system does, in the current folder.

usage: run_recipe.py RECIPE

The environment has the variables that the CI system sets. What GitHub inserts into a step comes from
PULL_BASE (the commit that the pull request is for), PULL_REPOSITORY (its repository, for a fork another one
than GITHUB_REPOSITORY). The exit status is that of the first step that fails, else 0.
"""

import os
import pathlib
import re
import subprocess
import sys

EXPRESSIONS = {
    "github.event.pull_request.base.sha": "$PULL_BASE",
    "github.event.pull_request.number": "7",
    "github.token": "token",
}
CONDITIONS = {
    "always()": "true",
    "github.event.pull_request.head.repo.full_name == github.repository": '[ "$PULL_REPOSITORY" = "$GITHUB_REPOSITORY" ]',
    "hashFiles('gate/gate.md') != ''": "[ -f gate/gate.md ]",
}


def github_steps(text):
    """Returns (condition, environment, script) of each step that runs a script."""
    steps = []
    for item in re.split(r"^ {6}- ", text.split("    steps:\n", 1)[1], flags=re.M)[1:]:
        block = re.search(r"^ {8}run: \|\n((?: {10}.*\n|\n)+)", item, flags=re.M)
        line = re.search(r"^ {8}run: ([^|\n].*)$", item, flags=re.M)
        if not block and not line:
            continue  # an action
        script = re.sub(r"^ {10}", "", block[1], flags=re.M) if block else line[1]
        condition = re.search(r"^ {8}if: (.*)$", item, flags=re.M)
        environment = dict(re.findall(r"^ {10}([A-Z_]+): (.*)$", item, flags=re.M))
        steps.append((condition[1] if condition else None, environment, script))
    return steps


def gitlab_steps(text):
    script = re.search(r"^  script:\n((?:    - .*\n)+)", text, flags=re.M)
    return [(None, {}, line) for line in re.findall(r"^    - (.*)$", script[1], flags=re.M)]


def jenkins_steps(text):
    return [(None, {}, line) for line in re.findall(r"^\s+sh '(.*)'$", text, flags=re.M)]


def insert(text):
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: os.path.expandvars(EXPRESSIONS[match[1]]), text)


def holds(condition):
    terms = [CONDITIONS[term] for term in condition.split(" && ")]
    return subprocess.run(["bash", "-c", " && ".join(terms)]).returncode == 0


def main():
    recipe = pathlib.Path(sys.argv[1])
    readers = {"github.yml": github_steps, "gitlab.yml": gitlab_steps, "Jenkinsfile": jenkins_steps}
    steps = readers[recipe.name](recipe.read_text(encoding="utf-8"))
    if not steps:
        sys.exit(f"{recipe}: no steps")
    status = 0
    for condition, environment, script in steps:
        if status != 0 if condition is None else not holds(condition):
            continue
        added = {name: insert(value) for name, value in environment.items()}
        done = subprocess.run(["bash", "-e", "-c", insert(script)], env=os.environ | added)
        status = status or done.returncode
    sys.exit(status)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the jobs of a recipe of ci/recipes as its CI system does, one after the other in the current folder.

usage: run_recipe.py RECIPE

The environment has the variables that the CI system sets. What GitHub inserts into a step comes from
PULL_BASE (the commit that the pull request is for), PULL_REPOSITORY (its repository, for a fork another one
than GITHUB_REPOSITORY). Actions, caches, images and what GitLab runs before a script are left out. The exit
status is that of the first step that fails, else 0; a job of GitLab that may fail does not count.
"""

import os
import pathlib
import re
import subprocess
import sys

EXPRESSIONS = {
    "github.event.pull_request.base.sha": "$PULL_BASE",
    "github.event.pull_request.number": "7",
    "github.repository": "$GITHUB_REPOSITORY",
    "github.token": "token",
}
CONDITIONS = {
    "always()": "true",
    "github.event.pull_request.head.repo.full_name == github.repository": '[ "$PULL_REPOSITORY" = "$GITHUB_REPOSITORY" ]',
}


class Step:
    """A script of a job, its variables, and when it runs (None: if no step of its job has failed)."""

    def __init__(self, script, condition=None, environment=None):
        self.script, self.condition, self.environment = script, condition, environment or {}


class Job:
    """The steps of a job; when it runs (None: if no job has failed); whether its failure counts."""

    def __init__(self, steps, condition=None, counts=True):
        self.steps, self.condition, self.counts = steps, condition, counts


def split_jobs(text, name):
    """Returns the texts that follow the lines which match `name`."""
    return re.split(name, text, flags=re.M)[1:]


def github_jobs(text):
    jobs = []
    for job in split_jobs(text.split("\njobs:\n", 1)[1], r"^  \w+:\n"):
        condition = re.search(r"^ {4}if: (.*)$", job, flags=re.M)
        jobs.append(Job(github_steps(job), condition and condition[1]))
    return jobs


def github_steps(job):
    steps = []
    for item in re.split(r"^ {6}- ", job.split("    steps:\n", 1)[1], flags=re.M)[1:]:
        block = re.search(r"^ {8}run: \|\n((?: {10}.*\n|\n)+)", item, flags=re.M)
        line = re.search(r"^ {8}run: ([^|\n].*)$", item, flags=re.M)
        if not block and not line:
            continue  # an action
        script = re.sub(r"^ {10}", "", block[1], flags=re.M) if block else line[1]
        condition = re.search(r"^ {8}if: (.*)$", item, flags=re.M)
        environment = dict(re.findall(r"^ {10}([A-Z_]+): (.*)$", item, flags=re.M))
        steps.append(Step(script, condition and condition[1], environment))
    return steps


def gitlab_jobs(text):
    jobs = []
    for job in split_jobs(text, r"^[\w-]+:\n"):
        script = re.search(r"^  script:\n((?:    - .*\n|      .*\n)+)", job, flags=re.M)[1]
        items = [re.sub(r"^ {2}|^\|\n", "", item, flags=re.M) for item in re.split(r"^    - ", script, flags=re.M)[1:]]
        always = "always()" if re.search(r"^      when: always$", job, flags=re.M) else None
        counts = not re.search(r"^  allow_failure: true$", job, flags=re.M)
        jobs.append(Job([Step(item) for item in items], always, counts))
    return jobs


def jenkins_jobs(text):
    return [Job([Step(line) for line in re.findall(r"^\s+sh '(.*?)'(?: //.*)?$", text, flags=re.M)])]


def insert(text):
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: os.path.expandvars(EXPRESSIONS[match[1]]), text)


def holds(condition):
    terms = [CONDITIONS[term] for term in condition.split(" && ")]
    return subprocess.run(["bash", "-c", " && ".join(terms)]).returncode == 0


def run_job(job):
    """Returns the exit status of the first step that fails, or 0."""
    status = 0
    for step in job.steps:
        if status != 0 if step.condition is None else not holds(step.condition):
            continue
        added = {name: insert(value) for name, value in step.environment.items()}
        done = subprocess.run(["bash", "-e", "-c", insert(step.script)], env=os.environ | added)
        status = status or done.returncode
    return status


def main():
    recipe = pathlib.Path(sys.argv[1])
    readers = {"github.yml": github_jobs, "gitlab.yml": gitlab_jobs, "Jenkinsfile": jenkins_jobs}
    jobs = readers[recipe.name](recipe.read_text(encoding="utf-8"))
    if not any(job.steps for job in jobs):
        sys.exit(f"{recipe}: no steps")
    status = 0
    for job in jobs:
        if status != 0 if job.condition is None else not holds(job.condition):
            continue
        result = run_job(job)
        status = status or (result if job.counts else 0)
    sys.exit(status)


main()

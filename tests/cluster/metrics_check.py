#!/usr/bin/env python3
"""Strict about what a page of metrics may be, and whether it has all that the dashboard and the alert rules name.

metrics_check.py PAGE...           each is valid text format with good names
metrics_check.py --named-in PAGE   deploy/grafana and deploy/prometheus are valid, and name only what the page has
metrics_check.py --value PAGE SERIES  prints the value of one series, as it is written on the page
"""
import json
import os
import re
import shutil
import subprocess
import sys

import yaml

DEPLOY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "deploy")
NAME = r"[a-z][a-z0-9_]*"
LABEL = r'[a-z][a-z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(\{{{LABEL}(?:,{LABEL})*\}})? (-?[0-9.]+(?:e[+-]?[0-9]+)?|NaN|[+-]Inf)$")
NO_BASE_UNIT = re.compile(r"(micros|millis|milliseconds|microseconds|minutes|hours|kilobytes|megabytes|percent)")


def fail(text):
    sys.exit(f"metrics_check: {text}")


def parse(path):
    """Families, name -> kind; series, text -> value."""
    families, series, helped, current = {}, {}, set(), None
    with open(path, encoding="utf-8") as page:
        text = page.read()
    if not text.endswith("\n"):
        fail(f"{path}: the last line does not end")
    for number, line in enumerate(text.split("\n")[:-1], 1):
        where = f"{path}:{number}"
        if match := re.fullmatch(rf"# HELP ({NAME}) (\S.*)", line):
            current = match.group(1)
            if current in helped:
                fail(f"{where}: {current} comes twice")
            helped.add(current)
        elif match := re.fullmatch(rf"# TYPE ({NAME}) (counter|gauge)", line):
            if match.group(1) != current:
                fail(f"{where}: TYPE without its HELP")
            families[current] = match.group(2)
        elif match := SAMPLE.fullmatch(line):
            if match.group(1) != current or current not in families:
                fail(f"{where}: {match.group(1)} is not below its HELP and TYPE")
            key = match.group(1) + (match.group(2) or "")
            if key in series:
                fail(f"{where}: {key} comes twice")
            series[key] = float(match.group(3))
        else:
            fail(f"{where}: {line!r}")
    for name, kind in families.items():
        if (kind == "counter") != name.endswith("_total"):
            fail(f"{path}: {name} is a {kind}")
        if NO_BASE_UNIT.search(name):
            fail(f"{path}: {name} is in no base unit")
        if not any(key.split("{")[0] == name for key in series):
            fail(f"{path}: {name} has no sample")
        labels = {tuple(re.findall(r'([a-z0-9_]+)="', key)) for key in series if key.split("{")[0] == name}
        if len(labels) != 1:
            fail(f"{path}: {name} has different labels: {labels}")
    return families, series


def lint(path):
    if shutil.which("promtool"):
        with open(path, "rb") as page:
            done = subprocess.run(["promtool", "check", "metrics"], stdin=page, capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stderr.strip():
            fail(f"{path}: promtool: {done.stdout}{done.stderr}")


def expressions():
    """Every PromQL expression of deploy/, with where it is."""
    with open(f"{DEPLOY}/grafana/croft.json", encoding="utf-8") as file:
        dashboard = json.load(file)
    ids = [panel["id"] for panel in dashboard["panels"]]
    if len(set(ids)) != len(ids):
        fail("croft.json: two panels have one id")
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]
    with open(f"{DEPLOY}/prometheus/alerts.yml", encoding="utf-8") as file:
        for group in yaml.safe_load(file)["groups"]:
            for rule in group["rules"]:
                missing = {"summary", "action"} - set(rule["annotations"])
                if missing or "severity" not in rule["labels"] or "for" not in rule:
                    fail(f"alert {rule['alert']} lacks {missing or 'severity or for'}")
                yield rule["alert"], rule["expr"]
    with open(f"{DEPLOY}/prometheus/scrape.yml", encoding="utf-8") as file:
        if {job["job_name"] for job in yaml.safe_load(file)["scrape_configs"]} != {"croft-control", "croft-agent"}:
            fail("scrape.yml: jobs are croft-control and croft-agent")


def check_named(path):
    families, series = parse(path)
    count = 0
    for where, expression in expressions():
        bare = re.sub(r'"[^"]*"', '""', expression)
        for name in re.findall(r"\b(?:croft|process)_[a-z0-9_]+", bare):
            count += 1
            if name not in families:
                fail(f"{where}: there is no metric {name}")
        for name, selector in re.findall(r"\b((?:croft|process)_[a-z0-9_]+)\{([^}]*)\}", expression):
            labels = set(re.findall(r"([a-z0-9_]+)=~?\"", selector)) - {"job", "instance"}
            if not any(key.startswith(name + "{") and labels <= set(re.findall(r'([a-z0-9_]+)="', key)) for key in series) and labels:
                fail(f"{where}: {name} has not the labels {sorted(labels)}")
    if count < 30:
        fail(f"only {count} metrics are named")
    if shutil.which("promtool"):
        subprocess.run(["promtool", "check", "rules", f"{DEPLOY}/prometheus/alerts.yml"], check=True, stdout=subprocess.DEVNULL)


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--named-in"]:
        check_named(arguments[1])
    elif arguments[:1] == ["--value"]:
        print(f"{parse(arguments[1])[1].get(arguments[2], 'absent'):g}" if arguments[2] in parse(arguments[1])[1] else "absent")
    else:
        for path in arguments:
            parse(path)
            lint(path)


main()

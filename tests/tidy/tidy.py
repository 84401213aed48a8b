#!/usr/bin/env python3
"""Style as a test: the include table, sizes, banned calls, forgotten tests. Prints one line per violation; exit 1 if there is one."""
import os
import re
import subprocess
import sys

ROOT = os.environ.get("CROFT_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Who may include whose headers (ARCHITECTURE.md, "Who may include whom"). A folder may always include itself; the longest prefix decides.
MESSAGES = ["croft/v1", "croft/node/v1"]
CONTRACT = ["proto/base", "proto/contract"] + MESSAGES
MAY_INCLUDE = {
    "proto/base": [],
    "proto/comments": ["proto/base"] + MESSAGES,
    "proto/contract": ["proto/base"] + MESSAGES,
    "proto/metrics": ["proto/base", "proto/contract"],
    "provisioning": CONTRACT,
    "control/domain": CONTRACT + ["provisioning", "control/store/store.h", "control/store/conflicts.h", "control/identity/tokens.h"],
    "control/store": CONTRACT,
    "control/private_database": ["proto/base"],
    "control/feed": CONTRACT + ["control/store/store.h"],
    "control/identity": CONTRACT + ["control/store/store.h"],
    "control/reports": CONTRACT + ["control/store/store.h", "control/store/counter_history.h"],
    "control/operations": CONTRACT + ["control/domain", "control/store/store.h"],
    "control/api": CONTRACT + ["control/domain", "control/feed", "control/identity", "control/operations", "control/reports", "control/store/store.h"],
    "control/metrics": CONTRACT + ["control/api/db_executor.h", "control/feed/feed.h", "control/reports", "control/store/store.h", "proto/metrics"],
    "control/gateway": CONTRACT + ["control/api", "control/domain", "control/identity", "proto/comments"],
    "control/backup": ["proto/base", "control/data_directory.h", "control/settings.h", "control/identity", "control/private_database",
                       "control/store/database_snapshot.h"],
    "control/main.cc": CONTRACT + ["control"],
    "control": CONTRACT + ["control", "proto/metrics"],
    "node/link": ["proto/base"] + MESSAGES,
    "node/counters": ["proto/base", "proto/contract"],
    "node/launcher": ["proto/base", "node/link", "node/counters/counter_memory.h"] + MESSAGES,
    "node/replica": CONTRACT,
    "node/agent": CONTRACT + ["node/replica", "node/link", "node/counters", "proto/metrics"],
    "node/listener": CONTRACT + ["node/replica/reader.h", "node/replica/replica_format.h", "node/replica/damage.h", "node/link", "node/counters"],
    "node/worker": CONTRACT + ["node/link", "node/counters"],
    "admin-cli": CONTRACT + ["proto/comments"],
}

# Libraries with one named home: replacing one touches one folder.
HOMES = {
    r"<pqxx/": ["control/store"],
    r"<lmdb\.h>": ["node/replica"],
    r"<prometheus/": ["proto/metrics"],
    r"<nghttp2/": ["node/listener", "node/worker"],
    r"<grpcpp/|\.grpc\.pb\.h": ["control/api", "control/main.cc", "control/settings", "node/agent", "admin-cli"],
    r"<boost/beast": ["node/listener", "control/gateway"],
    r"<boost/": ["node/agent", "node/listener", "node/worker", "control/gateway"],
    r"<openssl/": ["control/identity", "control/api", "node/agent", "control/domain", "control/store", "admin-cli/server_certificate"],
    r"<yaml-cpp/": ["proto/contract", "node/agent", "admin-cli", "control/identity"],
    r"<spdlog/": ["proto/base"],
    r"<unicode/": ["proto/contract", "admin-cli/text_width"],
    r"<CLI/": ["admin-cli", "control", "node/launcher", "node/agent"],
}
# Headers must not drag these in: two cores compile gRPC slowly.
HEADER_BANNED = [r"<pqxx/", r"<grpcpp/", r"\.grpc\.pb\.h"]

BANNED = [
    (r"\bthrow\b(?!\(\))", "no throw in our code: return absl::Status", ["tests/"]),
    (r"(?<!_ptr<)(?<!>\()\bnew [A-Z_a-z:]+[({<]", "no raw new: std::make_unique", ["control/api/", "tests/"]),
    (r"\bsleep_for\b|\busleep\(|[^_]\bsleep\(", "no sleeps: wait for what you wait for, with a deadline", ["tests/"]),
    (r"\bstd::system\(|\bpopen\(", "no shell", []),
    (r"\bstrcpy\(|\bsprintf\(|\bstrcat\(", "no unbounded C strings", []),
    (r"\brand\(\)", "proto/base/random.h", []),
    (r"std::cout\b|std::cerr\b", "proto/base/log.h, or stdio for a program's results", ["tests/"]),
    (r"\bTO" r"DO\b|\bFIX" r"ME\b|\bXX" r"X\b", "finish it, or say it in an issue", []),
    (r"^class \w*(Manager|Helper|Util|Data|Info|Base)\b", "say what it is", []),
]

LINES_HARD = 800
HEADER_LINES_HARD = 300
FUNCTION_LINES = 70
# Known exceptions, by name; they may only shrink.
FUNCTION_EXCEPTIONS = {}
COLUMNS = 100


def sources():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "*.cc", "*.h"],
                            capture_output=True, text=True, check=True).stdout.split("\n")
    return sorted(f for f in set(listed) if f and os.path.exists(os.path.join(ROOT, f)))


def folder_rule(path):
    best = ""
    for prefix in MAY_INCLUDE:
        if (path == prefix or path.startswith(prefix + "/")) and len(prefix) > len(best):
            best = prefix
    return best


def within(path, prefixes):
    return any(path == p or path.startswith(p.rstrip("/") + "/") or path.startswith(p + ".") for p in prefixes)


def check_includes(path, lines, report):
    rule = folder_rule(path)
    for number, line in enumerate(lines, 1):
        match = re.match(r'#include (["<])([^">]+)[">]', line)
        if not match:
            continue
        quoted, target = match.group(1) == '"', match.group(2)
        if quoted and rule and not within(target, [rule] + MAY_INCLUDE[rule]):
            report(path, number, f"{rule} may not include {target}")
        if path.startswith("tests/"):
            continue
        for pattern, homes in HOMES.items():
            if re.search(pattern, line) and not within(path, homes):
                report(path, number, f"{target} belongs to {', '.join(homes)}")
        if path.endswith(".h") and any(re.search(p, line) for p in HEADER_BANNED):
            report(path, number, f"{target} in a header slows every build")


def check_functions(path, lines, report):
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and re.match(r"[A-Za-z_]", line) and line.endswith("{") and \
                not re.match(r"(namespace|class|struct|enum|union|extern)\b", line):
            start = number
        elif start is None and re.match(r" +.*\) (const |noexcept )*\{$", line) and number > 1 and \
                re.match(r"[A-Za-z_].*\w\(.*[(,]$", lines[number - 2]):
            start = number - 1
        elif start is not None and line in ("}", "};"):
            if number - start + 1 > FUNCTION_LINES and f"{path}:{lines[start - 1]}" not in FUNCTION_EXCEPTIONS:
                report(path, start, f"a function of {number - start + 1} lines; {FUNCTION_LINES} at most")
            start = None


def check_text(path, lines, report):
    for number, line in enumerate(lines, 1):
        code = re.sub(r'"(\\.|[^"\\])*"', '""', line.split("//")[0])
        for pattern, way_out, exempt in BANNED:
            where = line if "TO" "DO" in pattern else code
            if re.search(pattern, where) and not any(path.startswith(e) for e in exempt):
                report(path, number, way_out)
        if len(line) > COLUMNS and "http" not in line and "#include" not in line:
            report(path, number, f"{len(line)} columns; {COLUMNS} at most")
    limit = HEADER_LINES_HARD if path.endswith(".h") else LINES_HARD
    if len(lines) > limit:
        report(path, 1, f"{len(lines)} lines; {limit} at most")


def check_header(path, lines, report):
    if not path.endswith(".h") or path.startswith("tests/"):
        return
    if not lines or not lines[0].startswith("//"):
        report(path, 1, "a header opens with what it is, who owns it, which threads may call")
    if "#pragma once" not in lines:
        report(path, 1, "no #pragma once")


def check_listed(files, report):
    """Every source is compiled and every test runs: its name stands in a CMake list."""
    lists = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "*CMakeLists.txt", "*.cmake"],
                           capture_output=True, text=True, check=True).stdout.split()
    text = "\n".join(open(os.path.join(ROOT, name), encoding="utf-8").read() for name in lists
                     if os.path.exists(os.path.join(ROOT, name)))
    for path in files:
        if path.endswith(".cc") and os.path.basename(path) not in text:
            report(path, 1, "in no CMake target: it is never built")


def check_examples(report):
    """Every resource type is in the contract test's table."""
    types = "proto/contract/resource_name.cc"
    table = "tests/integration/control/contract_examples.h"
    with open(os.path.join(ROOT, types), encoding="utf-8") as file:
        nouns = re.findall(r'\{ResourceType::k\w+, "\w*", "(\w+)", "croft\.v1\.', file.read())
    with open(os.path.join(ROOT, table), encoding="utf-8") as file:
        examples = re.findall(r'\.noun = "(\w+)"', file.read())
    if not nouns:
        report(types, 1, "the table of resource types can't be read here")
    for noun in nouns:
        if noun not in examples:
            report(table, 1, f"no example of the resource type {noun}")


def main():
    violations = []

    def report(path, line, text):
        violations.append(f"{path}:{line}: {text}")

    files = sources()
    for path in files:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            lines = file.read().split("\n")
        check_includes(path, lines, report)
        check_functions(path, lines, report)
        check_text(path, lines, report)
        check_header(path, lines, report)
    check_listed(files, report)
    check_examples(report)
    print("\n".join(violations))
    print(f"tidy: {len(files)} files, {len(violations)} violations")
    return 1 if violations or not files else 0


sys.exit(main())

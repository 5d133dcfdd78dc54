#!/usr/bin/python3
"""`streamsan audit`: the documents' program, every repaired case, programs of its own (run_audit.py [part of a name]).

A synchronisation call is load-bearing if and only if the run without it gives an error or a warning. Prints how many calls
of the case programs are load-bearing and how many redundant.
"""
import json
import math
import os
import pathlib
import re
import sys
import tempfile
import threading

import harness
from harness import ROOT, SHARED, TOOL, Failure, Skip, Tally, build, build_once, check, execute, work_folder

CASES = ROOT / "tests/cases"
SEED = SHARED / "seeds/stream_contract.cu"
NOT_MODELLED = ("07_pool_cross_stream", "11_graph_missing_edge")
WORK = work_folder("audit")
SCHEMA = json.loads((ROOT / "docs/audit.schema.json").read_text(encoding="utf-8"))
SHARED_PARTS = {"$defs": harness.SCHEMA["$defs"],
                "properties": {k: harness.SCHEMA["properties"][k] for k in ("tool", "run", "streams", "events", "buffers", "operations", "edges")}}
WAIT = "    check(cudaStreamWaitEvent(consumer, ready, 0));\n"
COUNTS, COUNTS_GUARD = {"load-bearing": 0, "redundant": 0}, threading.Lock()


def kept(binary, *options, code=0, name=None):
    """The trace of a run."""
    trace = pathlib.Path(WORK.name) / f"{name or binary.name}.trace"
    done = execute([TOOL, "run", "--quiet", "--trace", trace, *options, "--", binary])
    check(done.returncode == code, f"run: exit {done.returncode}, expected {code}\n{done.stdout}{done.stderr}")
    return trace


def audited(trace, *options, code=0):
    """The audit's JSON, valid; its exit code is `code`."""
    done = execute([TOOL, "audit", "--format", "json", *options, trace])
    check(done.returncode == code, f"audit: exit {done.returncode}, expected {code}\n{done.stderr}")
    audit = json.loads(done.stdout)
    documents = [(audit, SCHEMA), (audit, SHARED_PARTS), *((a, SHARED_PARTS) for a in audit["accidental"])]
    if audit["assumed"]:
        documents.append((audit["assumed"]["report"], harness.SCHEMA))
    for document, schema in documents:
        harness.keeps_to(schema, document, "docs/report.schema.json" if schema is harness.SCHEMA else "docs/audit.schema.json")
    summary, sites = audit["summary"], audit["sites"]
    check(summary["load_bearing"] == sum(s["verdict"] == "load-bearing" for s in sites), "the count of load-bearing calls")
    check(summary["redundant"] == sum(s["verdict"] == "redundant" for s in sites), "the count of redundant calls")
    check(summary["accidental"] == sum(len(a["pairs"]) for a in audit["accidental"]), "the count of accidental order")
    check(summary["together"] == sum(s["together"] for s in sites), "the count of those that can go together")
    for site in sites:
        check(bool(site["protects"]) == (site["verdict"] == "load-bearing") and (site["why"] is None) == bool(site["protects"]),
              f"verdict and reason of {site}")
    return audit


def lines(trace, *options, code=0):
    """The audit's lines."""
    done = execute([TOOL, "audit", *options, trace])
    check(done.returncode == code, f"audit: exit {done.returncode}, expected {code}\n{done.stdout}{done.stderr}")
    return done.stdout.splitlines(), done.stderr.splitlines()


def source(name, text):
    path = pathlib.Path(WORK.name) / f"{name}.cu"
    path.write_text(text, encoding="utf-8")
    return build(path.with_suffix(""), "-g", path)


def seed():
    if SEED.exists():
        return SEED.read_text(encoding="utf-8")
    if os.environ.get("CI") == "true":
        raise Failure("CI=true, but the documents' program is not there")
    raise Skip("the documents' program is not on this machine")


def verdicts(audit, call):
    return [s["verdict"] for s in audit["sites"] if s["call"] == call]


def seed_unchanged():
    text = seed()
    trace = kept(source("seed", text))
    audit = audited(trace)
    check(verdicts(audit, "cudaStreamWaitEvent") == ["load-bearing"], f"the wait: {audit['sites']}")
    check(audit["summary"]["redundant"] == 0, f"redundant: {audit['summary']}")
    out, err = lines(trace)
    line = text.splitlines(keepends=True).index(WAIT) + 1
    title = [row for row in out if f":{line}: " in row]
    check(title and f"seed.cu:{line}: load-bearing cudaStreamWaitEvent on 'consumer' for 'ready': protects 'device'" in title[0],
          "\n".join(out))
    body = " ".join(row.strip() for row in out)
    check("scale P2 on 'producer' (:43) writes it, then add C2 on 'consumer' (:48) reads it [SSAN-RAW]" in body, "\n".join(out))
    check(err[-1].startswith("streamsan: clean: "), "\n".join(err))


def seed_three_ways():
    text = seed()
    trace = kept(source("seed_three", text.replace(WAIT, WAIT + "    check(cudaDeviceSynchronize());\n" + WAIT)))
    audit = audited(trace)
    check(verdicts(audit, "cudaStreamWaitEvent") == ["redundant"] * 2, f"the waits: {audit['sites']}")
    check(verdicts(audit, "cudaDeviceSynchronize") == ["redundant"], f"the join: {audit['sites']}")
    check(audit["summary"]["redundant"] == 3 and audit["summary"]["together"] == 2 and audit["summary"]["together_exact"],
          f"together: {audit['summary']}")
    check(all(s["covers"] for s in audit["sites"] if s["verdict"] == "redundant"), f"covers: {audit['sites']}")
    out, _ = lines(trace)
    joins = [row for row in out if "redundant cudaDeviceSynchronize" in row]
    check(len(joins) == 1 and joins[0].endswith("(host accesses not observed)"), "\n".join(out))
    check(not any("redundant cudaStreamWaitEvent" in row and "not observed" in row for row in out), "\n".join(out))
    check(any(row.startswith("audit: 1 load-bearing, 3 redundant of 4 ") for row in out), "\n".join(out))


def grave(report):
    """{id: instances} of errors and warnings, folded ones too (those have no id and no count: their rule and sides, once)."""
    found = {}
    for top in report["findings"]:
        if top["severity"] != "advice":
            found[top["id"]] = top["count"]
        for f in top["folded"]:
            if f["severity"] != "advice":
                found[f["rule"], f["buffer"], f["first"]["op"], f["then"]["op"]] = 1
    return found


def place(site):
    return f"{site['at']['file']}:{site['at']['line']}"


def ignored(binary, sites, known):
    """Whether a run in which these calls do nothing has errors or warnings that the run as it is has not, or more often."""
    result = harness.run(binary, *(word for site in sites for word in ("--ignore", place(site))))
    check(result.report, f"no report\n{result.about()}")
    calls = {place(site) for site in sites}
    left = {f"{o['at']['file']}:{o['at']['line']}" for o in result.report["operations"] if o["kind"] == "wait" and o["at"]}
    check(not calls & left, f"calls that were to be ignored were made: {calls & left}")
    return any(count > known.get(key, 0) for key, count in grave(result.report).items())


def agrees_with_runs(binary, audit):
    """Load-bearing if and only if the run without the call says so; what can go together goes in a run too."""
    known = grave(harness.run(binary).report)
    for site in audit["sites"]:
        wrong = ignored(binary, [site], known)
        check(wrong == (site["verdict"] == "load-bearing"), f"{place(site)} {site['call']} is {site['verdict']}, but the run without it "
              f"{'has' if wrong else 'has no'} errors or warnings")
    together = [site for site in audit["sites"] if site["together"]]
    if len(together) > 1:
        check(not ignored(binary, together, known), f"these can't go together: {[place(site) for site in together]}")


def case(path):
    binary = build_once(pathlib.Path(WORK.name) / f"{path.stem}-fixed", "-DFIXED", "-include", CASES / "hooks.h", path)
    if path.stem in NOT_MODELLED:
        audit = audited(kept(binary, code=67), code=67)
        return check(audit["summary"]["verdict"] == "incomplete", f"verdict: {audit['summary']}")
    audit = audited(kept(binary))
    check(audit["sites"], "no synchronisation call was found")
    agrees_with_runs(binary, audit)
    with COUNTS_GUARD:
        for site in audit["sites"]:
            COUNTS[site["verdict"]] += 1
    return None


def marks(path):
    """What the program's comments say of its lines: {line: [words]}."""
    rows = path.read_text(encoding="utf-8").splitlines()
    found = {n: re.search(r"// @(.*)$", row) for n, row in enumerate(rows, 1)}
    return {n: m[1].split() for n, m in found.items() if m}


def accidents(audit):
    """{line of `then`: sorted things that it rests on}."""
    found = {}
    for part in audit["accidental"]:
        ops = {o["id"]: o for o in part["operations"]}
        for pair in part["pairs"]:
            found[ops[pair["then"]["op"]]["at"]["line"]] = sorted(pair["rests_on"])
            check(pair["edits"], f"nothing to insert for {pair['message']}")
    return found


def covered(audit, site, word):
    """Whether a redundant site is covered by this call, or by the order of a stream."""
    if word == "stream":
        return site["why"] == "covered" and not site["covers"]
    calls = {s["op"]: s["call"] for s in audit["sites"]}
    return any(calls.get(c["op"]) == word for c in site["covers"])


def program(path):
    binary = build_once(pathlib.Path(WORK.name) / path.stem, "-g", path)
    text, said = path.read_text(encoding="utf-8"), marks(path)
    code = 66 if "// ERRORS\n" in text else 0
    trace = kept(binary, code=code)
    audit = audited(trace, code=code)
    sites = {line: words for line, words in said.items() if words[0] in ("load-bearing", "redundant")}
    check({s["at"]["line"]: s["verdict"] for s in audit["sites"]} == {line: words[0] for line, words in sites.items()},
          f"expected {sites}, got {[(s['at']['line'], s['verdict'], s['protects']) for s in audit['sites']]}")
    for site in audit["sites"]:
        words = sites[site["at"]["line"]]
        check(site["by_accident"] == ("by-accident" in words), f"line {site['at']['line']}: by_accident {site['by_accident']}")
        if words[1:2] == ["covered"]:
            check(covered(audit, site, words[2]), f"line {site['at']['line']} is {site['why']} by {site['covers']}, not covered by {words[2]}")
        if words[1:2] == ["more"]:
            added = [(p["count"], p["known"]) for p in site["protects"]]
            check(all(count > 0 and known > 0 for count, known in added), f"line {site['at']['line']} adds {added}")
    expected = {line: sorted(words[1:]) for line, words in said.items() if words[0] == "accident"}
    check(accidents(audit) == expected, f"by accident: {accidents(audit)}, expected {expected}")
    agrees_with_runs(binary, audit)
    together = re.search(r"^// TOGETHER (\d+) of (\d+)$", text, re.M)
    if together:
        check((audit["summary"]["together"], audit["summary"]["redundant"]) == (int(together[1]), int(together[2]))
              and audit["summary"]["together_exact"], f"together: {audit['summary']}")
    for assumption, names in re.findall(r"^// ASSUME (\S+): (.*)$", text, re.M):
        assumed(trace, assumption, [] if names == "nothing" else names.split(", "))


def assumed(trace, assumption, names):
    """The findings that appear under an assumption, as `CHECK kernel` of the later side."""
    report = audited(trace, "--assume", assumption)["assumed"]["report"]
    ops = {o["id"]: o for o in report["operations"]}
    found = [f"{f['rule']} {ops[f['then']['op']]['kernel']}" for f in report["findings"] if f["severity"] != "advice"]
    check(found == names, f"--assume {assumption}: {found}, expected {names}")
    out, _ = lines(trace, "--assume", assumption, "--format", "short")
    check(any(row.startswith(f"assume {assumption}: {len(names)} error") for row in out), "\n".join(out))


def fields(row):
    return dict(re.findall(r'(\w+)=("(?:\\.|[^"\\])*"|\[[^\]]*\]|\S+)', row))


def listing_without(text, at):
    """The listing of a program without the waits and joins at a line: their ids are gone, later ones move down."""
    rows = [(row, row.split(" ", 1)[0], fields(row)) for row in text.splitlines()]
    gone = {"op": set(), "sync": set()}
    for _, word, values in rows:
        if values.get("at", "").strip('"').split(" ")[0] == at and (word == "sync" or (word == "op" and values.get("kind") == "wait")):
            gone[word].add(int(values[word]))
    kept_rows = []
    for row, word, values in rows:
        for kind in ("op", "sync"):
            if kind in values and not word.startswith("#") and (kind == "op" or word.startswith("sync")):
                number = int(values[kind])
                if number in gone[kind]:
                    break
                row = re.sub(rf"\b{kind}=\d+", f"{kind}={number - sum(g < number for g in gone[kind])}", row, count=1)
        else:
            kept_rows.append(row)
    return "\n".join(kept_rows) + "\n"


def judged(listing, options, folded):
    """{check, both places, allocation: (severity, instances)} of the errors and warnings of a listing; a folded one counts as `folded`."""
    report = pathlib.Path(f"{listing}.json")
    done = execute([TOOL, "check", "--format", "json", "--output", report, *options, listing])
    check(done.returncode in (0, 66, 67), f"check: exit {done.returncode}\n{done.stderr}")
    parsed = json.loads(report.read_text(encoding="utf-8"))
    ops = {o["id"]: (o["kind"], (o["at"] or {}).get("line")) for o in parsed["operations"]}
    blocks = {b["id"]: (b["allocated"] or {}).get("line") for b in parsed["buffers"]}
    found = {}
    for f in (g for top in parsed["findings"] for g in (top, *top["folded"])):
        if f["severity"] != "advice":
            key = (f["rule"], ops.get(f["first"]["op"]), ops.get(f["then"]["op"]), blocks.get(f["buffer"]))
            severity, count = found.get(key, (0, 0))
            found[key] = (max(severity, 1 + (f["severity"] == "error")), count + f.get("count", folded))
    return found


def litmus(part, options):
    """Every call of the litmus listings is load-bearing if and only if the listing without it gives more."""
    files = sorted((ROOT / "tests/litmus").glob("*.litmus"))[part::4]
    folder = pathlib.Path(tempfile.mkdtemp(dir=WORK.name))
    calls = carries = 0
    for path in files:
        done = execute([TOOL, "audit", "--format", "json", *options, path])
        check(done.returncode in (0, 66, 67), f"{path.name}: exit {done.returncode}\n{done.stderr}")
        text, shorter = path.read_text(encoding="utf-8"), folder / path.name
        shorter.write_text(text, encoding="utf-8")
        known = judged(shorter, options, math.inf)
        for site in (s for s in json.loads(done.stdout)["sites"] if s["at"]):
            shorter.write_text(listing_without(text, place(site)), encoding="utf-8")
            more = any(now > before for key, facts in judged(shorter, options, 1).items() for now, before in zip(facts, known.get(key, (0, 0))))
            check(more == (site["verdict"] == "load-bearing"), f"{path.name}: {place(site)} is {site['verdict']}, "
                  f"but without it there is {'more' if more else 'no more'} to report")
            calls, carries = calls + 1, carries + more
    check(calls > len(files) // 2 and carries > 0, f"only {calls} calls, of which {carries} carry")


def damaged_and_cut():
    trace = kept(build_once(pathlib.Path(WORK.name) / "device", "-g", ROOT / "tests/e2e/audit/device.cu"), name="whole")
    whole = trace.read_bytes()
    part = trace.with_suffix(".part")
    part.write_bytes(whole[:len(whole) // 2])
    done = execute([TOOL, "audit", part])
    check(done.returncode in (65, 67), f"half a trace: exit {done.returncode}\n{done.stdout}{done.stderr}")
    part.write_bytes(whole[:100] + bytes(100) + whole[200:])
    done = execute([TOOL, "audit", part])
    check(done.returncode == 65 and done.stderr.startswith("streamsan audit: "), f"damaged: exit {done.returncode}\n{done.stderr}")
    listing = execute([TOOL, "dump", trace]).stdout.splitlines(keepends=True)
    cut = trace.with_suffix(".listing")
    cut.write_text("".join(row for row in listing if not row.startswith("exit")), encoding="utf-8")
    out, err = lines(cut, code=67)
    check(any("load-bearing cudaDeviceSynchronize" in row for row in out), "\n".join(out))
    check(err[-1].startswith("streamsan: incomplete: "), "\n".join(err))
    check(execute([TOOL, "audit", cut.with_suffix(".not-there")]).returncode == 65, "a trace that is not there")
    check(execute([TOOL, "audit"]).returncode == 64 and execute([TOOL, "audit", trace, trace]).returncode == 64, "how many traces")
    check(execute([TOOL, "audit", "--assume", "nothing", trace]).returncode == 64, "--assume nothing")


def faulty():
    """A trace with errors: 66, and its lines all the same."""
    binary = build_once(pathlib.Path(WORK.name) / "racy", "-include", CASES / "hooks.h", CASES / "04_event_off_by_one.cu")
    trace = kept(binary, code=66, name="racy")
    audit = audited(trace, code=66)
    check(audit["summary"]["errors"] > 0 and audit["sites"], f"summary: {audit['summary']}")
    out, err = lines(trace, code=66)
    check(any(" load-bearing " in row for row in out) and err[-1].startswith("streamsan: errors: "), "\n".join(out + err))
    lines(trace, "--error-exitcode", "3", code=3)


def output():
    trace = kept(build_once(pathlib.Path(WORK.name) / "device", "-g", ROOT / "tests/e2e/audit/device.cu"), name="output")
    file = trace.with_suffix(".txt")
    out, err = lines(trace, "--output", file)
    check(not out and err[-1].startswith("streamsan: clean: "), "\n".join(out + err))
    written = file.read_text(encoding="utf-8")
    check(written == execute([TOOL, "audit", trace]).stdout, "the same lines in a file")
    check(all(len(row) <= 100 for row in written.splitlines() if row.startswith("  ")), "a line of a body is too long")
    out, err = lines(trace, "--quiet")
    check(not out and len(err) == 1, "\n".join(out + err))
    check(len(lines(trace, "--format", "short")[0]) < len(written.splitlines()), "--format short is as long")
    for words in (["--order", "documented"], ["--threads", "strict"], ["--verbose"], ["--shadow-limit", "1M"]):
        audited(trace, *words)


def main():
    tally = Tally("audit")
    for path in sorted((ROOT / "tests/e2e/audit").glob("*.cu")):
        tally.case(f"program {path.stem}", program, path)
    for part in range(4):
        tally.case(f"litmus {part + 1} of 4", litmus, part, [])
    tally.case("litmus, documented", litmus, 1, ["--order", "documented"])
    tally.case("litmus, strict", litmus, 2, ["--threads", "strict"])
    tally.case("damaged, cut, missing", damaged_and_cut)
    tally.case("a faulty program", faulty)
    tally.case("--output, --quiet, options", output)
    tally.case("seed", seed_unchanged)
    tally.case("seed with a join and a second wait", seed_three_ways)
    for path in sorted(CASES.glob("[0-9]*.cu")):
        tally.case(f"case {path.stem}", case, path)
    code = tally.finish(harness.only_argument())
    print(f"calls of the repaired cases: {COUNTS['load-bearing']} load-bearing, {COUNTS['redundant']} redundant")
    return code


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""`streamsan audit`: the documents' program, every repaired case, programs of its own (run_audit.py [part of a name]).

A synchronisation call is load-bearing if and only if the run without it gives an error or a warning. Prints how many calls
of the case programs are load-bearing and how many redundant.
"""
import json
import os
import pathlib
import sys
import threading

import jsonschema

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
        try:
            jsonschema.validate(document, schema)
        except jsonschema.ValidationError as error:
            raise Failure(f"it does not keep to docs/audit.schema.json: {error.json_path}: {error.message}") from error
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


def case(path):
    binary = build_once(pathlib.Path(WORK.name) / f"{path.stem}-fixed", "-DFIXED", "-include", CASES / "hooks.h", path)
    if path.stem in NOT_MODELLED:
        audit = audited(kept(binary, code=67), code=67)
        return check(audit["summary"]["verdict"] == "incomplete", f"verdict: {audit['summary']}")
    audit = audited(kept(binary))
    check(audit["sites"], "no synchronisation call was found")
    with COUNTS_GUARD:
        for site in audit["sites"]:
            COUNTS[site["verdict"]] += 1
    return None


def main():
    tally = Tally("audit")
    tally.case("seed", seed_unchanged)
    tally.case("seed with a join and a second wait", seed_three_ways)
    for path in sorted(CASES.glob("[0-9]*.cu")):
        tally.case(f"case {path.stem}", case, path)
    code = tally.finish(harness.only_argument())
    print(f"calls of the repaired cases: {COUNTS['load-bearing']} load-bearing, {COUNTS['redundant']} redundant")
    return code


if __name__ == "__main__":
    sys.exit(main())

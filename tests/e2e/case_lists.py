"""The case programs as every runner sees them: where they lie, which calls are not modelled yet, what of a report must not
depend on hooks or on the device."""
import sys

from harness import ROOT, check

CASES = ROOT / "tests/cases"
sys.path.insert(0, str(CASES))
import score  # noqa: E402  (the scorer that belongs to the cases)

VARIANTS = ("racy", "fixed")
NOT_MODELLED = {"07_pool_cross_stream": "cudaMallocAsync", "11_graph_missing_edge": "cudaStreamBeginCapture"}


def cases():
    return sorted(CASES.glob("[0-9]*.cu"))


def is_faulty(case, variant):
    """Whether the case expects an error at all."""
    return bool(score.parse(case.read_text(encoding="utf-8"), variant, 4096)[0])


def not_modelled(call, result):
    """The run is incomplete, and both the verdict and the report name the call."""
    check(result.code == 67 and result.verdict == "incomplete", f"expected incomplete, 67\n{result.about()}")
    check(call in result.verdict_line, f"the verdict does not name {call}\n{result.about()}")
    check(any(call in c if isinstance(c, str) else c.get("call") == call for c in result.report["run"]["unsupported_calls"]),
          f"run.unsupported_calls does not name {call}: {result.report['run']['unsupported_calls']}")


def device_findings(report):
    """What must not depend on hooks: rule, severity, bytes and places of the error findings on device memory."""
    buffers = {b["id"]: b for b in report["buffers"]}
    ops = {o["id"]: o for o in report["operations"]}

    def line(op):
        return (ops[op]["at"] or {}).get("line")

    rows = set()
    for top in report["findings"]:
        for f in [top, *top["folded"]]:
            buffer = buffers.get(f["buffer"])
            if f["severity"] == "error" and buffer and buffer["space"] == "device":
                rows.add((f["rule"], buffer["name"], buffer["allocated"]["line"], tuple((r["begin"], r["end"]) for r in f["ranges"]),
                          line(f["first"]["op"]), line(f["then"]["op"])))
    return rows

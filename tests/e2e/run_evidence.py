#!/usr/bin/python3
"""`streamsan contract --evidence` and `evidence verify`: what is kept, and that each change of it is noticed."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import jsonschema

from contracts import SCHEMA, WORK, carry_out, contract, fault
from harness import ROOT, TOOL, Skip, Tally, check, execute, only_argument, started, wants_all

RECORD = json.loads((ROOT / "docs/evidence.schema.json").read_text(encoding="utf-8"))
VERIFIED = json.loads((ROOT / "docs/evidence-verify.schema.json").read_text(encoding="utf-8"))


def kept(name, *options, **parts):
    """A contract carried out with evidence; the folder, made by one CUDA program and one fault."""
    folder = pathlib.Path(WORK.name) / name
    folder.mkdir()
    shutil.copy(ROOT / "examples/handover/handover.cu", folder)
    spec = {"name": name, "build": {"sources": ["handover.cu"]}, "run": {"arguments": ["{size}"], "environment": ["MARK=1"]},
            "matrix": {"sizes": ["257"], "devices": ["virtual", "virtual:2"]}, "expect": {"values": [{"key": "mismatches", "equals": "0"}]},
            "faults": [fault("wait", {"finding": ["SSAN-RAW"]}, ignore=["handover.cu:/cudaStreamWaitEvent/"])], **parts}
    (folder / "contract.yaml").write_text(json.dumps(spec), encoding="utf-8")
    evidence = folder / "evidence"
    done = execute([TOOL, "contract", "--evidence", evidence, *options, folder / "contract.yaml"])
    return evidence, done


def verify(folder, code, *lines):
    done = execute([TOOL, "evidence", "verify", folder])
    check(done.returncode == code, f"exit {done.returncode}, not {code}: {done.stdout}{done.stderr}")
    for line in lines:
        check(line in done.stdout.splitlines(), f"no line '{line}': {done.stdout}")
    return done


def verified_json(folder):
    said = json.loads(execute([TOOL, "evidence", "verify", "--format", "json", folder]).stdout)
    jsonschema.validate(said, VERIFIED)
    return said


def evidence():
    folder, done = kept("evidence")
    check(done.returncode == 0, str(done))
    said = verify(folder, 0).stdout
    digest = said.split()[-1]
    check(digest in done.stderr and len(digest) == 64, f"{said}{done.stderr}")
    check(subprocess.run(["sha256sum", "--check", "--quiet", "MANIFEST.sha256"], cwd=folder).returncode == 0, "sha256sum")
    records = sorted(folder.glob("runs/*/run.json"))
    check(len(records) == 4, str(records))
    for path in records:
        record = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.validate(record, RECORD)
        jsonschema.validate(record["run"], SCHEMA["$defs"]["run"] | {"$defs": SCHEMA["$defs"]})
        check(record["host"]["machine"]["value"] == os.uname().machine, "uname -m")
        check("clang" in record["device"]["compiler"]["value"] and record["device"]["compiler"]["source"] == "clang --version", str(record["device"]))
        check(record["device"]["runtime"]["value"].isdigit() and record["environment"] == ["MARK=1"], str(record["device"]))
        devices = 2 if record["run"]["parameters"]["device"] == "virtual:2" else 1
        check(f"devices={devices};" in record["device"]["details"]["value"], str(record["device"]["details"]))
        for file in ("stdout", "stderr", "report.json", "trace.ssan"):
            check((path.parent / file).is_file(), f"{path.parent} lacks {file}")
        # The commands can be given again, where the evidence stands now.
        again = subprocess.run(record["run"]["command"], cwd=path.parent, capture_output=True, text=True)
        check(again.stdout == (path.parent / "stdout").read_text(encoding="utf-8"), str(again))
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    jsonschema.validate(result, SCHEMA)


def every_byte_counts():
    """A flipped bit in a file of every kind, a file that is gone, cut, grown, moved, or one more: each is noticed."""
    folder, done = kept("bytes")
    check(done.returncode == 0, str(done))
    rng = random.Random(11)
    every = sorted(p for p in folder.rglob("*") if p.is_file())
    kinds = {}
    for path in every:
        kinds.setdefault(path.name if path.parent.name != "sources" else "source", path)
    for path in every if wants_all() else kinds.values():
        data, name = path.read_bytes(), str(path.relative_to(folder))
        manifest = path.name == "MANIFEST.sha256"
        if data:
            at = rng.randrange(len(data))
            path.write_bytes(data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:])
            done = execute([TOOL, "evidence", "verify", folder])
            check(done.returncode in ((1, 65) if manifest else (1,)), f"{name}, bit {at}: {done}")
            check(manifest or done.stdout.splitlines()[0] == f"changed {name}", f"{name}: {done.stdout}")
        path.write_bytes(data + b"\n")
        check(execute([TOOL, "evidence", "verify", folder]).returncode in ((65,) if manifest else (1,)), f"{name}: one byte more")
        path.unlink()
        verify(folder, *((65,) if manifest else (1, f"missing {name}")))
        path.write_bytes(data)
    for added in ("new", "runs/0001/new", "machine/.hidden"):
        (folder / added).write_bytes(b"")
        verify(folder, 1, f"added {added}")
        (folder / added).unlink()
    (folder / "link").symlink_to("result.json")
    verify(folder, 1, "added link")
    (folder / "link").unlink()
    target = folder / "runs/0001/stdout"
    data = target.read_bytes()
    target.unlink()
    target.symlink_to("/dev/null")
    verify(folder, 1, "changed runs/0001/stdout")
    target.unlink()
    target.write_bytes(data)
    (folder / "runs/0001/stderr").rename(folder / "runs/0001/stderr2")
    verify(folder, 1, "missing runs/0001/stderr", "added runs/0001/stderr2")
    (folder / "runs/0001/stderr2").rename(folder / "runs/0001/stderr")
    verify(folder, 0)
    moved = folder.parent / "moved"
    folder.rename(moved)
    verify(moved, 0)
    (moved / "new").write_bytes(b"")
    check(verified_json(moved)["differences"] == [{"change": "added", "path": "new"}], "one more")
    (moved / "new").unlink()
    verified = verified_json(moved)
    check(verified["as_recorded"] is True and verified["files"] == len(every) - 1 and verified["differences"] == [], str(verified))


def every_byte_of_the_manifest():
    """Each bit of a small manifest matters."""
    folder = pathlib.Path(WORK.name) / "small"
    path = contract("small-contract", matrix={"sizes": ["1"]})
    check(execute([TOOL, "contract", "--evidence", folder, path]).returncode == 0, "small contract")
    manifest = folder / "MANIFEST.sha256"
    data = manifest.read_bytes()
    rng = random.Random(3)
    for at in range(len(data)) if wants_all() else rng.sample(range(len(data)), 60):
        manifest.write_bytes(data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:])
        done = execute([TOOL, "evidence", "verify", folder])
        check(done.returncode in (1, 65) and (done.stdout or done.stderr), f"byte {at}: {done}")
    manifest.write_bytes(data)
    verify(folder, 0)
    for broken in (b"", data[:-1], data + data, b"\n" + data):
        manifest.write_bytes(broken)
        verify(folder, 65)


def other_names_of_the_folder():
    """The folder is the same however it is named; its manifest is a plain file in it, and nothing else is waited for."""
    folder = pathlib.Path(WORK.name) / "named"
    path = contract("named-contract", matrix={"sizes": ["1"]})
    check(execute([TOOL, "contract", "--evidence", folder, path]).returncode == 0, "contract")
    link = pathlib.Path(WORK.name) / "named-link"
    link.symlink_to(folder.name)
    names = [folder, f"{folder}/", f"{folder}//", f"{folder}/.", f"{folder}/./", link, f"{link}/", f"{folder.parent}/./{folder.name}"]
    for name in names:
        verify(name, 0)
    (folder / "new").write_bytes(b"")
    count = verified_json(folder)["files"]
    for name in names:
        verify(name, 1, "added new", f"streamsan evidence: not as recorded: 0 of {count} files differ, 1 added")
    (folder / "new").unlink()
    manifest = folder / "MANIFEST.sha256"
    away = pathlib.Path(WORK.name) / "MANIFEST-away"
    manifest.rename(away)
    for make in (lambda: manifest.symlink_to(away), lambda: os.mkfifo(manifest), manifest.mkdir):
        make()
        check("no plain file" in verify(folder, 65).stderr, "a manifest that is no plain file")
        (manifest.rmdir if manifest.is_dir() else manifest.unlink)()
    away.rename(manifest)
    source = folder / "sources/prog.sh"
    data = source.read_bytes()
    for make in (lambda: os.mkfifo(source), lambda: source.symlink_to(away)):
        source.unlink()
        make()
        verify(folder, 1, "changed sources/prog.sh")
        source.unlink()
        source.write_bytes(data)
    verify(folder, 0)
    piped = contract("piped", build={"sources": ["pipe.cu"]}, matrix={"sizes": ["1"]})
    os.mkfifo(piped.parent / "pipe.cu")
    done = execute([TOOL, "contract", piped])
    check(done.returncode in (65, 67) and "no plain file" in done.stderr, str(done))


def nothing_half_claimed():
    path = contract("claims", matrix={"sizes": ["1"]})
    full = pathlib.Path(WORK.name) / "claims-full"
    full.mkdir()
    (full / "file").write_text("x", encoding="utf-8")
    done = execute([TOOL, "contract", "--evidence", full, path])
    check(done.returncode == 64 and "new or an empty folder" in done.stderr and (full / "file").read_text(encoding="utf-8") == "x", str(done))
    done = execute([TOOL, "contract", "--evidence", pathlib.Path(WORK.name) / "no/such/folder", path])
    check(done.returncode == 65 and "can't create" in done.stderr, str(done))
    done = execute([TOOL, "contract", "--evidence", "/proc/evidence", path])
    check(done.returncode == 65 and "can't create" in done.stderr, str(done))
    verify(full, 65)
    verify(pathlib.Path(WORK.name) / "absent", 65)
    # A program that leaves what can't be evidence.
    odd = contract("odd", matrix={"sizes": ["1"]}, build={"command": ["sh", "-c", "printf '#!/bin/sh\\nln -s x link\\necho mismatches=0\\n' >{program} && chmod +x {program}"]})
    folder = pathlib.Path(WORK.name) / "odd-evidence"
    done = execute([TOOL, "contract", "--evidence", folder, odd])
    check(done.returncode == 67 and "no plain file" in done.stderr and not (folder / "MANIFEST.sha256").exists(), str(done))
    ended = pathlib.Path(WORK.name) / "ended"
    with started([TOOL, "contract", "--evidence", ended, contract("ended-contract", run={"arguments": ["{size}"], "environment": ["delay=60"]})]) as child:
        while not (ended / "runs/0001/stdout").exists():
            check(child.poll() is None, "it ended by itself")
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)
    verify(ended, 65)


def full_disk():
    """A file system of one megabyte, in a mount namespace of its own."""
    path = contract("disk", matrix={"sizes": ["1"]}, run={"arguments": ["{size}"], "environment": ["big=3000000"]})
    small = pathlib.Path(WORK.name) / "disk-small"
    small.mkdir()
    script = f"mount -t tmpfs -o size=1m tmpfs {small} && {TOOL} contract --evidence {small}/evidence {path}; code=$?; ls {small}/evidence; exit $code"
    done = execute(["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c", script])
    if "unshare" in done.stderr or "mount" in done.stderr:
        raise Skip(f"no mount namespace: {done.stderr.strip()[:100]}")
    check(done.returncode == 67 and "No space left" in done.stderr and "no manifest" in done.stderr, str(done))
    check("MANIFEST" not in done.stdout, done.stdout)


def files_reach_the_program():
    """{sources} leads to the copies; a schedule's file is one of them, and stands in the evidence."""
    path = contract("reach", build={"command": ["cp", "prog.sh", "{program}"], "files": ["prog.sh", "data/in.txt"]},
                    run={"arguments": ["$(cat {sources}/data/in.txt)"]}, matrix={"schedules": ["file:orders/late"]},
                    expect={"verdict": "any"})
    (path.parent / "prog.sh").write_text("#!/bin/sh\neval \"echo read=$1\"\n", encoding="utf-8")
    (path.parent / "data").mkdir()
    (path.parent / "data/in.txt").write_text("42", encoding="utf-8")
    (path.parent / "orders").mkdir()
    (path.parent / "orders/late").write_text("streamsan-schedule 1\npolicy lazy\n", encoding="utf-8")
    spec = json.loads(path.read_text(encoding="utf-8"))
    spec["expect"]["values"] = [{"key": "read", "equals": "42"}]
    path.write_text(json.dumps(spec), encoding="utf-8")
    folder = pathlib.Path(WORK.name) / "reach-evidence"
    result, _ = carry_out(path, "--evidence", str(folder))
    check("file:../../sources/orders/late" in result["runs"][0]["command"], str(result["runs"][0]))
    record = json.loads((folder / "runs/0001/run.json").read_text(encoding="utf-8"))
    check(set(record["sources"]) == {"sources/prog.sh", "sources/data/in.txt", "sources/orders/late"}, str(record["sources"]))
    check(json.loads((folder / "runs/0001/report.json").read_text(encoding="utf-8"))["run"]["schedule"] != "eager", "the schedule is used")
    verify(folder, 0)


def main():
    tally = Tally("evidence")
    for function in (evidence, every_byte_counts, every_byte_of_the_manifest, other_names_of_the_folder, nothing_half_claimed, full_disk, files_reach_the_program):
        tally.case(function.__name__.replace("_", " "), function)
    return tally.finish(only_argument())


if __name__ == "__main__":
    sys.exit(main())

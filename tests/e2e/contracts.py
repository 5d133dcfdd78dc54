"""Contracts for tests, written as JSON, which YAML holds. Most use a script in the place of a CUDA program: what is tried is
what the contract makes of exit codes, output, files and findings."""
import json
import pathlib

import jsonschema

from harness import ROOT, TOOL, check, execute, work_folder

WORK = work_folder("contract")
SCHEMA = json.loads((ROOT / "docs/contract.schema.json").read_text(encoding="utf-8"))
SCRIPT = """#!/bin/sh
# value=... and status=... say what it prints and how it ends; write=... what it writes to out.bin
[ -z "$delay" ] || sleep "$delay"
[ -z "$write" ] || printf "$write" >out.bin
[ -z "$big" ] || head -c "$big" /dev/zero >big.bin
echo "size=$1 mismatches=${value-0} ok"
exit ${status-0}
"""


def contract(name, **parts):
    """A contract's file with a script for its program; `parts` replaces its keys."""
    folder = pathlib.Path(WORK.name) / name
    folder.mkdir()
    (folder / "prog.sh").write_text(SCRIPT, encoding="utf-8")
    (folder / "prog.sh").chmod(0o755)
    spec = {"name": name, "build": {"command": ["cp", "prog.sh", "{program}"], "files": ["prog.sh"]},
            "run": {"arguments": ["{size}"]}, "matrix": {"sizes": ["1", "2"]},
            "expect": {"verdict": "any", "values": [{"key": "mismatches", "equals": "0"}]}, **parts}
    path = folder / "contract.yaml"
    path.write_text(json.dumps(spec, indent=1), encoding="utf-8")
    return path


def carry_out(path, *options, code=0, env=None):
    done = execute([TOOL, "contract", "--format", "json", *options, path], env=env)
    check(code is None or done.returncode == code, f"exit {done.returncode}, not {code}: {done.stdout[-3000:]}{done.stderr}")
    result = json.loads(done.stdout) if done.stdout else None
    if result:
        jsonschema.validate(result, SCHEMA)
    return result, done


def fault(name, caught, **how):
    return {"name": name, "caught": caught, **how}

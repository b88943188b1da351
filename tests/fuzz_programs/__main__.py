"""Command line of the fuzzer: ``python -m tests.fuzz_programs --minutes 3 --seed 1``."""

from __future__ import annotations

import argparse
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

#: Programs that one process makes: compiled code is never given back.
BATCH = 60
#: Seconds without a word from a process that is at work, after which it is taken for dead.
SILENCE = 240
WORKERS = (1, 2, 4)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_programs", description=__doc__)
    parser.add_argument("--minutes", type=float, help="go on for so long")
    parser.add_argument("--programs", type=int, default=20, help="how many, unless --minutes says otherwise")
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the next has the next seed")
    parser.add_argument("--graphs", type=int, default=6, help="graphs for each program")
    parser.add_argument(
        "--backend", default="cpu",
        help="cpu, cuda, ranks:3 or ranks:3,cuda (parts on threads), or divided:3, each with its part of the graph",
    )  # fmt: skip
    parser.add_argument("--inside", action="store_true", help="only what is one kernel on each of several GPUs")
    parser.add_argument("--tame", action="store_true", help="only numbers of which no operation is special")
    parser.add_argument("--shrink", type=float, default=60, help="seconds to make a program that differs smaller")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    return worker(options) if options.worker else supervise(options)


# ---- the process that makes and runs programs ------------------------------------------------------------


def worker(options: argparse.Namespace) -> int:
    from .running import corners
    from .steps import program

    with corners(local=3, least=1):
        for seed in range(options.seed, options.seed + options.programs):
            _say(begin=seed)
            _say(**_one(program(seed, not options.tame), seed, options))
    return 0


def _one(program: Any, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    from .running import Case, compare, inside, load, reproduction, shrunk

    module = load(program.text())
    if options.inside and not inside(program, module, Case(seed * 1000, options.backend, 1, False)):
        return {"end": seed, "runs": 0, "refused": 0}
    counts = WORKERS if options.backend == "cpu" else (1,)
    runs = refused = 0
    begun = time.monotonic()
    for i in range(options.graphs):
        expected = None
        for number, workers in enumerate(counts):
            case = Case(seed * 1000 + i, options.backend, workers, (i + number) % 4 == 3)
            _say()
            expected, found = compare(program, module, case, expected)
            if found is not None:
                program, less = shrunk(program, case, options.shrink)
                found = less or found
                return {"end": seed, "runs": runs, "refused": refused, "found": found.what,
                        "script": reproduction(program, found)}  # fmt: skip
            if expected is None:
                refused += 1
                break
            runs += 1
        if time.monotonic() - begun > 20:
            break
    return {"end": seed, "runs": runs, "refused": refused}


def _say(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


# ---- the process that watches over it ---------------------------------------------------------------------


class Tally:
    """Counts of all processes."""

    def __init__(self, seed: int) -> None:
        self.next = seed
        self.programs = self.runs = self.refused = 0
        self.differences: list[int] = []
        self.lock = threading.Lock()
        self.folder = Path(tempfile.gettempdir()) / "frontier-fuzz"

    def take(self, count: int) -> int:
        with self.lock:
            self.next += count
            return self.next - count

    def add(self, facts: dict[str, Any]) -> None:
        with self.lock:
            self.programs += 1
            self.runs += facts.get("runs", 0)
            self.refused += facts.get("refused", 0)
            if "found" in facts:
                self.differences.append(facts["end"])
                path = self.folder / f"difference_{facts['end']}.py"
                self.folder.mkdir(exist_ok=True)
                path.write_text(facts.get("script", ""))
                print(f"\nseed {facts['end']}: {facts['found']}\n{facts.get('script', '')}", flush=True)
                print(f"(kept as {path})", flush=True)

    def line(self, seconds: float) -> str:
        return (
            f"{self.programs} programs, {self.runs} runs compared, {self.refused} refused, "
            f"{len(self.differences)} differences {self.differences or ''} in {seconds:.0f} s"
        )


def supervise(options: argparse.Namespace) -> int:
    begun = time.monotonic()
    end = begun + 60 * options.minutes if options.minutes is not None else None
    tally = Tally(options.seed)
    last = options.seed + options.programs

    def work() -> None:
        while (time.monotonic() < end) if end is not None else (tally.next < last):
            count = BATCH if end is not None else min(BATCH, -(-options.programs // options.jobs), last - tally.next)
            at = tally.take(count)
            stop = at + count
            while at < stop and (end is None or time.monotonic() < end):
                at = _batch(options, at, stop - at, end, tally)

    threads = [threading.Thread(target=work) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    shown = begun
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.2)
        if time.monotonic() - shown > 60:
            shown = time.monotonic()
            print(tally.line(shown - begun), flush=True)
    print(tally.line(time.monotonic() - begun), flush=True)
    return 1 if tally.differences else 0


def _batch(options: argparse.Namespace, first: int, count: int, end: float | None, tally: Tally) -> int:
    """Programs in a process of their own: the seed to go on with. What kills it is a difference, too."""
    command = [sys.executable, "-m", __spec__.name.removesuffix(".__main__"), "--worker", "--seed", str(first),
               "--programs", str(count), "--graphs", str(options.graphs), "--backend", options.backend,
               "--shrink", str(options.shrink), *(["--tame"] if options.tame else []),
               *(["--inside"] if options.inside else [])]  # fmt: skip
    cache = tempfile.mkdtemp(prefix="frontier-fuzz-")  # other limits than those of code that is kept elsewhere
    environment = {**os.environ, "FRONTIER_CACHE_DIR": cache}
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    words: queue.Queue[str | None] = queue.Queue()
    errors: list[str] = []

    def listen() -> None:
        assert child.stdout is not None
        for line in child.stdout:
            words.put(line)
        words.put(None)

    def collect() -> None:
        assert child.stderr is not None
        errors.extend(child.stderr)

    listeners = [threading.Thread(target=listen), threading.Thread(target=collect)]
    for listener in listeners:
        listener.start()
    at = first
    try:
        while True:
            try:
                word = words.get(timeout=SILENCE)
            except queue.Empty:
                tally.add({"end": at, "found": f"no word for {SILENCE} s: it hangs"})
                return at + 1
            if word is None:
                break
            facts = json.loads(word)
            at = facts.get("begin", at)
            if "end" in facts:
                tally.add(facts)
                at = facts["end"] + 1
                if end is not None and time.monotonic() > end:
                    return at
        if child.wait() != 0:
            tally.add({"end": at, "found": f"the process died ({child.returncode}): {''.join(errors[-20:])}"})
            at += 1
        return at
    finally:
        child.kill()
        child.wait()
        for listener in listeners:
            listener.join()
        shutil.rmtree(cache, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())

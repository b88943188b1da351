"""What goes wrong on one of several parts: one message, nothing left behind, and a session that goes on."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from mpi import MPIRUN, begun, environment, mpich, mpirun, processes

import frontier as fr
from frontier.distributed.ranks import group, walk
from frontier.distributed.transport.threads import Member
from frontier.memory import detection

pytestmark = pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")


def hop(p, src, dst):
    new = p.distance[src] + 1
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)


class Hops(fr.Enactor):
    loop = fr.Loop(fr.Advance(hop), over="source")


def turned(p):
    return p.turn + 1


def enough(p):
    return p.turn >= 10**7


class Idle(fr.Enactor):
    loop = fr.Loop(fr.Set(turn=turned), until=enough)


def waits_problem(parts=3):
    g = fr.path(40).to(f"ranks:{parts}")
    p = fr.Problem(g, distance=fr.vertex("int64", 99), source=fr.scalar("int64", 0))
    p.distance[0] = 0
    return p


def test_a_part_that_hangs_does_not_keep_the_others(monkeypatch):
    released = threading.Event()
    blocks = Member.alltoall_blocks

    def hang(self, given, length):
        if self.rank == 2 and given[0] == 3:  # the number of the round
            released.wait(60)
        return blocks(self, given, length)

    monkeypatch.setenv("FRONTIER_RANKS_TIMEOUT", "0.3")
    monkeypatch.setattr(group, "GRACE", 0.1)
    monkeypatch.setattr(Member, "alltoall_blocks", hang)
    with pytest.raises(fr.FrontierError, match=r"^rank 2 of 3 has not come to an exchange .* 0.3 s \(FRONTIER_RANKS"):
        Hops(waits_problem()).run()
    released.set()
    monkeypatch.undo()
    p = waits_problem()
    Hops(p).run()
    assert p.distance.tolist() == list(range(40))


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf"])
def test_patience_is_a_number_of_seconds(text, monkeypatch):
    monkeypatch.setenv("FRONTIER_RANKS_TIMEOUT", text)
    with pytest.raises(fr.FrontierError, match=r"FRONTIER_RANKS_TIMEOUT=.*: a number of seconds, or 0 to wait"):
        fr.bfs(fr.path(3).to("ranks:2"), 0)
    monkeypatch.setenv("FRONTIER_RANKS_TIMEOUT", "0")
    assert fr.bfs(fr.path(3).to("ranks:2"), 0).level.tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", [Hops, Idle], ids=["steps with exchanges", "none"])
def test_ctrl_c_stops_all_parts_at_the_same_boundary(kind, monkeypatch):
    blocks, seen = Member.alltoall_blocks, []

    def press(self, given, length):
        seen.append(self.rank)
        if self.rank == 0 and seen.count(0) == 6:
            signal.raise_signal(signal.SIGINT)
        return blocks(self, given, length)

    p = waits_problem() if kind is Hops else fr.Problem(fr.path(3).to("ranks:3"), turn=fr.scalar("int64"))
    enactor = kind(p)
    with monkeypatch.context() as patch:
        patch.setattr(Member, "alltoall_blocks", press)
        with pytest.raises(KeyboardInterrupt):
            enactor.run()
    assert enactor.paused
    if kind is Idle:
        before = int(p.turn)
        enactor.resume(on_step=lambda e: True)
        assert p.turn == before + 1
        return
    assert sorted(p.distance[p.distance < 99]) == list(range(enactor.passes + 1))
    enactor.resume()
    assert p.distance.tolist() == list(range(40))


def test_a_part_without_memory_ends_the_run_and_changes_nothing(monkeypatch):
    run_inner = walk.Walk._run_inner

    def scarce(self, step, *given):
        found = run_inner(self, step, *given)
        if self._comm.rank == 1 and self.passes == 5:
            raise MemoryError("no more")
        return found

    p = waits_problem()
    with monkeypatch.context() as patch:
        patch.setattr(walk.Walk, "_run_inner", scarce)
        with pytest.raises(MemoryError, match=r"^running Advance\(hop\) on rank 1 of 3: memory ran out"):
            Hops(p).run()
    assert sorted(p.distance[p.distance < 99]) == [0, 1, 2, 3, 4]  # as before the step
    p = waits_problem()
    Hops(p).run()
    assert p.distance.tolist() == list(range(40))


@processes
@pytest.mark.parametrize(
    ("what", "message"),
    [
        ('fr.bfs(fr.rmat(6, 8, seed=rank).to("ranks"), 0)', "rank 1 has not the same graph as rank 0"),
        (
            "g = fr.from_csr(g.offsets, g.targets, directed=rank > 0)\nfr.pagerank(g.to('ranks'))",
            r"rank 1 has not the same graph as rank 0: .* needs the same seed=",
        ),
        ("fr.bfs(fr.from_edges([*'ab'], [*('bc' if rank else 'bd')]).to('ranks'), 'a')", "has not the same graph"),
        ("fr.louvain(fr.rmat(6, 8, seed=rank).to('ranks'))", "rank 1 has not the same graph as rank 0"),
        ("fr.bridges(fr.rmat(6, 8, seed=rank).to('ranks'))", "rank 1 has not the same graph as rank 0"),
        ("fr.max_flow(fr.rmat(6, 8, seed=rank, weights=(1, 9)).to('ranks'), 0, 3)", "rank 1 has not the same graph"),
        ("fr.bfs(g, 0) if rank else fr.pagerank(g)", "rank 1 has not the same program as rank 0"),
        ("fr.Filter(after_rank, over='vertices')(p)", r"the same functor after_rank \(or what it captures"),
        ("fr.bfs(g, 0, schedule=fr.Schedule(direction='auto' if rank else 'pull'))", "has not the same schedule"),
        ("fr.bfs(g.to('ranks,python' if rank else 'ranks,cpu'), 0)", "rank 1 has not the same placement as rank 0"),
        ("if rank == 1: os.kill(os.getpid(), 9)\nfr.bfs(g, 0)", "BAD TERMINATION|signal 9|Killed"),
        ("if rank == 1: raise ValueError('mine')\nfr.bfs(g, 0)", "rank 1 of 3"),
        ("fr.Filter(raises, over='vertices')(p)", "IndexError"),
        ("fr.sssp(g, 0)", "shortest paths need weights"),
        ("fr.Loop(fr.Filter(last), times=3, record='kept')(p, fr.Frontier.all(g))", "occurs in two passes"),
        ("if rank == 1: scarce()\nfr.bfs(g, 0)", r"MemoryError: running .* on rank 1 of 3: memory ran out"),
        ("if rank == 1: time.sleep(1000)\nfr.bfs(g, 0)", "frontier: rank 1 of 3 has not come to an exchange .* 2 s"),
    ],
)
def test_a_rank_that_fails_ends_all(what, message, tmp_path):
    head = """\
import os, pathlib, time
import numpy as np, frontier as fr
from mpi4py import MPI
rank = MPI.COMM_WORLD.rank
g = fr.rmat(6, 8, seed=1).to("ranks")
def raises(p, v):
    return (1, 2)[p.seen[v]] > 1
def last(p, v):
    return v == 60
def after_rank(p, v):
    return v > rank
def scarce():
    from frontier.distributed.ranks import divided_step
    def fails(*_):
        raise MemoryError("no more")
    divided_step.values_of = fails
p = fr.Problem(g, seen=fr.vertex("int64", 0))
p.seen[60] = 9
pathlib.Path(f"pid{rank}").write_text(str(os.getpid()))
MPI.COMM_WORLD.Barrier()
"""
    seconds = "2" if "sleep" in what else "100"  # where several processes share a core, two seconds are soon gone
    made = mpirun(3, tmp_path, f"{head}{what}\nprint('end')\n", FRONTIER_RANKS_TIMEOUT=seconds)
    assert made.returncode != 0
    assert "end" not in made.stdout.split()
    assert re.search(message, made.stdout + made.stderr), made.stdout + made.stderr
    assert len(re.findall(r"^\w*(?:Error|frontier): ", made.stderr, re.MULTILINE)) <= 1, made.stderr
    assert len(re.findall(r"^[\w.]*Error: shortest", made.stderr, re.MULTILINE)) <= 1, made.stderr
    assert_gone(tmp_path, 3)


@processes
@pytest.mark.parametrize(
    ("end", "seconds"), [("time.sleep(1000)", 2), ("sys.exit()", 2), ("sys.exit()", 100)],
    ids=["hangs", "has ended", "is seen to have ended"],
)  # fmt: skip
def test_a_rank_that_never_begins_does_not_keep_the_others(end, seconds, tmp_path):
    made = mpirun(2, tmp_path, f"""
        import os, pathlib, sys, time
        import frontier as fr
        from mpi4py import MPI
        rank = MPI.COMM_WORLD.rank
        pathlib.Path(f"pid{{rank}}").write_text(str(os.getpid()))
        if rank == 1:
            {end}
        fr.bfs(fr.path(5).to("ranks"), 0)
        print("end")
    """, FRONTIER_RANKS_TIMEOUT=str(seconds))  # fmt: skip
    assert made.returncode != 0
    assert "end" not in made.stdout.split()
    first = r'\(rank 0 uses "ranks" for the first time\)$'
    message = rf"^frontier: rank 1 of 2 has (not come to an exchange .*|ended, and others wait: the run ends) {first}"
    if seconds > 2 and mpich():
        message = message.replace("not come to an exchange .*|", "")
    assert len(re.findall(message, made.stderr, re.MULTILINE)) == 1, made.stderr
    assert_gone(tmp_path, 2)


@processes
def test_a_rank_that_does_not_begin_mpi_does_not_keep_the_others(tmp_path):
    made = mpirun(2, tmp_path, BEGINS.format(end="time.sleep(1000)"), FRONTIER_RANKS_TIMEOUT="3")
    assert made.returncode != 0
    assert "end" not in made.stdout.split()
    assert made.stderr.startswith("frontier: rank 0 has waited for 3 s (FRONTIER_RANKS_TIMEOUT) for all"), made.stderr
    assert_gone(tmp_path, 2)


BEGINS = """
import pathlib, os, sys, time
import frontier as fr
rank = int(os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "0")))
pathlib.Path(f"pid{{rank}}").write_text(str(os.getpid()))
if rank == 1:
    {end}
fr.bfs(fr.path(5).to("ranks"), 0)
print("end")
"""


@processes
@pytest.mark.parametrize("end", ["sys.exit()", "sys.exit('no file')", "os._exit(0)", "time.sleep(3); sys.exit(2)"])
def test_a_rank_that_ends_without_beginning_mpi_ends_the_others(end, tmp_path):
    made = mpirun(3, tmp_path, BEGINS.format(end=end), FRONTIER_RANKS_TIMEOUT="100")
    assert made.returncode != 0
    assert "end" not in made.stdout.split()
    assert "FRONTIER_RANKS_TIMEOUT" not in made.stderr, made.stderr  # long before
    if mpich():  # other launchers end all by themselves
        said = [line for line in made.stderr.splitlines() if line.startswith("frontier: ")]
        end = "ended before all ranks began MPI, for which others wait: the run ends"
        assert said[0] == f"frontier: rank 1 of 3 has {end}", made.stderr
        assert all(line.endswith(end) for line in said), made.stderr  # one, unless the launcher is slow to end others
    assert_gone(tmp_path, 3)


@processes
@pytest.mark.parametrize("seconds", [0.4, 0.8, 1.2])
def test_ranks_that_end_one_after_the_other_end_all(seconds, tmp_path):
    other = f"if rank == 2:\n    time.sleep({seconds})\n    sys.exit()\nfr.bfs"
    program = BEGINS.format(end="sys.exit()").replace("fr.bfs", other)
    made = mpirun(4, tmp_path, program, FRONTIER_RANKS_TIMEOUT="100")
    assert made.returncode != 0
    assert "FRONTIER_RANKS_TIMEOUT" not in made.stderr, made.stderr
    if mpich():
        assert "ended before all ranks began MPI, for which others wait: the run ends" in made.stderr, made.stderr
    assert_gone(tmp_path, 4)


@processes
def test_ranks_wait_for_one_that_comes_late(tmp_path):
    """A shell between the launcher and a rank is none that has ended, nor are programs that never begin MPI."""
    (tmp_path / "program.py").write_text(BEGINS.format(end="time.sleep(3)"))
    shell = f"{sys.executable} {tmp_path / 'program.py'}; true"
    made = subprocess.run(
        [MPIRUN, "-n", "1", "sh", "-c", shell, ":", "-n", "2", "sh", "-c", shell],
        capture_output=True, text=True, env=environment(), cwd=tmp_path, timeout=100,
    )  # fmt: skip
    assert (made.returncode, made.stdout.count("end")) == (0, 3), made.stderr
    made = mpirun(3, tmp_path, "import frontier as fr\nprint(fr.bfs(fr.path(5), 0).level[4])")
    assert (made.returncode, made.stdout.count("4")) == (0, 3), made.stderr


@processes
@pytest.mark.parametrize("known", [True, False], ids=["mpirun is missed", "the others are missed"])
def test_a_rank_that_is_left_alone_ends(known, tmp_path):
    """Where mpirun and all else has been killed, nobody ends it, nor listens to what it says."""
    run = begun(3, tmp_path, f"""
        import os, pathlib, time
        import frontier as fr
        from frontier.distributed.transport import timeouts
        from mpi4py import MPI
        rank = MPI.COMM_WORLD.rank
        if not {known}:
            timeouts.proxy = lambda process: None
        fr.bfs(fr.path(5).to("ranks"), 0)
        pathlib.Path(f"pid{{rank}}.made").write_text(f"{{os.getpid()}} {{os.getppid()}}")
        os.rename(f"pid{{rank}}.made", f"pid{{rank}}")
        if rank < 2:
            time.sleep(1000)
        fr.bfs(fr.path(5).to("ranks"), 0)
    """, FRONTIER_RANKS_TIMEOUT="5")  # fmt: skip
    until = time.monotonic() + 100
    while not all((tmp_path / f"pid{rank}").exists() for rank in range(3)) and time.monotonic() < until:
        time.sleep(0.1)
    pids = [[int(each) for each in (tmp_path / f"pid{rank}").read_text().split()] for rank in range(3)]
    for rank in range(3):
        (tmp_path / f"pid{rank}").write_text(str(pids[rank][0]))
    for pid in (pids[0][1], run.pid, pids[0][0], pids[1][0]):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    run.communicate(timeout=60)
    assert_gone(tmp_path, 3)


@processes
@pytest.mark.parametrize("imports", ["", "from mpi4py import MPI"], ids=["without MPI", "MPI"])
def test_an_exception_before_ranks_are_used_ends_all(imports, tmp_path):
    made = mpirun(3, tmp_path, f"""
        import pathlib, os
        import frontier as fr
        {imports}
        rank = int(os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "0")))
        pathlib.Path(f"pid{{rank}}").write_text(str(os.getpid()))
        g = fr.path(5) if rank != 1 else fr.read("missing.el")
        fr.bfs(g.to("ranks"), 0)
        print("end")
    """, FRONTIER_RANKS_TIMEOUT="100")  # fmt: skip
    assert made.returncode != 0
    assert "end" not in made.stdout.split()
    assert "rank 1:" in made.stderr, made.stderr
    assert made.stderr.count("missing.el") >= 1, made.stderr
    assert "FRONTIER_RANKS_TIMEOUT" not in made.stderr, made.stderr
    assert_gone(tmp_path, 3)


@processes
@pytest.mark.parametrize("others", ["raise", "if rank != 1: raise"], ids=["ranks 1 and 2", "rank 2"])
@pytest.mark.parametrize("then", ["fr.bfs(g, 0)", "pass"], ids=["waits", "ends"])
def test_an_error_of_all_that_rank_0_handles_is_said(then, others, tmp_path):
    made = mpirun(3, tmp_path, f"""
        import frontier as fr
        from mpi4py import MPI
        rank = MPI.COMM_WORLD.rank
        g = fr.path(5).to("ranks")
        try:
            fr.bfs(g, 3 + (rank == 1))
        except fr.GraphError:
            if rank == 0:
                {then}
            else:
                {others}
    """)  # fmt: skip
    assert made.returncode != 0
    assert made.stderr.count("GraphError: rank 1 has not the same p.source as rank 0") == 1, made.stderr
    assert made.stderr.count("have ended, and others wait") == (then != "pass"), made.stderr


@processes
def test_ctrl_c_of_a_command_outside_a_run_ends_all(tmp_path):
    made = mpirun(3, tmp_path, """
        import sys
        from frontier.cli import main, run
        from mpi4py import MPI
        def pressed(*given):
            raise KeyboardInterrupt
        if MPI.COMM_WORLD.rank == 1:
            run._execute = pressed
        sys.exit(main(["bfs", "rmat:8", "--backend", "ranks"]))
    """)  # fmt: skip
    assert made.returncode == 130, made.stderr
    assert made.stderr.count("frontier: ") == made.stderr.count("frontier: interrupted") == 1, made.stderr


@processes
def test_ctrl_c_ends_a_process_that_waits_for_mpi_to_begin(tmp_path):
    run = begun(2, tmp_path, """
        import os, pathlib, signal, time
        import frontier as fr
        rank = os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK"))
        if rank == "1":
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        pathlib.Path(f"pid{rank}.made").write_text(str(os.getpid()))
        os.rename(f"pid{rank}.made", f"pid{rank}")
        if rank == "1":
            time.sleep(1000)
        fr.path(5).to("ranks")
    """)  # fmt: skip
    until = time.monotonic() + 100
    while not all((tmp_path / f"pid{rank}").exists() for rank in range(2)) and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(2)  # into the beginning of MPI
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    assert run.returncode != 0
    assert_gone(tmp_path, 2)


def test_a_process_ends_even_if_mpi_returns_from_ending_it():
    program = """
from frontier.distributed.transport.mpi import Mpi

class Returns:
    def Abort(self, code):
        pass

process = Mpi.__new__(Mpi)
process._comm = Returns()
process.end("why")
print("goes on")
"""
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment())
    assert (made.returncode, made.stdout, made.stderr) == (1, "", "why\n")


def assert_gone(folder, count):
    """No process of a run is left, within seconds."""
    pids = [int((folder / f"pid{rank}").read_text()) for rank in range(count)]
    until = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@processes
@pytest.mark.parametrize("caught", [True, False])
def test_ctrl_c_reaches_all_ranks(caught, tmp_path):
    program = f"""
        import os, pathlib, time
        import frontier as fr
        from mpi4py import MPI
        rank = MPI.COMM_WORLD.rank
        long, short = fr.path(10**6).to("ranks"), fr.path(5).to("ranks")
        fr.bfs(short, 0)
        pathlib.Path(f"pid{{rank}}.made").write_text(str(os.getpid()))
        os.rename(f"pid{{rank}}.made", f"pid{{rank}}")
        try:
            fr.bfs(long, 0)
        except KeyboardInterrupt:
            if not {caught}:
                raise
        pathlib.Path(f"found{{rank}}").write_text(str(fr.bfs(short, 0).level.sum()))
    """
    run = begun(3, tmp_path, program)
    until = time.monotonic() + 100
    while not all((tmp_path / f"pid{rank}").exists() for rank in range(3)) and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(1)  # into the search, of minutes
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=60)
    if caught:
        assert run.returncode == 0, err
        assert [(tmp_path / f"found{rank}").read_text() for rank in range(3)] == ["10"] * 3
    else:
        assert run.returncode != 0
        assert err.count("Traceback") == 1, err
    assert_gone(tmp_path, 3)


@processes
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux keeps to RLIMIT_AS")
def test_no_room_for_what_ranks_tell_each_other(tmp_path):
    """Where pickle finds no room for an array, Python also says something else, as if nobody had handled it."""
    made = mpirun(3, tmp_path, """
import resource
import numpy as np, frontier as fr
from frontier.distributed.transport.communicators import world
comm = world()
long = np.ones(40 << 20, np.uint8) if comm.rank == 0 else None
if comm.rank == 1:                      # with room for the message, but not for the array that is made of it
    with open("/proc/self/status") as file:
        size = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmSize"))
    resource.setrlimit(resource.RLIMIT_AS, (size + (60 << 20), size + (60 << 20)))
comm.allgather(long)
""")
    assert made.returncode != 0
    assert "FrontierMemoryError: what ranks tell each other: memory ran out" in made.stderr
    assert "SystemError" not in made.stderr

"""Several Python threads and several processes at once; numbers of threads; the cache of generated code."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading

import numpy as np
import oracles
import programs
import pytest
from compare import equal, workers
from processes import environment
from strategies import SIMULATED

import frontier as fr

#: Vertices of a complete graph.
SMALL = 10 if SIMULATED else 40


def bfs(g, source):
    p = programs.bfs_problem(g, source)
    programs.BFS(p).run(fr.Frontier(g, [source]))
    return p.level


def sssp(g, source):
    p = programs.sssp_problem(g, source, 50)
    programs.SSSP(p).run()
    return p.distance


@pytest.mark.gpu
def test_a_thread_runs_at_once_what_another_has_prepared():
    """All memory is there, and nothing has called CUDA's runtime in the new thread."""
    p = programs.bfs_problem(fr.path(9).to("cuda"), 0)
    step, wrong = fr.Compute(forget, over="vertices"), []
    step(p)

    def work():
        try:
            step(p)
        except BaseException as error:  # brought to the main thread
            wrong.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not wrong


def forget(p, v):
    p.level[v] = -1


@pytest.mark.unsimulated("large graphs")
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("shared", [True, False], ids=["one graph", "two graphs"])
def test_threads_run_different_problems_at_once(compiled, count, shared):
    rng = np.random.default_rng(count)

    def graph(seed):
        ends = np.random.default_rng(seed).integers(0, 2000, (2, 8000))
        return compiled(fr.from_edges(*ends, rng.integers(0, 100, 8000), num_vertices=2000, duplicates="first"))

    graphs = [graph(0)] * 2 if shared else [graph(0), graph(1)]
    expected = [oracles.bfs_levels(graphs[0], 0), oracles.sssp_distances(graphs[1], 1)]
    wrong, barrier = [], threading.Barrier(2)

    def work(which):
        try:
            barrier.wait()
            for _ in range(15):
                found = bfs(graphs[0], 0) if which == 0 else sssp(graphs[1], 1)
                equal(found, expected[which])
        except BaseException as error:  # brought to the main thread
            wrong.append(error)

    with workers(count):
        threads = [threading.Thread(target=work, args=(which,)) for which in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def fresh_functor():
    number = np.random.default_rng().integers(2**40).item()  # in no cache of code

    def fn(p, v):
        p.level[v] = number % 1000

    return fn, number % 1000


def test_threads_compile_the_same_step_at_once(compiled):
    g = compiled(fr.path(10))
    fn, expected = fresh_functor()
    step = fr.Compute(fn)
    problems = [programs.bfs_problem(g, 0) for _ in range(3)]
    threads = [threading.Thread(target=step, args=(p, fr.Frontier.all(g))) for p in problems]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((p.level == expected).all() for p in problems)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_number_of_threads(count):
    g = fr.rmat(11, 8, seed=1)
    with workers(count):
        assert fr.num_threads() == count
        np.testing.assert_array_equal(bfs(g, 3), oracles.bfs_levels(g, 3))


@pytest.mark.parametrize("count", [0, -1])
def test_no_threads_are_refused(count):
    with pytest.raises(ValueError, match="at least 1"):
        fr.set_num_threads(count)


def test_a_functor_that_fails_on_a_thread_raises_in_its_caller(compiled):
    """With several workers too, an error comes out once and leaves the workers usable."""
    g = compiled(fr.complete(SMALL))
    p = fr.Problem(g)
    with workers(3):
        with pytest.raises(fr.FunctorError):
            fr.advance(p, fr.Frontier.all(g), always, unique="claimed")
        equal(bfs(g, 0), oracles.bfs_levels(g, 0))


def always(p, dst):
    return True


SCRIPT = """
import frontier as fr

with fr.trace() as t:
    level = fr.bfs(fr.karate().to("{name}"), 0).level
print(int(level.sum()), sum(row.step.startswith("compile") for row in t.rows))
"""


def run(folder, name="cpu", **more):
    variables = environment(FRONTIER_CACHE_DIR=str(folder), FRONTIER_QUIET="1", **more)
    script = [sys.executable, "-c", SCRIPT.replace("{name}", name)]
    return subprocess.Popen(script, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def result(process):
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    assert err == ""
    return [int(word) for word in out.split()]


@pytest.mark.unsimulated("it does not compile")
def test_two_processes_fill_an_empty_cache_at_once(compiled, tmp_path):
    folder = tmp_path / compiled.name  # of the backend
    expected = int(oracles.bfs_levels(fr.karate(), 0).sum())
    both = [run(tmp_path, compiled.name), run(tmp_path, compiled.name)]
    assert [result(process)[0] for process in both] == [expected] * 2
    kept = sorted(path.name for path in folder.glob("*.py"))
    assert kept
    assert not list(folder.glob("*.tmp"))
    assert result(run(tmp_path, compiled.name))[0] == expected  # from what the others left
    assert sorted(path.name for path in folder.glob("*.py")) == kept


def test_a_cache_that_cannot_be_written(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert result(run(blocked))[0] == int(oracles.bfs_levels(fr.karate(), 0).sum())


def test_damaged_files_in_the_cache_are_made_anew(tmp_path):
    first = result(run(tmp_path))[0]
    damaged = list(tmp_path.rglob("loop_*.code"))
    assert damaged
    for path in damaged:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert result(run(tmp_path))[0] == first


def test_the_number_of_threads_comes_from_the_environment(tmp_path):
    script = "import frontier as fr; print(fr.num_threads())"
    variables = environment(FRONTIER_NUM_THREADS="3")
    made = subprocess.run([sys.executable, "-c", script], env=variables, capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "3"


@pytest.mark.unsimulated("its memory is the host's")
def test_a_gpu_is_usable_after_an_out_of_memory(cuda):
    g = cuda(fr.grid(1500, 1500))  # what it needs fits into no gap that other tests have left
    expected = oracles.bfs_levels(g, 0)
    pool = fr.Placement.parse("cuda").memory.xp.get_default_memory_pool()
    p = programs.bfs_problem(g, 0)
    gc.collect()
    pool.free_all_blocks()
    pool.set_limit(pool.total_bytes() + 1000)
    try:
        with pytest.raises(fr.DeviceMemoryError, match="free on cuda"):
            programs.BFS(p).run(fr.Frontier(g, [0]))
    finally:
        pool.set_limit(0)
    equal(bfs(g, 0), expected)

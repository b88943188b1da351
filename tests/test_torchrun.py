"""Programs that torchrun starts; only where PyTorch is installed, which nothing else needs."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import textwrap

import pytest
from mpi import environment

import frontier as fr
from frontier.memory import detection

pytestmark = [
    pytest.mark.skipif(detection.simulated(), reason="no kernels are in it"),
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch: pip install .[torchrun]"),
]


def torchrun(count, folder, program, **more):
    (folder / "program.py").write_text(textwrap.dedent(program))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={count}", "program.py"]
    return subprocess.run(command, capture_output=True, text=True, env=environment(**more), cwd=folder, timeout=300)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_processes_have_the_same_results(count, tmp_path):
    fr.write(fr.rmat(8, 8, seed=1, weights=(1, 9)), tmp_path / "graph.npz")
    made = torchrun(count, tmp_path, """
        import numpy as np, frontier as fr
        for directed in (False, True):
            options = dict(seed=5, weights=(1, 9), directed=directed)
            whole, g = fr.rmat(9, 8, **options), fr.rmat(9, 8, placement="ranks", **options)
            for there in (g, whole.to("ranks")):
                assert np.array_equal(fr.bfs(there, 3).level, fr.bfs(whole, 3).level)
                fr.verify.sssp(whole, fr.sssp(there, 3))
                assert np.allclose(fr.pagerank(there, weighted=True).rank, fr.pagerank(whole, weighted=True).rank)
            assert np.array_equal(np.asarray(g.targets), whole.targets)
        assert np.array_equal(np.asarray(fr.read("graph.npz", placement="ranks").weights), fr.read("graph.npz").weights)
        print("right", flush=True)
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == count


def test_a_group_of_the_program_is_left_alone(tmp_path):
    made = torchrun(2, tmp_path, """
        import torch, torch.distributed as dist, frontier as fr
        dist.init_process_group("gloo")
        there = fr.path(9).to("ranks")
        assert fr.bfs(there, 0).level.tolist() == list(range(9))
        total = torch.ones(3)
        dist.all_reduce(total)
        assert total.tolist() == [2, 2, 2]
        dist.destroy_process_group()
        print("right", flush=True)
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == 2


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ('fr.bfs(fr.rmat(6, 8, seed=rank).to("ranks"), 0)', "rank 1 has not the same graph as rank 0"),
        ("if rank == 1: os.kill(os.getpid(), 9)\nfr.bfs(g, 0)", "SIGKILL|Signal 9|signal 9|has ended"),
        ("if rank == 1: raise ValueError('mine')\nfr.bfs(g, 0)", "rank 1 of 2"),
        ("if rank == 1: time.sleep(1000)\nfr.bfs(g, 0)", "has not come to an exchange .* 2 s"),
    ],
)
def test_a_rank_that_fails_ends_all(what, message, tmp_path):
    head = 'import os, time\nimport frontier as fr\nrank = int(os.environ["RANK"])\n'
    head += 'g = fr.rmat(6, 8, seed=1).to("ranks")\nfr.bfs(g, 0)\n'
    seconds = "2" if "sleep" in what else "100"
    made = torchrun(2, tmp_path, f"{head}{what}\nprint('end')\n", FRONTIER_RANKS_TIMEOUT=seconds)
    assert made.returncode != 0
    assert "end" not in made.stdout.split()
    assert re.search(message, made.stderr), made.stderr

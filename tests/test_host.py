"""What runs share to cost little time in Python, and what must not be shared: tables, workspaces, keys of steps."""

from __future__ import annotations

import copy
import gc
import pickle
import signal
import threading
import weakref
from typing import Any

import numpy as np
import pool
import pytest
from compare import equal, ids, workers
from strict_cupy import module

import frontier as fr
from frontier.backends.run import execution
from frontier.backends.run.interrupts import deferred
from frontier.memory import detection
from frontier.memory.gpu import gpu
from frontier.memory.host import HOST
from frontier.program.execution import start


def count(p, v):
    p.x[v] += 1


def double(p, v):
    p.x[v] += 2


def even(p, v):
    return v % 2 == 0


def loop() -> fr.Loop:
    return fr.Loop(fr.Compute(count, over="vertices"), times="k")


def problem(g: fr.Graph, k: int = 3) -> fr.Problem:
    return fr.Problem(g, x=fr.vertex("int32"), k=fr.scalar("int32", k))


# -- runs one after another, and side by side ----------------------------------------------------------------


def test_a_table_is_used_again_and_another_problem_is_in_it(compiled: Any) -> None:
    g = compiled(fr.path(5))
    step, first, second = loop(), problem(g), problem(g, 2)
    for p in (first, second, first):
        start(step, p).proceed()
    equal(first.x, [6] * 5)
    equal(second.x, [2] * 5)
    (code,) = step._code.values()
    assert len(code.tables) == 1


def test_what_is_known_of_a_finished_run_stays_though_others_use_its_table(compiled: Any) -> None:
    g, step = compiled(fr.path(5)), loop()
    long, short = start(step, problem(g, 4)), start(step, problem(g, 4))
    assert long._workspace is not short._workspace
    assert long.proceed() == 4
    after = start(step, p := problem(g, 1))
    assert after._workspace is long._workspace
    assert long.passes == 4
    assert long.proceed() == 0  # and it is not given back once more
    other = start(step, problem(g, 1))
    assert len({id(one._workspace) for one in (short, after, other)}) == 3
    assert after.proceed() == 1
    equal(p.x, [1] * 5)


def test_the_number_of_threads_changes_between_runs() -> None:
    g = fr.grid(20, 20).to("cpu")
    p = problem(g)
    for threads in (1, 3, 2, 1):
        with workers(threads):
            assert len(fr.filter(p, fr.Frontier.all(g), even)) == 200
            fr.compute(p, fr.Frontier.all(g), count)
    equal(p.x, [4] * 400)


def test_code_goes_with_its_step() -> None:
    g = fr.path(5).to("cpu")
    step = fr.Compute(count)
    step(p := problem(g), fr.Frontier.all(g))
    (code,) = map(weakref.ref, step._code.values())
    del step, p
    gc.collect()
    assert code() is None  # the graph's workspaces have not kept it


def test_a_copy_of_a_step_forgets_what_was_known_of_the_old_one(backend: Any) -> None:
    g = backend(fr.path(4))
    p = problem(g)
    step = fr.Compute(count, over="vertices")
    step(p)
    other = step.replace({count: double})
    other(p)
    step(p)
    equal(p.x, [4] * 4)
    assert step.key() == fr.Compute(count, over="vertices").key() != other.key()


@pytest.mark.parametrize("made", [np.arange(0, 9, 2), np.arange(9)[::2].astype(np.int32), np.arange(0, 9, 2)[::-1]])
def test_a_frontier_is_read_where_it_lies(made: np.ndarray) -> None:
    g = fr.path(9).to("cpu")
    f = fr.Frontier._of(g, "vertex", ids=made)
    p, before = problem(g), made.copy()
    near = fr.filter(p, f, even)
    far = fr.advance(p, near, visit)
    fr.compute(p, far, count)
    equal(made, before)
    assert ids(near) == ("vertex", [0, 2, 4, 6, 8])
    equal(p.x, [0, 1] * 4 + [0])


def visit(p, src, dst):
    return True


def nobody(p, v):
    return False


def test_a_result_without_elements_lies_where_the_graph_does_once_it_is_asked_for(compiled: Any) -> None:
    g = compiled(fr.path(4))
    none = fr.filter(problem(g), fr.Frontier.all(g), nobody)
    assert type(none._ids) is np.ndarray  # which costs a GPU nothing
    assert len(none) == 0
    assert type(none.ids) is type(g.targets)
    assert none.ids.dtype == g.targets.dtype
    assert len(fr.advance(problem(g), none, visit)) == 0


def test_a_loop_is_called_once(compiled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    g = compiled(fr.path(20))
    calls = []
    made = type(start(loop(), problem(g)))
    call = made._call
    monkeypatch.setattr(made, "_call", lambda self: calls.append(self) or call(self))
    monkeypatch.setattr(execution, "NANOSECONDS", 10**12)  # the simulator may take longer than a call's usual time
    equal(fr.bfs(g, 0).level, range(20))
    assert len(calls) == 1


# -- Ctrl-C --------------------------------------------------------------------------------------------------


def press(times: int, seen: list[bool], error: Exception | None = None, patient: bool = False) -> None:
    with deferred(patient) as pending:
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
            seen.append(pending.pressed)
        if error is not None:
            raise error


def test_ctrl_c_waits_and_the_second_one_does_not() -> None:
    for times in (1, 2):
        seen: list[bool] = []
        with pytest.raises(KeyboardInterrupt):
            press(times, seen)
        assert seen == [True]
    with pytest.raises(ValueError, match="of its own"):
        press(1, seen, ValueError("an error of its own"))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_patient_one_waits_as_often_as_it_is_pressed() -> None:
    """For what runs cannot be left between two boundaries."""
    seen: list[bool] = []
    with pytest.raises(KeyboardInterrupt):
        press(3, seen, patient=True)
    assert seen == [True] * 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_users_and_other_threads_are_left_alone() -> None:
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        with deferred() as pending:
            signal.raise_signal(signal.SIGINT)
        assert not pending.pressed
        assert seen == [1]
    finally:
        signal.signal(signal.SIGINT, before)
    found = []

    def other() -> None:
        with deferred():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]


# -- fields and the current GPU ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["graph", "fields", "workspace", "class", "_x", "__init__", "a b"])
def test_names_that_no_field_can_have(name: str) -> None:
    for _ in range(2):
        with pytest.raises(fr.FrontierError, match="cannot be called"):
            fr.Problem(fr.path(2), **{name: fr.scalar("int32")})


def test_a_gpu_is_made_current_only_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    current = module.cuda.runtime.setDevice

    def note(index: int) -> None:
        made.append(index)
        current(index)

    monkeypatch.setattr(detection, "_ready", True)
    monkeypatch.setattr(detection, "cupy", lambda: module)
    with gpu(0).using():
        pass  # the first time, a thread gets its context
    monkeypatch.setattr(module.cuda.runtime, "setDevice", note)
    with gpu(0).using():
        assert not made
    with gpu(1).using():
        assert made == [1]
        with gpu(0).using():
            assert made == [1, 0]
        assert made == [1, 0, 1]
    assert made == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("value", "dtype"), [(7, "int8"), (-1, "int64"), (True, "bool"), (np.inf, "float32"), (np.uint64(2**63), "uint64")]
)
def test_arrays_of_one_value(value: Any, dtype: str) -> None:
    made = HOST.full(3, value, dtype)
    assert made.dtype == dtype
    assert made.tolist() == [value] * 3


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))], ids=["copy", "pickle"])
def test_problems_can_be_copied_after_a_run(copied: Any) -> None:
    p = pool.problem(fr.path(5).to("cpu"))
    step = fr.Compute(pool.touch, over="vertices")
    step(p)
    q = copied(p)
    equal(q.seen, p.seen)
    copied(step)(q)
    step(p)
    equal(q.seen, p.seen)

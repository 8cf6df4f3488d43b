"""Tasks in this process, or in processes of this machine, which joblib's loky starts.

Each process has a connection of its own. So when one dies, its tasks are known, and the others
continue.
"""

import os
import signal
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from multiprocessing import Pipe
from multiprocessing.connection import wait
from runpy import run_path
from typing import Any

from joblib.externals.loky.backend import resource_tracker
from joblib.externals.loky.backend.process import LokyProcess
from joblib.externals.loky.backend.utils import kill_process_tree
from joblib.externals.loky.cloudpickle_wrapper import dumps

from gpbandits_env.scenarios.study import worker
from gpbandits_env.scenarios.study.pool import Pool, Results, WorkerDied
from gpbandits_env.scenarios.study.runner import PlannedTrial, run_tasks

# How often a task is restarted whose worker died.
REVIVALS = 3
# The warning of joblib's tracker when it finds something to clean up.
SAYING = "ignore:resource_tracker:UserWarning"
# BLAS then starts no threads that it may not use.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS")}


def opened(jobs: int, address: str | None) -> AbstractContextManager[Pool]:
    """A pool of ``jobs`` processes, which are killed at the end; for 1 job, this process."""
    return nullcontext(Here()) if jobs == 1 else closing(Processes(jobs))


class Here(Pool):
    """This process, which runs a portion when its result is requested."""

    def submit(self, tasks: Sequence[PlannedTrial]) -> Any:
        self._tasks = tasks
        return 0

    def wait(self, handles: Collection[Any]) -> Iterable[Any]:
        return list(handles)

    def result(self, handle: Any) -> Results:
        return run_tasks(self._tasks)


class Processes(Pool):
    """Processes of this machine; when one dies, the next portion gets a new one."""

    def __init__(self, jobs: int) -> None:
        self.slots = self.suspects = jobs
        self.revivals = REVIVALS
        self._processes: dict[Any, LokyProcess] = {}  # by their connections, which are the handles
        self._idle: list[Any] = []

    def submit(self, tasks: Sequence[PlannedTrial]) -> Any:
        connection = self._idle.pop() if self._idle else self._started()
        task = dumps((run_tasks, tasks))
        try:
            connection.send_bytes(task)
        except OSError:  # its process was killed while it was idle
            self._end(connection)
            connection = self._started()
            connection.send_bytes(task)
        return connection

    def wait(self, handles: Collection[Any]) -> Iterable[Any]:
        return wait(list(handles))

    def result(self, handle: Any) -> Results:
        try:
            found = handle.recv()
        except (EOFError, OSError) as error:
            raise WorkerDied(f"exit code {self._end(handle)}") from error
        self._idle.append(handle)
        return found

    def close(self) -> None:
        """Kill all processes."""
        for connection in list(self._processes):
            self._end(connection)

    def _started(self) -> Any:
        with _signals_blocked():
            _start_tracker()
            ours, theirs = Pipe()
            known = {"driver": os.getpid(), "connection": theirs}
            process = LokyProcess(
                target=run_path, args=(worker.__file__, known, worker.RUN_NAME), env=ONE_THREAD
            )
            process.start()
            theirs.close()  # the end of a process then ends its connection
            self._processes[ours] = process
        return ours

    def _end(self, connection: Any) -> int | None:
        process = self._processes.pop(connection)
        connection.close()
        kill_process_tree(process)
        return process.exitcode


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Start processes that ignore signals of a terminal: children inherit blocked signals.

    This process handles such a signal at the end of the block. Workers unblock it when they are
    ready, but joblib's tracker, which cleans up after a killed driver, never receives it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (*worker.ENDING, signal.SIGQUIT))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_tracker() -> None:
    """Start joblib's tracker without its warnings.

    It prints them after its driver was killed, into whatever the terminal shows next.
    """
    sys.warnoptions.append(SAYING)  # a new interpreter gets it on its command line
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.remove(SAYING)

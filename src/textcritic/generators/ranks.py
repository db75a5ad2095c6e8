"""The processes that train one model together, one a GPU: what they share, and what they agree on."""

import os
import socket
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

TIMEOUT = timedelta(hours=1)  # the others wait while the first writes a checkpoint; one that dies is noticed at once
LOOPBACK = "lo"


@dataclass(frozen=True)
class Ranks:
    """One process among `size`; a process alone, the default, shares and agrees with itself.

    Every method but `part` is collective: all processes call it at the same point.
    """

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes files and logs."""
        return self.rank == 0

    def part(self, items: Any) -> Any:
        """Every `size`-th of a sequence or array, a share of its own for each process."""
        return items[self.rank :: self.size]

    def sum(self, *values: float) -> list[float]:
        """The sum of each value over the processes, in float64."""
        if self.size == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64)
        dist.all_reduce(total)
        return [float(value) for value in total.tolist()]

    def any(self, *flags: bool) -> list[bool]:
        """Of each flag, whether some process raised it. The flags are on the CPU, so no GPU is waited for."""
        return [count > 0 for count in self.sum(*map(float, flags))]

    def mean_(self, values: torch.Tensor) -> None:
        """Put the mean over the processes into `values`, on whatever device they are."""
        if self.size > 1:
            dist.all_reduce(values)
            values /= self.size

    def gather(self, value: Any) -> list[Any]:
        """Everyone's value, in order of rank."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        dist.all_gather_object(values, value)
        return values

    def share(self, value: Any = None) -> Any:
        """The value of the process that leads; with none, a point that nobody passes before all have come there."""
        return self.gather(value)[0]

    def wrap(self, model: torch.nn.Module) -> torch.nn.Module:
        """The model, made to average its gradients over the processes in each backward pass."""
        if self.size == 1:
            return model
        return DistributedDataParallel(model, gradient_as_bucket_view=True, forward_sync_buffers=False)

    def averaging(self, wrapped: torch.nn.Module, last: bool) -> AbstractContextManager[Any]:
        """Around a forward and backward pass: only in the last one of a step are gradients averaged."""
        if isinstance(wrapped, DistributedDataParallel) and not last:
            held: AbstractContextManager[Any] = wrapped.no_sync()
            return held
        return nullcontext()


def join(rank: int, size: int, port: int) -> Ranks:
    """Make this process one of `size` on this node that meet at a TCPStore on `port`; it gets the GPU of its rank."""
    if LOOPBACK in {name for _, name in socket.if_nameindex()}:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", LOOPBACK)
    gpus = torch.cuda.is_available()
    if gpus:
        torch.cuda.set_device(rank)
    store = dist.TCPStore("127.0.0.1", port, is_master=False, timeout=TIMEOUT)
    backend = "cpu:gloo,cuda:nccl" if gpus else "gloo"
    dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=TIMEOUT)
    return Ranks(rank, size)

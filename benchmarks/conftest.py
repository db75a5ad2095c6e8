"""What benchmarks share."""

import pytest


@pytest.fixture
def one_thread():
    """Torch on one thread, while a benchmark that counts its CPU time runs."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)

"""The two cells of an RNNG: the LSTM that reads a stack, and the one that makes two subtrees into one."""

import torch


class StackCell(torch.nn.Module):
    """An LSTM of several layers that reads one more element of a stack (Dyer et al. 2015, section 2).

    Args:
        width: of elements and of each layer.
        layers: how many.
        dropout: of what each layer reads, while training.
    """

    def __init__(self, width: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.gates = torch.nn.ModuleList(torch.nn.Linear(2 * width, 4 * width) for _ in range(layers))
        self.dropout = torch.nn.Dropout(dropout)
        self.start = torch.nn.Parameter(torch.zeros(width))

    def empty(self) -> torch.Tensor:
        """The state of the empty stack, [1, layers, 2, width]: it has read `start`, which is learned."""
        layers = len(self.gates)
        nothing = self.start.new_zeros(1, layers, 2, len(self.start))
        state: torch.Tensor = self(self.start[None], nothing)
        return state

    def forward(self, elements: torch.Tensor, below: torch.Tensor) -> torch.Tensor:
        """States [n, layers, 2, width] (outputs, cells) after elements [n, width] on stacks of states `below`."""
        states = []
        for layer, gates in enumerate(self.gates):
            hidden, cell = below[:, layer].unbind(1)
            read, forget, write, new = gates(torch.cat([self.dropout(elements), hidden], 1)).chunk(4, 1)
            cell = forget.sigmoid() * cell + read.sigmoid() * new.tanh()
            elements = write.sigmoid() * cell.tanh()
            states.append(torch.stack([elements, cell], 1))
        return torch.stack(states, 1)


class Composition(torch.nn.Module):
    """A binary tree LSTM (Tai et al. 2015, section 3.2); the cell of a word is zero.

    Args:
        width: of subtrees.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gates = torch.nn.Linear(2 * width, 5 * width)

    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Subtrees [n, 2, width] (outputs, cells) of the left and the right one, [n, 2, width] each."""
        gates = self.gates(torch.cat([left[:, 0], right[:, 0]], 1))
        read, forget_left, forget_right, write, new = gates.chunk(5, 1)
        cell = forget_left.sigmoid() * left[:, 1] + forget_right.sigmoid() * right[:, 1] + read.sigmoid() * new.tanh()
        return torch.stack([write.sigmoid() * cell.tanh(), cell], 1)

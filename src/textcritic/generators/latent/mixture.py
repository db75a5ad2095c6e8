"""Log weights of states drawn at several temperatures, as draws from the mixture of all of them.

The states are those of the shards of the single temperatures, drawn once more from the same random numbers, and log p
is read from there: only the proposal is evaluated, which is the cheaper of the two.
"""

import os
from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np
import torch

from textcritic.corpora.structured.texts import read_structured
from textcritic.errors import TextcriticError
from textcritic.generators.latent.resume import Floats, Partial, resumed
from textcritic.generators.latent.weigh import Draws, Weighed, generator_of, numpy_of, proposal_of
from textcritic.inference.importance import LogWeights, mixture_weights
from textcritic.training.hardware import cpu_settings

ROUNDING = 1e-4  # nats by which log q may differ from that of the shard, computed on another machine


def weigh_mixture(
    weighed: Weighed,
    shards: Sequence[tuple[float, str | os.PathLike[str]]],
    draws: Draws,
    out: str | os.PathLike[str],
    threads: int | None = None,
) -> LogWeights:
    """Write the weights of all draws of several temperatures under their mixture, see `mixture_weights`.

    The .npz file is as `LogWeights.save` writes it, with M K draws of each text, those of the first temperature first,
    and two arrays more: `temperatures` [M], and `log_q_under` [N, M K, M], log q of every draw under every temperature.
    As every temperature has K draws in each shard, shards are joined as others are. N M K (M + 3) numbers are in
    memory.

    Args:
        weighed: model, proposal and texts.
        shards: temperatures, all different, and their log weights as `weigh` wrote them, one shard of each.
        draws: as those shards were drawn; its temperature is not read.
        out: .npz file to write.
        threads: CPU threads of torch.

    Raises:
        TextcriticError: as `weigh`; fewer than two temperatures or one twice; a shard of other texts or draws.
    """
    temperatures = [temperature for temperature, _ in shards]
    if len(set(temperatures)) < max(2, len(temperatures)):
        raise TextcriticError(f"{out}: temperatures {temperatures}; a mixture is of two or more, each given once")
    singles = [LogWeights.read(path) for _, path in shards]
    with cpu_settings(threads), torch.no_grad():
        texts, proposal = read_structured(weighed.texts), proposal_of(weighed, out)
        ids, each = tuple(text.id for text in texts), draws.samples
        for (_, path), single in zip(shards, singles, strict=True):
            if single.ids != ids or single.draws != each or single.log_q is None:
                raise TextcriticError(f"{path}: not {each} draws of each text of {weighed.texts}; delete it and rerun")

        def of_text(row: int) -> Floats:
            under = np.empty((len(shards), each, len(shards)))
            for m, ((temperature, path), single) in enumerate(zip(shards, singles, strict=True)):
                random = generator_of(replace(draws, temperature=temperature), row, proposal.device)
                states, _ = proposal.draw(texts[row], each, temperature, random)
                for other, flatter in enumerate(temperatures):
                    under[m, :, other] = numpy_of(proposal.log_q(texts[row], states, flatter))
                assert single.log_q is not None
                if not np.allclose(under[m, :, m], single.log_q[row], rtol=0, atol=ROUNDING):
                    raise TextcriticError(
                        f"{path}: the states of text {ids[row]!r} cannot be drawn again: another version of torch or"
                        " another kind of device gives other random numbers; delete the weights of all temperatures and"
                        " make all of them on one machine"
                    )
            return under

        # Log weights of the shards decide nothing but log p, which is read again below.
        parts = {f"t{temperature:g}": path for temperature, path in shards}
        partial = Partial.of(out, asdict(weighed) | parts, asdict(draws))
        under = resumed(of_text, len(texts), (len(shards), each, len(shards)), partial)
    under = under.reshape(len(texts), -1, len(shards))
    log_p = np.concatenate([single.log_p for single in singles if single.log_p is not None], axis=1)
    weights = mixture_weights(log_p, under, [each] * len(shards), singles[0].tokens, ids)
    weights.save(out, {"log_q_under": under, "temperatures": np.array(temperatures, np.float64)})
    partial.path.unlink(missing_ok=True)
    return weights

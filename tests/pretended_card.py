"""A second device on a machine that has none: its tensors say `card:0`, hold real numbers on the CPU, and are refused
where those of a GPU would be.

torch keeps a place for devices that it does not know, PrivateUse1, and lets it be filled from Python. A tensor of the
card is a wrapper below autograd around one of the CPU (`OnCard`). `_run` does an operation on what is wrapped, if a GPU
would do it: so results are those of the CPU to the bit, unless the CPU has another kernel for the whole of what a GPU
does in parts (`WHOLE` keeps these together). A mixture of both devices raises, and so do `.numpy()` and a generator of
the other device. The card draws from a generator of its own, as a GPU does.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar, Self

import torch
from torch.nn import functional
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend

from textcritic.training import hardware

NAME = "card"
MEMORY = 80 << 30
RealGenerator = torch.Generator
CPU = torch.device("cpu")
# Arguments that a GPU takes from the CPU too: by operation, their places.
FROM_CPU = {
    "index": (1,),
    "_unsafe_index": (1,),
    "index_put": (1,),
    "index_put_": (1,),
    "_index_put_impl_": (1,),
    "_unsafe_index_put": (1,),
    "copy_": (1,),
    "_pack_padded_sequence": (1,),
    "_pack_padded_sequence_backward": (2,),
    "_pad_packed_sequence": (1,),
}
# Takes a number of the CPU (a tensor without dimensions), although it is not pointwise.
TAKES_NUMBERS = {"index_put_", "index_put", "_index_put_impl_", "masked_fill_", "masked_fill", "fill_", "index_fill_"}
# What only models do.
PRODUCTS = {"mm", "addmm", "bmm", "baddbmm", "embedding", "convolution"}
# What the CPU has a kernel or a path of its own for, which the card would do in parts.
WHOLE = [
    (functional, "scaled_dot_product_attention"),
    (functional, "silu"),
    (torch._VF, "lstm"),
    (torch._VF, "lstm_cell"),
]


class MixedError(RuntimeError):
    """Something of the card and something of the CPU in one operation."""


class _Module(_DummyBackendModule):
    """What is `torch.cuda` for a GPU."""

    class Event:
        """Is there at once."""

        def record(self) -> None:
            pass

        def synchronize(self) -> None:
            pass

    generator = RealGenerator()
    _initialized = True  # or activation checkpointing does not keep the generator's state
    inside = False  # what follows is an operation of the card, done by the CPU
    on_cpu: ClassVar[list[str]] = []  # products and look-ups that were not done on the card, of models left behind
    operations = 0  # so many were done on the card

    def manual_seed_all(self, seed: int) -> None:
        self.generator.manual_seed(seed)

    def get_rng_state(self, device: object = None) -> torch.Tensor:
        return self.generator.get_state()

    def set_rng_state(self, state: torch.Tensor, device: object = None) -> None:
        self.generator.set_state(state)

    def get_device_name(self, device: object = None) -> str:
        return "a card that is pretended"

    def mem_get_info(self, device: object = None) -> tuple[int, int]:
        return MEMORY - (1 << 30), MEMORY

    def is_bf16_supported(self, including_emulation: bool = True) -> bool:
        return False

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16]

    def empty_cache(self) -> None:
        pass

    def set_device(self, device: object) -> None:
        pass

    def device(self, index: object) -> Any:
        return nullcontext()


class OnCard(torch.Tensor):
    """A tensor of the card around one of the CPU."""

    held: torch.Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> Self:
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=torch.device(NAME, 0),
        )
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(
        cls, func: Callable[..., Any], types: object, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return _run(func, args, kwargs or {})

    def __repr__(self, **_: object) -> str:
        return f"OnCard({self.held!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            twin = OnCard(self.held.detach().clone())
            memo[id(self)] = _parameter(twin, self) if isinstance(self, torch.nn.Parameter) else twin
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        """As if it was saved and loaded by `map_location="cpu"`."""
        return self.held.detach().__reduce_ex__(protocol)

    def numpy(self, *_: object, **__: object) -> Any:
        raise TypeError(f"can't convert a tensor of {NAME}:0 to numpy; use .cpu() first")

    __array__ = numpy

    def tolist(self) -> Any:
        return self.detach().cpu().tolist()

    def untyped_storage(self) -> Any:
        """Where what it holds is: for who asks whether two are one."""
        return self.held.untyped_storage()

    def storage(self) -> Any:
        return self.held.storage()

    def data_ptr(self) -> int:
        return self.held.data_ptr()

    def new_tensor(self, values: Any, **kwargs: Any) -> Any:
        return torch.tensor(values, **{"dtype": self.dtype, **kwargs}).to(self.device)

    def __getitem__(self, keys: Any) -> Any:
        return super().__getitem__(_keys(keys))

    def __setitem__(self, keys: Any, values: Any) -> None:
        super().__setitem__(_keys(keys), values)

    def pin_memory(self, *_: object) -> Any:
        raise RuntimeError("only dense tensors of the CPU can be pinned")


class Generator(RealGenerator):
    """Of the device that it was asked for."""

    ours: ClassVar[set[int]] = set()  # which of torch's generators are the card's

    def __new__(cls, device: Any = "cpu") -> Self:
        made = super().__new__(cls)
        made.on = torch.device(device)
        (cls.ours.add if made.on.type == NAME else cls.ours.discard)(made._cdata)
        return made

    def __init__(self, device: Any = "cpu") -> None:
        pass

    @property
    def device(self) -> torch.device:
        return self.on


def _to_card(device: Any) -> bool:
    return device is not None and torch.device(device).type == NAME


def _unwrapped(value: Any) -> Any:
    return value.held if isinstance(value, OnCard) else value


def _wrapped(value: Any) -> Any:
    return OnCard(value) if isinstance(value, torch.Tensor) and not isinstance(value, OnCard) else value


def _leaves(values: Any) -> Iterator[Any]:
    """What is in lists, tuples and dictionaries; a tenth of the time that torch's own takes."""
    for value in values.values() if isinstance(values, dict) else values:
        if isinstance(value, (list, tuple, dict)):
            yield from _leaves(value)
        else:
            yield value


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)([_each(change, one) for one in value])
    return change(value)


def _keys(keys: Any) -> Any:
    """A list becomes a tensor here, and not in C++, which asks the device for it."""
    keys = keys if isinstance(keys, tuple) else (keys,)
    return tuple(torch.tensor(key) if isinstance(key, list) else key for key in keys)


def _parameter(value: torch.Tensor, like: torch.Tensor) -> torch.nn.Parameter:
    made = torch.nn.Parameter(value, requires_grad=like.requires_grad)
    made.__dict__.update({key: of for key, of in like.__dict__.items() if key not in ("held", "_is_param")})
    return made


def _of_cpu(values: Any) -> list[torch.Tensor]:
    return [x for x in _leaves(values) if isinstance(x, torch.Tensor) and not isinstance(x, OnCard)]


def _check(name: str, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Raise if a GPU would not take these: a tensor of the CPU beside one of the card."""
    allowed = FROM_CPU.get(name, ())
    others = _of_cpu([[x for place, x in enumerate(args) if place not in allowed], dict(kwargs)])
    numbers = name in TAKES_NUMBERS or torch.Tag.pointwise in getattr(func, "tags", ())
    for other in others:
        if other.dim() or not numbers:
            raise MixedError(f"{name}: tensors of {NAME}:0 and of cpu, the latter of shape {tuple(other.shape)}")


@contextmanager
def _own_generator(generator: torch.Generator) -> Iterator[None]:
    """What draws without a generator draws from this one."""
    before, _MODULE.inside = torch.get_rng_state(), True
    torch.default_generator.set_state(generator.get_state())
    try:
        yield
    finally:
        _MODULE.inside = False
        generator.set_state(torch.get_rng_state())
        torch.default_generator.set_state(before)


def _run(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """An operation that has to do with the card, on what its tensors hold."""
    name = func._schema.name.split("::")[1]
    anywhere = [x for x in _leaves((args, kwargs)) if isinstance(x, OnCard)]
    asked = kwargs.get("device")
    generator = kwargs.get("generator")
    if generator is None:
        generator = next((x for x in args if isinstance(x, RealGenerator)), None)
    if name == "copy_" and not isinstance(args[0], OnCard):
        return args[0].copy_(_unwrapped(args[1]))
    if name == "_pack_padded_sequence" and isinstance(args[1], OnCard):
        raise MixedError(f"{name}: lengths have to be on the CPU")
    if anywhere and name != "_to_copy":
        _check(name, func, args, kwargs)
    on_card = bool(anywhere) if asked is None else _to_card(asked)
    if generator is not None and (generator._cdata in Generator.ours) != on_card:
        raise MixedError(f"{name}: a generator of the other device")
    plain_args = _each(_unwrapped, args)
    plain = {key: _each(_unwrapped, value) for key, value in kwargs.items() if key != "pin_memory"}
    if asked is not None:
        plain["device"] = CPU
    _MODULE.operations += 1
    draws = torch.Tag.nondeterministic_seeded in func.tags and generator is None and on_card
    with _own_generator(_MODULE.generator) if draws else nullcontext():
        out = func(*plain_args, **plain)
    if name == "_local_scalar_dense" or name == "is_pinned":
        return out
    if name == "_to_copy":
        out = out.clone() if any(out is x.held for x in anywhere) else out
        return OnCard(out) if on_card else out
    if name == "_pack_padded_sequence":
        return OnCard(out[0]), out[1]  # the sizes of batches are always on the CPU
    if func._schema.is_mutable:
        return _same_objects(func, args, kwargs, out)
    return _each(_wrapped, out) if on_card else out


def _same_objects(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> Any:
    """What an operation that writes into its arguments returns: these, with the shape that they have now."""
    held = {}
    for given in _leaves((args, kwargs)):
        if isinstance(given, OnCard):
            held[id(given.held)] = given
            if (given.shape, given.stride()) != (given.held.shape, given.held.stride()):
                raise NotImplementedError(f"{func}: changes the shape of a tensor in place")
    return _each(lambda value: held[id(value)] if id(value) in held else _wrapped(value), out)


class _Operations(TorchDispatchMode):
    """Every operation comes by here, also one that makes a tensor."""

    def __torch_dispatch__(
        self, func: Any, types: object, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        leaves = list(_leaves((args, kwargs)))
        if _to_card(kwargs.get("device")) or any(isinstance(x, OnCard) for x in leaves):
            return _run(func, args, kwargs)
        generators = [x for x in leaves if isinstance(x, RealGenerator)]
        if any(x._cdata in Generator.ours for x in generators):
            raise MixedError(f"{func}: a generator of {NAME}:0 for a tensor of the CPU")
        if not _MODULE.inside and func.name().split("::")[1].split(".")[0] in PRODUCTS:
            _MODULE.on_cpu.append(func.name())
        return func(*args, **kwargs)


class _Whole(torch.autograd.Function):
    """A function of torch done by the CPU as a whole; backward does it again, with the same draws, to differentiate."""

    @staticmethod
    def forward(context: Any, call: Callable[..., Any], *tensors: torch.Tensor) -> Any:
        context.call, context.drawn_from = call, _MODULE.get_rng_state()
        context.save_for_backward(*tensors)
        # The CPU has other kernels where gradients are wanted.
        asked = context.needs_input_grad[1:]
        held = [x.held.detach().requires_grad_(wanted) for x, wanted in zip(tensors, asked, strict=True)]
        with torch.enable_grad(), _own_generator(_MODULE.generator):
            return _each(lambda x: OnCard(x.detach()), call(held))

    @staticmethod
    def backward(context: Any, *gradients: torch.Tensor | None) -> Any:
        tensors = context.saved_tensors
        asked = context.needs_input_grad[1:]
        held = [x.held.detach().requires_grad_(wanted) for x, wanted in zip(tensors, asked, strict=True)]
        again = RealGenerator()
        again.set_state(context.drawn_from)
        with torch.enable_grad(), _own_generator(again):
            out = context.call(held)
            pairs = zip([out] if isinstance(out, torch.Tensor) else out, gradients, strict=True)
            differentiated = [(x, g.held) for x, g in pairs if g is not None and x.requires_grad]
            results, given = zip(*differentiated, strict=True)
            wanted = [x for x in held if x.requires_grad]
            found = iter(torch.autograd.grad(results, wanted, given, allow_unused=True))
        return None, *(_wrapped(next(found)) if wanted else None for wanted in asked)


def _whole(name: str, func: Callable[..., Any]) -> Callable[..., Any]:
    """The function `name` of torch, done as a whole where it is given tensors of the card."""

    def done(*args: Any, **kwargs: Any) -> Any:
        leaves, shape = pytree.tree_flatten((args, kwargs))
        places = [place for place, x in enumerate(leaves) if isinstance(x, OnCard)]
        if not places:
            return func(*args, **kwargs)
        packed = name == "lstm" and isinstance(args[1], torch.Tensor)
        if packed and isinstance(args[1], OnCard):
            raise MixedError("lstm: the sizes of batches have to be on the CPU")
        if others := _of_cpu([args[0], *args[1 + packed :], kwargs]):
            raise MixedError(f"{name}: tensors of {NAME}:0 and of cpu, the latter of shape {tuple(others[0].shape)}")

        def call(held: Sequence[torch.Tensor]) -> Any:
            filled = list(leaves)
            for place, value in zip(places, held, strict=True):
                filled[place] = value
            again, named = pytree.tree_unflatten(filled, shape)
            return func(*again, **named)

        tensors = [leaves[place] for place in places]
        if torch.is_grad_enabled():
            return _Whole.apply(call, *tensors)
        with _own_generator(_MODULE.generator):
            return _each(_wrapped, call([x.held for x in tensors]))

    return done


def _made_there(func: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.tensor` and `torch.as_tensor`, which make a tensor before they send it."""

    def done(*args: Any, device: Any = None, **kwargs: Any) -> Any:
        return func(*args, **kwargs).to(device) if _to_card(device) else func(*args, device=device, **kwargs)

    return done


def _apply(module: torch.nn.Module, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Any:
    """As `Module._apply`, but that a weight cannot become a wrapper: wherever it is, one new weight takes its place."""
    if recurse:
        for child in module.children():
            child._apply(fn)
    for key, weight in module._parameters.items():
        if weight is None:
            continue
        made = _MOVED.get(id(weight), (None, None))[1] if id(weight) in _MOVED else None
        if made is None:
            with torch.no_grad():
                value = fn(weight.detach())
            if not isinstance(value, OnCard) and not isinstance(weight, OnCard):
                weight.data = value
                continue
            if isinstance(weight, OnCard) and value.data_ptr() == weight.data_ptr():  # a shared module is moved once
                continue
            made = _parameter(value, weight)
            _MOVED[id(weight)] = (weight, made)  # kept, so that no other gets its id
        module._parameters[key] = made
    for key, value in module._buffers.items():
        if value is not None:
            module._buffers[key] = fn(value)
    return module


def _in_modes(run: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    """Modes are of a thread: one that is begun in the block has its own."""

    def done(thread: threading.Thread) -> None:
        with _Operations(), torch.autograd.set_multithreading_enabled(False):
            run(thread)

    return done


def _without_gradients(mode: Any) -> None:
    mode.instead = torch.no_grad()
    mode.instead.__enter__()


_MOVED: dict[int, tuple[torch.Tensor, torch.nn.Parameter]] = {}
_MODULE = _Module()
_setup_privateuseone_for_python_backend(NAME, _MODULE)


@contextmanager
def pretended() -> Iterator[_Module]:
    """A card, as `hardware.device` sees it, within a `with` block."""
    import pytest

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hardware, "CARD", NAME)
        patch.setattr(torch, "Generator", Generator)
        # Wrappers do not bear inference mode. Its class is patched, as there are functions decorated with it.
        patch.setattr(torch.inference_mode, "__enter__", _without_gradients)
        patch.setattr(torch.inference_mode, "__exit__", lambda mode, *fault: mode.instead.__exit__(*fault))
        patch.setattr(torch.nn.Module, "_apply", _apply)
        patch.setattr(threading.Thread, "run", _in_modes(threading.Thread.run))
        patch.setattr(torch.Tensor, "pin_memory", lambda self, *_: self)
        for module, name in WHOLE:
            patch.setattr(module, name, _whole(name, getattr(module, name)))
        for name in ("tensor", "as_tensor"):
            patch.setattr(torch, name, _made_there(getattr(torch, name)))
        _MODULE.operations, _MODULE.on_cpu = 0, []
        # Backward passes in this thread: else each device has one of its own, which cannot begin another pass.
        with _Operations(), torch.autograd.set_multithreading_enabled(False):
            yield _MODULE
    _MOVED.clear()

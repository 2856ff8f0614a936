"""The arguments and options of a command, built from the function of ``Tracker`` behind it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, TypeVar

from ndcg_tracker.asked import NOTHING, Declared, Labels, ReadAs, declared
from ndcg_tracker.cli import options
from ndcg_tracker.cli.file_runs import files_among, held_in_memory
from ndcg_tracker.rules import refuse

READERS: Mapping[str, Callable[[Any], Any]] = {
    "metric": options.metric_asked_for,
    "metrics": options.metrics_asked_for,
}
"""The readers of arguments by name; a note says how a common name of a metric is read."""

Answer = TypeVar("Answer")

_OF_FILES = {
    "read": Annotated[str | None, options.told(ReadAs, "read")],
    "labels": Annotated[str | None, options.told(Labels, "labels")],
}
"""The options for files in the place of runs, where a command has no others of these names."""


@dataclass(frozen=True)
class Asked:
    """The arguments that a command got for a function of ``Tracker``.

    ``positional``: those without a name. ``named``: the others by name, except those left at their defaults.
    """

    positional: tuple[Any, ...]
    named: Mapping[str, Any]

    def of(self, function: Callable[..., Answer], **further: object) -> Answer:
        """Call a function with the given arguments; ``further`` arguments override them."""
        return function(*self.positional, **{**self.named, **further})

    def answered(self, function: Callable[..., Answer], **further: object) -> Answer:
        """Return what a function answers about the requested database (see ``of``)."""
        with options.tracker() as tracker:
            return self.of(partial(function, tracker), **further)

    def part(self, function: Callable[..., Any]) -> dict[str, Any]:
        """Return the given named arguments that a function takes."""
        taken = inspect.signature(function).parameters
        return {name: value for name, value in self.named.items() if name in taken}

    def apart(self, question: type[Answer]) -> tuple[Answer, Asked]:
        """Return the question that some of the named arguments ask, and the other arguments."""
        own = self.part(question)
        others = {name: value for name, value in self.named.items() if name not in own}
        return question(**own), replace(self, named=others)


def _as_typer(argument: Declared) -> inspect.Parameter:
    """Return the parameter of the command that typer reads."""
    typed = list[str] if argument.is_repeated else argument.typed
    default = argument.default
    if default is not NOTHING and default is not False:  # an option that is not given is left to the function
        typed, default = typed | None, None
    told = options.told(Annotated[typed, argument.option], argument.name, argument.default)
    return inspect.Parameter(
        argument.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[typed, told]
    )


def _read(argument: Declared, value: Any) -> Any:
    """Return the argument for a value."""
    return (argument.option.read or READERS.get(argument.name, argument.read))(value)


def takes(
    function: Callable[..., Any],
    *further: Callable[..., Any],
    but: Iterable[str] = (),
    rules: str | None = "",
    runs: Sequence[str] = (),
    needs_labels: bool = True,
    further_metrics: Sequence[str] = (),
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the arguments and options of a function, as its first argument ``asked``, before its own ones.

    ``further``: functions or classes whose arguments it has, too, all of them optional. ``but``: those that the command
    does not have. The command keeps an argument that it declares itself. ``rules``: the name under which its rules are
    kept, if not its own; None if the command checks them itself. ``runs``: the arguments that name runs, and may name
    files; ``needs_labels``: whether files need labels.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        _, *own = inspect.signature(options.in_typer(command)).parameters.values()
        left_out = {*but, *(parameter.name for parameter in own)}
        beside = [
            replace(one, default=None) if one.default is NOTHING else one for of in further for one in declared(of)
        ]
        every = {one.name: one for one in declared(function)}
        every |= {one.name: one for one in beside if one.name not in every}
        arguments = [argument for argument in every.values() if argument.name not in left_out]
        taken = {*left_out, *(argument.name for argument in arguments)}
        of_files = {name: of for name, of in _OF_FILES.items() if name not in taken} if runs else {}
        by_keyword = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY, default=None)
        own += [by_keyword(name, annotation=of) for name, of in of_files.items()]

        parameters = [*(_as_typer(argument) for argument in arguments), *own]
        defaults = {parameter.name: parameter.default for parameter in parameters}

        def called(**given: Any) -> None:
            files = files_among(given, runs)
            if rules is not None:
                typed = {name: of for name, of in given.items() if of != defaults[name]}
                refuse(rules or command.__name__, {**typed, "file_runs": bool(files)})
            if files:
                held_in_memory(given, runs, files, needs_labels=needs_labels, further_metrics=further_metrics)
            for name in of_files:
                given.pop(name)
            numbers = (given.get(argument.name) for argument in arguments if argument.says_how_many_rows)
            options.surroundings.n_asked = max(filter(None, numbers), default=0)
            positional: list[Any] = []
            named = {}
            for argument in arguments:
                value = given.pop(argument.name, None)
                if argument.default is not NOTHING and (value is None or value is False or value == []):  # not given
                    continue
                value = _read(argument, value)
                if argument.is_repeated:
                    positional += value
                elif argument.option.is_positional:
                    positional.append(value)
                else:
                    named[argument.name] = value
            command(Asked(tuple(positional), named), **given)

        return with_parameters(called, parameters, command)

    return decorate


def with_parameters(
    called: Callable[..., None], parameters: Iterable[inspect.Parameter], told_by: Callable[..., Any] | None = None
) -> Callable[..., None]:
    """Give a function these parameters in addition to those that it names, as typer reads them.

    ``told_by``: the function whose name and help it uses, if not its own.
    """
    own = inspect.signature(called, eval_str=True).parameters.values() if told_by is None else ()
    named = [parameter for parameter in own if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
    by_keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*parameters, *named)]
    called.__signature__ = inspect.Signature(by_keyword)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in by_keyword}
    if told_by is not None:
        called.__name__, called.__doc__ = told_by.__name__, told_by.__doc__
    return called

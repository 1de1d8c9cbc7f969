"""Help texts: options under headings, and examples at the end, in plain text without Rich."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

#: headings of arguments, and of options without a heading
ARGUMENTS, OPTIONS = "Arguments", "Options"


class PlainEpilog:
    """Prints the epilog of a command as it is."""

    epilog: str | None

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        if self.epilog:
            formatter.write("\n" + self.epilog + "\n")


class Group(PlainEpilog, TyperGroup):
    """A group of commands."""


class Command(PlainEpilog, TyperCommand):
    """A command that lists its options under their headings (`rich_help_panel`)."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        # Typer would write {DATA} here, and DATA <path> below.
        return ["[OPTIONS]", *(str(p.metavar) for p in self.params if p.param_type_name == "argument")]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for heading, params in by_heading(self.get_params(ctx)).items():
            records = [record for param in params if (record := param.get_help_record(ctx)) is not None]
            if heading == ARGUMENTS:
                records = [(param.metavar, text) for param, (_, text) in zip(params, records, strict=True)]
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def by_heading(params: list[Any]) -> dict[str, list[Any]]:
    """The parameters under their headings: arguments, options without a heading, the others; `--help` comes last."""
    groups: dict[str, list[Any]] = {ARGUMENTS: [], OPTIONS: []}
    for param in params:
        if param.name != "help":
            argument = param.param_type_name == "argument"
            heading = ARGUMENTS if argument else getattr(param, "rich_help_panel", None) or OPTIONS
            groups.setdefault(heading, []).append(param)
    list(groups.values())[-1].extend(param for param in params if param.name == "help")
    return groups


def examples(*pairs: tuple[str, str]) -> str:
    """Commands, each below its purpose.

    >>> print(examples(("a first look", "fouriertree demo")))
    Examples:
      # a first look
      fouriertree demo
    """
    lines = [line for purpose, command in pairs for line in (f"  # {purpose}", f"  {command}")]
    return "\n".join(["Examples:", *lines])

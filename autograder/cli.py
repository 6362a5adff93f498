"""The command line: parses, calls, prints. What it promises (names, exit codes) stands in the README.

Nothing heavy is imported before a command needs it: `softmark --help` must not wait for torch.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import functools
import inspect
import io
import os
import signal
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import typer

from autograder.errors import SoftmarkError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

app = typer.Typer(
    name="softmark",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"softmark {version('softmark')}")
        raise typer.Exit


@app.callback()
def _softmark(  # pyright: ignore[reportUnusedFunction]
    _version_asked: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Grades deep-learning assignments. Student code never runs where grades are decided.

    \b
    Exit codes: 0 done; 1 what was asked about is not so, or something could not be
    graded and is named; 2 the call was wrong; 130 interrupted, and the same command
    goes on from there.
    """


AssignmentFolder = Annotated[
    Path, typer.Argument(metavar="ASSIGNMENT", help="A folder such as assignments/08_transformers.")
]
OutFolder = Annotated[Path, typer.Argument(metavar="OUT", help="A folder that `softmark grade -o` wrote.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Json = Annotated[bool, typer.Option("--json", help="Print what is printed for machines.")]


def _command(do: Callable[..., int]) -> Callable[..., int]:
    """Makes a command of `do`, which returns its exit code, and gives it the option --debug."""

    @functools.wraps(do)
    def command(debug: bool = False, **options: object) -> None:
        with _told(debug):
            raise typer.Exit(do(**options))

    signature = inspect.signature(do, eval_str=True)
    option = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug)
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in signature.parameters.values()]
    command.__signature__ = signature.replace(parameters=[*parameters, option])  # pyright: ignore[reportAttributeAccessIssue]
    command.__annotations__ = {**do.__annotations__, "debug": Debug, "return": None}
    app.command()(command)
    return do


@_command
def grade(
    assignment: AssignmentFolder,
    submissions: Annotated[Path, typer.Argument(metavar="SUBMISSIONS", help="One submission, or a folder of them.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Where grades go; a second run there resumes.")],
    graders: Annotated[Optional[int], typer.Option("-j", min=1, help="Graders side by side.")] = None,
    only: Annotated[
        Optional[list[str]], typer.Option("--only", metavar="CHECK", help="Only this check (repeatable).")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Grade what is graded already, too.")] = False,
    allow_missing: Annotated[
        Optional[list[str]],
        typer.Option("--allow-missing", metavar="LAYER", help="Grade without this layer of the sandbox (repeatable)."),
    ] = None,
    roster: Annotated[
        Optional[Path], typer.Option("--roster", metavar="FILE", help="The class list, as CSV: who handed in nothing?")
    ] = None,
    student: Annotated[
        Optional[list[str]], typer.Option("--student", metavar="NAME", help="Only this submission (repeatable).")
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only those that lost points.")] = False,
    incomplete: Annotated[bool, typer.Option("--incomplete", help="Only those without a whole grade.")] = False,
    slow: Annotated[bool, typer.Option("--slow", help="Only those that timed out or took long.")] = False,
    events: Annotated[bool, typer.Option("--events", help="Tell progress as JSON lines, on stderr.")] = False,
    as_json: Json = False,
) -> int:
    """Grade submissions, and write the grades into a folder.

    \b
    OUT/NAME/grade.json     the record; attempts/ beside it keeps every one
    OUT/NAME/results.json   in Gradescope's format
    OUT/NAME/feedback.html  a page to hand out
    OUT/grades.csv          a row a submission; people.csv, with --roster, a row a person
    OUT/gradebook.sqlite    everything, to be asked in SQL

    \b
    Exit codes: 0 done, whatever the scores; 1 something could not be graded and is named;
    2 the call was wrong; 130 interrupted, and the same command goes on from there.
    """
    from autograder.commands.grade import Options, grade_folder

    chosen = [word for word, so in (("failed", failed), ("incomplete", incomplete), ("slow", slow)) if so]
    options = Options(
        graders=graders or _cores(),
        only=only or [],
        again=again,
        allow_missing=allow_missing or [],
        roster=roster,
        students=student or [],
        chosen=chosen,
        as_json=as_json,
        events=events,
    )
    return grade_folder(assignment, submissions, out, options)


@_command
def regrade(
    out: OutFolder,
    check: Annotated[
        Optional[list[str]],
        typer.Option("--check", metavar="N", help="Only this check, put into the grades there (repeatable)."),
    ] = None,
    student: Annotated[
        Optional[list[str]], typer.Option("--student", metavar="NAME", help="Only this submission (repeatable).")
    ] = None,
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="What the history is to say.")] = "",
    graders: Annotated[Optional[int], typer.Option("-j", min=1, help="Graders side by side.")] = None,
    as_json: Json = False,
) -> int:
    """Grade again, from the hand-ins that OUT/run.json names. Overrides stay."""
    from autograder.commands.grade import Options
    from autograder.commands.grade import regrade as again

    options = Options(graders=graders or _cores(), students=student or [], as_json=as_json, why=why)
    return again(out, check or [], options)


@_command
def override(
    out: OutFolder,
    submission: Annotated[str, typer.Argument(metavar="SUBMISSION", help="The name of one submission in it.")],
    check: Annotated[str, typer.Argument(metavar="CHECK", help="A check such as 2.3a, or total.")],
    points: Annotated[float, typer.Argument(metavar="POINTS", help="Those of a check count before lateness.")],
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason. The student reads it.")],
) -> int:
    """Give points by hand. They stay when it is graded again, and are in every export."""
    from autograder.commands.override import override_command

    return override_command(out, submission, check, points, why)


@_command
def validate(
    assignment: AssignmentFolder,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Run every mistake against every check of its part.")
    ] = False,
    suggest: Annotated[
        bool,
        typer.Option("--suggest", help="Change the reference by machine, and propose what checks catch as mistakes."),
    ] = False,
    accept: Annotated[
        Optional[list[str]],
        typer.Option("--accept", metavar="NAME", help="Take a proposed mistake over (repeatable; all: every one)."),
    ] = None,
    graders: Annotated[Optional[int], typer.Option("-j", min=1, help="Graders side by side.")] = None,
    as_json: Json = False,
) -> int:
    """Prove an assignment: reference full marks, starter none, every mistake caught, every variant right."""
    if suggest or accept:
        from autograder.commands import suggest as suggestions

        if accept:
            return suggestions.accept(assignment, accept, graders or _cores())
        return suggestions.suggest(assignment, graders or _cores(), as_json)
    from autograder.commands.validate import validate_assignment

    return validate_assignment(assignment, matrix, graders or _cores(), as_json)


@_command
def check(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Your starter folder.")] = Path(),
    part: Annotated[Optional[str], typer.Option("--part", help="Only this part (its name or number).")] = None,
    only: Annotated[
        Optional[list[str]],
        typer.Option("--only", metavar="CHECK", help="Only this check or exercise, such as 2.3a or 2.3 (repeatable)."),
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only what failed the last time.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Run again whenever a file is saved.")] = False,
    output: Annotated[bool, typer.Option("--output", help="Show what passing code prints, too.")] = False,
    in_process: Annotated[
        bool, typer.Option("--in-process", help="Run your code in this process, so that breakpoint() works.")
    ] = False,
    page: Annotated[
        Optional[Path], typer.Option("--html", metavar="FILE", help="Write what was found as a page, too.")
    ] = None,
) -> int:
    """Run the visible checks on your own code. Exit code 1 when one fails."""
    from autograder.commands.check import Wish, check_command

    return check_command(folder, Wish(part, only or [], failed, watch, in_process, output, page))


@_command
def case(
    check: Annotated[str, typer.Argument(metavar="CHECK", help="A visible check that fails, such as 2.3a.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Your starter folder.")] = Path(),
) -> int:
    """Write the case that fails as a short script, to run under a debugger."""
    from autograder.commands.case import case_command

    return case_command(folder, check)


@_command
def submit(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Your starter folder.")] = Path(),
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE.zip", help="The zip.")] = Path("submission.zip"),
) -> int:
    """Write submission.zip, say what would go wrong with it, run the visible checks on it, and print a receipt."""
    from autograder.commands.submit import submit_command

    return submit_command(folder, out)


@_command
def memory(
    assignment: AssignmentFolder,
    submission: Annotated[Path, typer.Argument(metavar="SUBMISSION", help="One submission.")],
    function: Annotated[str, typer.Argument(metavar="FUNCTION", help="A function of queries, keys and values.")],
    plot: Annotated[Optional[Path], typer.Option("--plot", metavar="FILE", help="Draw a picture, too.")] = None,
    device: Annotated[
        Literal["cpu", "cuda"],
        typer.Option("--device", help="cuda: on this machine's GPU, outside the sandbox, with your rights."),
    ] = "cpu",
    as_json: Json = False,
) -> int:
    """Show how the memory of a function grows with the length, beside the reference and the naive form."""
    from autograder.commands.memory import memory_command

    return memory_command(assignment, submission, function, plot, device, as_json)


@_command
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What its folder is to be called, such as 03_norms.")],
    course: Annotated[
        bool, typer.Option("--course", help="Make a folder of that name for a course of your own, with one in it.")
    ] = False,
) -> int:
    """Make a small assignment that validates as it stands, to start from; with --course in a repository of its own."""
    from autograder.commands.new import new_command, new_course_command

    return new_course_command(Path(name)) if course else new_command(name)


@_command
def starter(
    assignment: AssignmentFolder,
    check_only: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 when it is stale.")] = False,
) -> int:
    """Write starter_code/ from solutions/."""
    from autograder.commands.starter import starter_command

    return starter_command(assignment, check_only)


@_command
def release(
    assignment: AssignmentFolder,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE.zip", help="The zip that students get.")],
) -> int:
    """Write what students get: starter code, handout, visible checks; no solution and no hidden check."""
    from autograder.commands.release import release_command

    return release_command(assignment, out)


@_command
def package(
    assignment: AssignmentFolder,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE.zip", help="The zip to upload to Gradescope.")],
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="What Gradescope allows for one run there.")
    ] = 600.0,
    allow_missing: Annotated[
        Optional[list[str]],
        typer.Option("--allow-missing", metavar="LAYER", help="Grade there without this layer of the sandbox."),
    ] = None,
    wheels: Annotated[
        Optional[list[Path]],
        typer.Option("--wheel", metavar="FILE.whl", help="Take this wheel of torch along, where no index is reached."),
    ] = None,
) -> int:
    """Make the zip that Gradescope builds its autograder from: the same bytes for the same files."""
    from autograder.commands.package import package_command

    return package_command(assignment, out, time_limit, allow_missing or [], wheels or [])


@_command
def show(
    out: OutFolder,
    submission: Annotated[str, typer.Argument(metavar="SUBMISSION", help="The name of one submission in it.")],
    as_json: Json = False,
) -> int:
    """Show one grade, as the student sees it and as staff does."""
    from autograder.commands.show import show_grade

    return show_grade(out, submission, as_json)


@_command
def export(
    out: OutFolder,
    form: Annotated[str, typer.Option("--format", metavar="csv|canvas|moodle|gradescope", help="For whom.")],
    template: Annotated[
        Optional[Path], typer.Option("--template", metavar="FILE", help="The file to fill, as downloaded.")
    ] = None,
    target: Annotated[
        Optional[Path], typer.Option("-o", "--out", metavar="FILE", help="Default: export-FORMAT.csv in OUT.")
    ] = None,
    column: Annotated[str, typer.Option("--column", metavar="NAME", help="The column of grades in the file.")] = "",
    scale: Annotated[bool, typer.Option("--scale", help="Convert to the maximum that the file states.")] = False,
) -> int:
    """Enter grades into a downloaded file. Exit code 1 where one could not be entered, which is named."""
    from autograder.commands.export import export_command

    return export_command(out, form, template, target, column, scale)


@_command
def report(
    out: OutFolder,
    anonymous: Annotated[bool, typer.Option("--anonymous", help="Without names: one file to show around.")] = False,
) -> int:
    """Write OUT/report.html: how the class did, which mistakes it made, what to look at, and everybody in a table."""
    from autograder.commands.report import report_command

    return report_command(out, anonymous)


@_command
def feedback(
    out: OutFolder,
    form: Annotated[str, typer.Option("--format", metavar="folder|canvas|moodle", help="For whom.")] = "folder",
) -> int:
    """Write what students get: OUT/feedback/, or the zip that Canvas or Moodle takes back."""
    from autograder.commands.report import feedback_command

    return feedback_command(out, form)


@_command
def similar(
    out: OutFolder,
    older: Annotated[
        Optional[list[Path]],
        typer.Option("--with", metavar="OLDER", help="Another OUT, or a folder of hand-ins, to compare with."),
    ] = None,
) -> int:
    """Write OUT/similar.html: pairs of submissions to look at, side by side. It is a place to look and no verdict."""
    from autograder.commands.similar import similar_command

    return similar_command(out, older or [])


@_command
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A folder that `softmark grade -o` wrote.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another one, of the same assignment.")],
    as_json: Json = False,
) -> int:
    """Show whose grade changes between two runs, by how much and why. Exit code 1 where that cannot be told."""
    from autograder.commands.diff import diff_command

    return diff_command(old, new, as_json)


@_command
def doctor(
    assignment: Annotated[
        Optional[Path], typer.Argument(metavar="[ASSIGNMENT]", help="Whose solutions; default: all in assignments/.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Show which layers of the sandbox are on here, proved by trying. Exit code 1 where grades would be refused."""
    from autograder.commands.doctor import examine_machine

    return examine_machine(assignment, as_json)


@contextlib.contextmanager
def _told(debug: bool) -> Generator[None]:
    """What a person can act on is one sentence and an exit code; a traceback only where it was asked for."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # a second OpenMP thread fights the workers for the cores
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGHUP)}
    for each, handler in before.items():
        if handler is not signal.SIG_IGN:  # nohup
            signal.signal(each, _interrupt)
    try:
        yield
    except SoftmarkError as error:
        if debug:
            raise
        print(f"softmark: {error}", file=sys.stderr)
        raise typer.Exit(error.exit_code) from None
    except OSError as error:
        if debug:
            raise
        print(f"softmark: {error.filename or 'a file'}: {error.strerror or error}.", file=sys.stderr)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        print("softmark: interrupted. What was graded is kept; the same command goes on from there.", file=sys.stderr)
        raise typer.Exit(130) from None
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _interrupt(number: int, _frame: object) -> None:
    """SIGTERM and SIGHUP end a command like Ctrl-C; what follows of them does not interrupt the ending."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _cores() -> int:
    from autograder.processors import whole

    return whole()


def main() -> None:
    """Do what the command line says. Raises `SystemExit`."""
    app()


def program() -> None:
    """The entry point of the `softmark` command: `main`, and then out at once.

    Python's own way out takes apart all that torch has loaded, which keeps whoever waits for another second.
    """
    _have_streams()
    try:
        main()
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]  # temporary files, logs
        unsaid = _flushed()
        os._exit(end.code or unsaid)


def _have_streams() -> None:
    """Streams that can be written to, whoever reads them.

    Nothing stands in place of those that `>&-` closed: else a pipe to a worker could be what libraries print to.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            if nothing != number:
                os.dup2(nothing, number)
                os.close(nothing)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115
        elif number:
            stream = getattr(sys, name)
            told = {"encoding": stream.encoding, "errors": stream.errors, "line_buffering": stream.line_buffering}
            setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(_Heard(number, "w", closefd=False)), **told))


class _Heard(io.FileIO):
    """A stream to somebody who may have gone: what nobody reads (`| head`, a closed terminal) goes nowhere."""

    def write(self, data: ReadableBuffer, /) -> int | None:
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in (errno.EPIPE, errno.EIO):
                raise
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)
        return super().write(data)


def _flushed() -> int:
    """The exit code of a command that did what it should, once what it printed is out: 2 where that cannot be."""
    try:
        sys.stderr.flush()
        sys.stdout.flush()
    except OSError as error:
        print(f"softmark: what was to be printed: {error.strerror or error}.", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    program()

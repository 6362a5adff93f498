"""Points, outcomes, whose fault an error is, and the five lines."""

from __future__ import annotations

import pytest

from autograder.errors import GraderError, SoftmarkError
from autograder.grading.verdict import with_cells
from autograder.report.view import explained, for_students
from autograder.results import ImportFailed, Raised, to_json
from tests.report.grades import check as check_with
from tests.running import grade_here, results_here, with_grader
from tests.tiny import ONE_CHECK, REFERENCE, tiny_assignment

STARTER = "import torch\n\ndef double(x):\n    raise NotImplementedError\n"
WRONG = "import torch\n\ndef double(x):\n    return 3 * x\n"


def only(assignment, source, folder):
    (check,) = results_here(assignment, source, folder).values()
    return check


def test_the_reference_gets_full_marks(tmp_path):
    grade = grade_here(tiny_assignment(tmp_path), REFERENCE, tmp_path)
    assert (grade.points, grade.maximum, grade.status) == (2.0, 2.0, "graded")
    assert grade.checks[0].outcome == "passed"


def test_a_failing_assertion_costs_the_check_and_says_property_case_and_value(tmp_path):
    check = only(tiny_assignment(tmp_path), WRONG, tmp_path)
    assert (check.score, check.outcome) == (0.0, "failed")
    assert explained(check).property == "Doubling gives twice the number"
    assert explained(check).case.startswith("double(tensor([")
    assert "not twice the number" in explained(check).got


def test_the_starter_is_missing_its_function_and_earns_nothing(tmp_path):
    check = only(tiny_assignment(tmp_path), STARTER, tmp_path)
    assert (check.score, check.outcome) == (0.0, "missing")
    assert "double is not implemented yet" in explained(check).got


def test_a_missing_function_is_one_sentence_that_names_what_is_near(tmp_path):
    check = only(tiny_assignment(tmp_path), WRONG.replace("def double", "def doubles"), tmp_path)
    assert check.outcome == "missing"
    assert "double is not defined in numbers_part.py. Did you mean doubles" in explained(check).got


def test_no_check_can_pass_on_a_function_that_is_not_implemented(tmp_path):
    source = """
    @number("1.1")
    @weight(2)
    def test_refuses_text(student):
        \"\"\"Text cannot be doubled\"\"\"
        with pytest.raises(RuntimeError):
            student.double("x")
    """
    check = only(tiny_assignment(tmp_path, source), STARTER, tmp_path)
    assert (check.score, check.outcome) == (0.0, "missing")


def test_what_student_code_raises_is_an_instance_of_the_builtin_it_carries(tmp_path):
    source = """
    @number("1.1")
    @weight(2)
    def test_refuses_text(student):
        \"\"\"Text cannot be doubled\"\"\"
        with pytest.raises(ValueError, match="no text"):
            student.double("x")
    """
    good = "class Wrong(ValueError):\n    pass\n\ndef double(x):\n    raise Wrong('no text')\n"
    assert only(tiny_assignment(tmp_path, source), good, tmp_path).outcome == "passed"


def test_an_exception_shows_the_students_own_frames_and_nothing_of_ours(tmp_path):
    source = "def inner(x):\n    return x.nonsense\n\ndef double(x):\n    return inner(x)\n"
    check = only(tiny_assignment(tmp_path), source, tmp_path)
    assert check.outcome == "failed"
    assert "AttributeError" in explained(check).got
    assert "numbers_part.py, line 2, in inner" in explained(check).got
    assert "autograder" not in explained(check).got
    assert str(tmp_path) not in explained(check).got


UNPACKING = """
@number("1.1")
@weight(2)
def test_unpacks(student):
    \"\"\"Doubling returns one tensor of two\"\"\"
    first, second = student.double(torch.ones(2))
    assert first == 2 and second == 2
"""


def test_a_result_that_the_check_cannot_use_is_the_students_fault_where_the_reference_passes(tmp_path):
    check = only(tiny_assignment(tmp_path, UNPACKING), "def double(x):\n    return 5\n", tmp_path)
    assert (check.score, check.outcome) == (0.0, "failed")
    assert explained(check).got == "5"
    assert "another form" in explained(check).cause


def test_a_check_that_breaks_on_the_reference_too_is_ours_and_makes_the_grade_incomplete(tmp_path):
    source = """
    @number("1.1")
    @weight(2)
    def test_broken(student):
        \"\"\"Doubling\"\"\"
        student.double(torch.ones(2))
        1 / 0
    """
    grade = grade_here(tiny_assignment(tmp_path, source), REFERENCE, tmp_path)
    assert grade.status == "incomplete"
    assert grade.checks[0].outcome == "broken"
    assert "ZeroDivisionError" in grade.checks[0].staff
    assert "1.1" in grade.reason


def test_an_assertion_inside_student_code_is_the_students_error(tmp_path):
    check = only(tiny_assignment(tmp_path), "def double(x):\n    assert False, 'mine'\n", tmp_path)
    assert check.outcome == "failed"
    assert "AssertionError: mine" in explained(check).got


class FailsToStart:
    """A subject whose worker cannot be started, the first `times` times."""

    def __init__(self, inner, times):
        self.inner, self.left, self.tries = inner, times, 0

    def expect(self, more):
        self.inner.expect(more)

    def open(self, check, seconds):
        self.tries += 1
        if self.left:
            self.left -= 1
            raise GraderError("no worker could be started")
        return self.inner.open(check, seconds)

    def close(self):
        self.inner.close()

    def usage(self):
        return self.inner.usage()


@pytest.mark.parametrize(("times", "outcome", "status"), [(1, "passed", "graded"), (2, "broken", "incomplete")])
def test_a_worker_that_does_not_start_is_tried_once_more_and_is_never_the_students_fault(
    tmp_path, times, outcome, status
):
    from tests.running import in_process

    grades = []
    with in_process(REFERENCE, tmp_path) as here:
        subject = FailsToStart(here, times)
        with_grader(tiny_assignment(tmp_path), lambda grader: grades.append(grader.try_out("student_03", subject)))
    assert grades[0].checks[0].outcome == outcome
    assert grades[0].status == status
    assert subject.tries == 2


PARTIAL = """
@number("1.1")
@partial_credit(2)
def test_partly(student, set_score):
    \"\"\"Doubling, partly\"\"\"
    value = student.double(1)
    if value is not None:
        set_score(value)
"""


@pytest.mark.parametrize(
    ("returned", "score", "outcome"),
    [
        ("2", 2.0, "passed"),
        ("0.5", 0.5, "partial"),
        ("None", 0.0, "partial"),
        ("99", 0.0, "failed"),
        ("float('nan')", 0.0, "failed"),
    ],
)
def test_partial_credit_is_explicit_finite_and_within_the_weight(tmp_path, returned, score, outcome):
    source = PARTIAL.replace("set_score(value)", "set_score(value if reference is None else value)").replace(
        "(student, set_score)", "(student, reference, set_score)"
    )
    reference = REFERENCE.replace("return 2 * x", "return 2.0")
    assignment = tiny_assignment(tmp_path, source, reference=reference)
    check = only(assignment, f"def double(x):\n    return {returned}\n", tmp_path)
    assert (check.score, check.outcome) == (score, outcome)


def test_a_score_does_not_leak_into_the_next_submission(tmp_path):
    from tests.running import in_process

    assignment = tiny_assignment(tmp_path, PARTIAL)
    grades = []

    def work(grader):
        for source in ("def double(x):\n    return 2\n", "def double(x):\n    return None\n"):
            with in_process(source, tmp_path) as here:
                grades.append(grader.try_out("student_03", here))

    with_grader(assignment, work)
    assert [grade.points for grade in grades] == [2.0, 0.0]


def test_items_of_a_parametrised_check_share_its_weight(tmp_path):
    source = """
    @pytest.mark.parametrize("n", [1, 2, 3])
    @number("1.1")
    @weight(2)
    def test_doubles(student, n):
        \"\"\"Doubling\"\"\"
        assert student.double(n) == 2 * n
    """
    assignment = tiny_assignment(tmp_path, source)
    check = only(assignment, "def double(x):\n    return 4\n", tmp_path)
    assert check.score == pytest.approx(2 / 3)
    assert check.outcome == "partial"


def test_full_marks_over_thirds_are_exactly_the_weight(tmp_path):
    source = """
    @pytest.mark.parametrize("n", [1, 2, 3])
    @number("1.1")
    @weight(0.1)
    def test_doubles(student, n):
        \"\"\"Doubling\"\"\"
        assert student.double(n) == 2 * n
    """
    assert only(tiny_assignment(tmp_path, source, points=0.1), REFERENCE, tmp_path).score == 0.1


def test_weights_that_do_not_add_up_stop_everything(tmp_path):
    with pytest.raises(SoftmarkError, match=r"add up to 2 \(.*\), but the manifest says 5 points"):
        grade_here(tiny_assignment(tmp_path, points=5), REFERENCE, tmp_path)


HIDDEN = """
@number("1.2")
@weight(0)
@visibility("hidden")
@pytest.mark.read("handout 1")
def test_hidden(student, cases):
    \"\"\"Doubling holds for large numbers, too\"\"\"
    got = student.double(torch.tensor([123456.0])) + 0
    raise Mismatch("double", "246912", "370368", hint="it trebles")
"""


def test_of_a_hidden_check_students_get_property_and_cause_and_no_number(tmp_path):
    assignment = tiny_assignment(tmp_path, ONE_CHECK, HIDDEN)
    told = for_students(results_here(assignment, WRONG, tmp_path)["1.2"])
    assert told.property == "Doubling holds for large numbers, too"
    assert told.cause == "it trebles"
    assert (told.case, told.expected, told.got) == ("", "", "")


def test_of_an_error_in_a_hidden_check_students_get_its_kind_and_not_its_message(tmp_path):
    assignment = tiny_assignment(tmp_path, ONE_CHECK, HIDDEN)
    source = "def double(x):\n    raise IndexError(str(x))\n"
    told = for_students(results_here(assignment, source, tmp_path)["1.2"])
    assert told.cause == "Your code raised IndexError."


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("raise type(f'Seen{int(x[0])}', (LookupError,), {})('x')", "Your code raised LookupError."),
        ("raise type(f'Seen{int(x[0])}', (Exception,), {})('x')", "Your code raised Exception."),
        ("return type(f'Seen{int(x[0])}', (), {})()", "double returned an object where a value is asked for."),
    ],
)
def test_of_a_hidden_check_students_get_no_name_that_their_code_chose(tmp_path, body, cause):
    assignment = tiny_assignment(tmp_path, ONE_CHECK, HIDDEN)
    told = for_students(results_here(assignment, f"def double(x):\n    {body}\n", tmp_path)["1.2"])
    assert told.cause == cause


def test_a_result_that_gradients_cannot_be_pulled_back_from_is_told_as_a_wrong_result(tmp_path):
    source = """
    @number("1.1")
    @weight(2)
    def test_gradient(student):
        \"\"\"The gradient is twice the cotangent\"\"\"
        student.vjp(student.double, (torch.ones(3),), (torch.ones(3),))
    """
    told = only(tiny_assignment(tmp_path, source), "def double(x):\n    return x[:2]\n", tmp_path)
    assert told.outcome == "failed"
    assert explained(told).got == (
        "double returned something of another form than the handout asks for: "
        "the result has shape (2,), expected is (3,)."
    )


def test_why_a_result_cannot_be_read_is_told(tmp_path):
    source = "def double(x):\n    return x.to_sparse()\n"
    assert "sparse" in explained(only(tiny_assignment(tmp_path, ONE_CHECK), source, tmp_path)).got


def test_hide_errors_shows_its_message_alone(tmp_path):
    source = ONE_CHECK.replace("@weight(2)", '@weight(2)\n@hide_errors("look at the factor")')
    told = only(tiny_assignment(tmp_path, source), WRONG, tmp_path).explanation
    assert (told.cause, told.got, told.case) == ("look at the factor", "", "")


def test_a_leaderboard_value_is_kept_and_must_be_finite(tmp_path):
    source = """
    @number("1.1")
    @weight(2)
    @leaderboard("speed", "asc")
    def test_fast(student, set_leaderboard_value):
        \"\"\"Doubling is fast\"\"\"
        set_leaderboard_value(student.double(1))
    """
    grades = []
    from tests.running import in_process

    with in_process(REFERENCE, tmp_path) as here:
        with_grader(
            tiny_assignment(tmp_path, source),
            lambda grader: grades.append(grader._run_checks(here, grader._checks.checks)),
        )
    (entry,) = grades[0][1]
    assert (entry.name, entry.value, entry.order) == ("speed", 2, "asc")


def test_objects_of_the_students_classes_are_called_through_handles(tmp_path):
    source = """
    @number("1.1")
    @weight(2)
    def test_counts(student):
        \"\"\"Counting\"\"\"
        counter = student.Counter(5)
        assert counter.step() == 6
        assert counter.step(by=2) == 8
        assert counter.value == 8
    """
    assert only(tiny_assignment(tmp_path, source), REFERENCE, tmp_path).outcome == "passed"


def test_a_part_that_does_not_import_is_said_in_every_check_of_it(tmp_path):
    check = only(tiny_assignment(tmp_path), "def double(x):\n  return 2 * x\n print(1)\n", tmp_path)
    assert (check.outcome, check.score) == ("not_run", 0.0)
    assert "IndentationError" in explained(check).got
    assert "line 3" in explained(check).got


def test_strings_that_no_file_can_hold_are_shown_all_the_same(tmp_path):
    source = "def double(x):\n    raise ValueError('\\ud800 broken')\n"
    grade = grade_here(tiny_assignment(tmp_path), source, tmp_path)
    assert b"ud800 broken" in to_json(grade)


def test_a_cause_of_the_bank_does_not_replace_what_the_author_says_instead(tmp_path):
    source = ONE_CHECK.replace("@weight(2)", '@weight(2)\n@hide_errors("look at the factor")')
    assert only(tiny_assignment(tmp_path, source), WRONG, tmp_path).explanation.cause == "look at the factor"


def test_an_error_in_a_notebook_names_the_cell():
    source = (
        "# Taken from 'work.ipynb': definitions, imports and constants. Nothing else in it is run.\n\n"
        "# Cell 2\nimport torch\n\n# Cell 7\ndef double(x):\n    return x.twice\n"
    )

    class OfANotebook:
        def file(self, name):
            return source.encode() if name == "numbers_part.py" else None

    raised = Raised(kinds=("AttributeError",), frames="numbers_part.py, line 8, in double\n    return x.twice")
    for reason in (raised, ImportFailed(part="numbers_part", why=raised)):
        found = with_cells(check_with(reason=reason), OfANotebook()).reason
        frames = found.why.frames if isinstance(found, ImportFailed) else found.frames
        assert frames == "'work.ipynb', cell 7 (numbers_part.py, line 8), in double\n    return x.twice"
    source = source.partition("\n")[2]
    assert with_cells(check_with(reason=raised), OfANotebook()).reason == raised

# make grade and make test do all that a fresh clone needs; each sets up .venv first.
.PHONY: docs setup grade test quick soak lint validate bench figures starter clean
SHELL := /bin/bash
VENV := .venv
PYTHON ?= $(shell scripts/find_python.sh)
SETUP := $(VENV)/.ready

setup: $(SETUP)

$(SETUP): pyproject.toml constraints.txt
	umask 022; test -x $(VENV)/bin/python || "$(PYTHON)" -m venv $(VENV)
	umask 022; $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	chmod -R go-rwx solutions assignments/*/checks/hidden
	touch $(SETUP)

# Exit code 1 says that something could not be graded at all: among the samples there are such, and the table names them.
grade: $(SETUP)
	$(VENV)/bin/softmark grade assignments/08_transformers tests/submissions -o build/grades -j 2 || [ $$? -eq 1 ]

lint: $(SETUP)
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/basedpyright

test: lint
	$(VENV)/bin/softmark starter assignments/00_warmup --check
	$(VENV)/bin/softmark starter assignments/08_transformers --check
	$(VENV)/bin/python -m pytest -n 2 --ignore tests/hostile tests
	$(VENV)/bin/python -m pytest -n 2 tests/hostile

# For whoever changes something: lint, types and the tests that start few workers. Under two minutes on two processors.
QUICK := assignment authoring/mutation authoring/test_tasks.py diagnosis grading/test_checks.py grading/test_verdict.py \
	intake report run/test_session.py sandbox/test_deaths.py sandbox/test_temporary.py testing worker test_cli.py test_text.py
quick: lint
	$(VENV)/bin/python -m pytest -n 2 $(addprefix tests/,$(QUICK))

# Ten times as many random inputs, kills and submissions as in make test, every hostile submission, and the Gradescope
# package with the course assignment: three quarters of an hour.
soak: $(SETUP)
	SOFTMARK_SOAK=1 $(VENV)/bin/python -m pytest -n 2 --timeout 3000 tests/hostile tests/gradescope/test_replica.py

validate: $(SETUP)
	for assignment in assignments/*/; do $(VENV)/bin/softmark validate $$assignment --matrix || exit 1; done

# The reference page of docs, from docstrings, constants and the manifest's types.
docs: $(SETUP)
	$(VENV)/bin/python scripts/reference_page.py

bench: $(SETUP)
	$(VENV)/bin/python -m benchmarks

# The figures of the handout, from the code that draws them. What they show is part of the starter code.
figures: $(SETUP)
	for drawings in assignments/*/drawings; do PYTHONDONTWRITEBYTECODE=1 $(VENV)/bin/python $$drawings || exit 1; done

starter: figures
	for assignment in assignments/*/; do $(VENV)/bin/softmark starter $$assignment || exit 1; done

clean:
	rm -rf build $(VENV)

"""Compare the results of two versions of the package, bit for bit: python tools/golden.py REF

Runs the cases of `tools/golden_cases` once with the sources of the git commit REF and once with those of the working
tree, each in a process of its own on this machine, and prints what differs.  Nothing is recorded: results depend on the
processor and on the libraries, so that only two runs on one machine can be compared.

    python tools/golden.py HEAD~5                    # all cases
    python tools/golden.py main --only 'fit-ftg*'    # those whose names match
    python tools/golden.py main --no-words -j 2      # prose may differ; both versions at the same time
    python tools/golden.py --list                    # the names of the cases

Where something public was renamed, add its other name to ALIASES in `tools/golden_cases/names.py`.  The exit status is
1 if any case differs.
"""

from __future__ import annotations

import argparse
import difflib
import fnmatch
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
ROOT = TOOLS.parent
#: numbers must not depend on how many threads happen to be free, nor texts on the order of sets
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
FIXED = {**ONE_THREAD, "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "default", "MPLBACKEND": "agg"}
WORDS = "[words]"


def main() -> int:
    options = parse_options()
    names = [name for name in case_names() if fnmatch.fnmatch(name, options.only)]
    if options.list:
        print(*names, sep="\n")
        return 0
    if not names:
        print(f"no case matches {options.only!r}; --list prints all", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder, sources_of(options.ref, options.keep) as before:
        outputs = run_both(before, names, Path(folder), options.jobs)
        return compare(names, *outputs, options.ref, not options.no_words)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "ref", nargs="?", default="HEAD", help="commit to compare with; HEAD if none is given"
    )
    parser.add_argument(
        "--only", default="*", metavar="PATTERN", help="cases whose names match, such as 'fit-*'"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the cases and exit")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="2 runs both versions at the same time")
    parser.add_argument(
        "--no-words", action="store_true", help="leave out prose: headings, reasons, messages"
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep the sources of REF with their compiled kernels among the temporary files, for the next comparison",
    )
    return parser.parse_args()


def case_names() -> list[str]:
    """Names of all cases, in the order in which they run."""
    sys.path.insert(0, str(TOOLS))
    from golden_cases import __main__ as cases

    return list(cases.CASES)


# The two versions ---------------------------------------------------------------------------------------------
@contextmanager
def sources_of(ref: str, keep: bool) -> Iterator[Path]:
    """A folder with the sources of a commit."""
    commit = git("rev-parse", "--verify", f"{ref}^{{commit}}").decode().strip()
    folder = Path(tempfile.gettempdir()) / f"fouriertree-golden-{commit}"
    kept = folder.is_dir()
    if not kept:
        # Made under another name first: half an archive must not be taken for a whole one.
        partial = Path(tempfile.mkdtemp(prefix="fouriertree-golden-"))
        with tarfile.open(fileobj=io.BytesIO(git("archive", commit, "src"))) as archive:
            archive.extractall(partial, filter="data")
        folder = partial.rename(folder) if keep else partial
    try:
        yield folder
    finally:
        if not (keep or kept):
            shutil.rmtree(folder, ignore_errors=True)


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True).stdout


def run_both(before: Path, names: Sequence[str], folder: Path, jobs: int) -> tuple[Path, Path]:
    """Run the cases with both versions; folders with a file for every case."""
    trees = {"before": before, "after": ROOT}
    with ThreadPoolExecutor(max(1, min(jobs, 2))) as pool:
        list(pool.map(lambda side: run_cases(trees[side], names, folder / side), trees))
    return folder / "before", folder / "after"


def run_cases(tree: Path, names: Sequence[str], outputs: Path) -> None:
    outputs.mkdir()
    paths = os.pathsep.join([str(tree / "src"), str(TOOLS)])
    environment = {**os.environ, **FIXED, "PYTHONPATH": paths}
    command = [sys.executable, "-m", "golden_cases", str(outputs), *names]
    # Elsewhere than in the working tree, whose packages would be found before those on the path.
    process = subprocess.Popen(command, cwd=outputs, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        print(f"{outputs.name:>7} {line}", end="", file=sys.stderr, flush=True)
    if process.wait():
        print(f"the process of {outputs.name} ended with status {process.returncode}", file=sys.stderr)


# What differs -------------------------------------------------------------------------------------------------
def compare(names: Sequence[str], before: Path, after: Path, ref: str, words: bool) -> int:
    """Print what differs; 1 if anything does."""
    same = 0
    for name in names:
        old, new = (lines_of(side / f"{name}.txt", words) for side in (before, after))
        same += old == new
        heads = f"{name} ({ref})", f"{name} (working tree)"
        print(
            *difflib.unified_diff(old, new, *heads, lineterm="", n=1),
            sep="\n",
            end="" if old == new else "\n",
        )
    print(f"{same} of {len(names)} cases identical")
    return int(same < len(names))


def lines_of(path: Path, words: bool) -> list[str]:
    """The output of a case; of one whose process has died, that it has none, and never the same twice."""
    if not path.is_file():
        return [f"no output in {path.parent.name}: the process ended early"]
    text = path.read_text(encoding="utf-8")
    return (text if words else text.partition(WORDS)[0]).splitlines()


if __name__ == "__main__":
    sys.exit(main())

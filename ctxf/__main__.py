"""`python -m ctxf` and the `ctxf` command."""

import sys

from ctxf.cli.app import run


def main() -> None:
    """Run the command line and leave with its exit status."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()

"""`python -m ctxf` and the `ctxf` command."""

import sys


def main() -> None:
    """Run the command line and leave with its exit status."""
    try:
        from ctxf.cli.quick import quick_start  # noqa: PLC0415 - within `try`, for a Ctrl-C that comes early

        status = quick_start(sys.argv[1:])
        if status is None:
            # Imported here because click is needed only now; see ctxf.cli.quick for what it costs.
            from ctxf.cli.app import run  # noqa: PLC0415

            status = run(sys.argv[1:])
    except KeyboardInterrupt:
        status = 130  # as shells report it
    sys.exit(status)


if __name__ == "__main__":
    main()

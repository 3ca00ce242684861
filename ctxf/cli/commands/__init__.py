"""One module for each command; `ctxf.cli.app` imports the one that is called."""

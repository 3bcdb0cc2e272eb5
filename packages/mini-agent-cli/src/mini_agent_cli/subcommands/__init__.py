"""The subcommands: ``run(argv, host)`` each, loaded only when it is the one asked for."""

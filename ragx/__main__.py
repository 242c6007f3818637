"""Entry point of `ragx`, `ragx-cli` and `python -m ragx`."""

from ragx.cli import main

if __name__ == "__main__":
    main()

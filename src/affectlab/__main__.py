"""``python -m affectlab``: the command, where its folder is not on the path."""

from affectlab.cli import main

if __name__ == "__main__":
    main()

"""``python -m tparafac2``: the command line."""

from tparafac2.cli import main

if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Makes pictures of the real screen in a lab of its own: PNG and text of the main states, asciicast and GIF of the walk to
them, in both languages. `scripts/pictures` runs it."""

import argparse
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from lablib import netns, picture, tour  # noqa: E402
from lablib.lab import REPOSITORY, Lab  # noqa: E402
from lablib.product import Product  # noqa: E402


def main():
    parser = argparse.ArgumentParser(prog="pictures", description="Pictures of the real screen.")
    parser.add_argument("--language", choices=tour.WORDS, action="append", help="zh or en; both when not given")
    parser.add_argument("--output", default=os.path.join(REPOSITORY, ".assets", "pictures"), metavar="DIR")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("pictures: network namespaces need root")
    os.makedirs(options.output, exist_ok=True)
    lab = Lab.up(f"pictures-{os.getpid()}", owner=os.getpid())
    try:
        product = Product(lab)
        product.start()
        for language in options.language or tour.WORDS:
            walk = tour.Tour(product, language, pace=1.2, record=True)
            write(walk, language, options.output)
        product.stop()
    finally:
        lab.down()


def write(walk, language, directory):
    """Writes what came of one walk, and prints every file's name."""
    def path(name):
        print(os.path.relpath(os.path.join(directory, name)), flush=True)
        return os.path.join(directory, name)

    for state, capture in walk.captures.items():
        picture.render(capture, tour.COLUMNS, tour.ROWS).save(path(f"{state}.{language}.png"), optimize=True)
    cast = path(f"tour.{language}.cast")
    picture.write_cast(cast, walk.frames, tour.TITLES[language], tour.COLUMNS, tour.ROWS)
    picture.write_gif(path(f"tour.{language}.gif"), cast)


try:
    main()
except (netns.CommandFailed, AssertionError, TimeoutError) as problem:
    sys.exit(f"pictures: {problem}")

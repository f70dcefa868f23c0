"""Pictures and text of the screen's main states in both languages, from one walk each through the real program.

The texts are compared with golden/screen.LANGUAGE.txt; TROCKET_WRITE_GOLDENS=1 writes those anew, for `git diff` to judge.
"""

import json
import os

import pytest
from PIL import Image

from lablib import picture, plan, tour

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
# What a list of live connections holds is another thing in every run.
COMPARED = [state for state in tour.STATES if state != "connections"]
# The card's colours tell the state: none of that green until connected.
CONNECTED_ROW, GREEN = 1, tuple(bytes.fromhex(picture.PALETTE[2][1:]))


@pytest.fixture(scope="module", params=sorted(tour.WORDS))
def walk(request, product):
    """A walk without pauses in one language, recorded; the kill switch is off, whatever was remembered."""
    product.connect("--no-kill-switch")
    product.controller("disconnect")
    taken = tour.Tour(product, request.param, record=True)
    taken.language = request.param
    return taken


def colours_of_row(image, row):
    """The colours in a row of cells."""
    top = picture.MARGIN + row * picture.CELL[1]
    strip = image.crop((picture.MARGIN, top, image.width - picture.MARGIN, top + picture.CELL[1]))
    return {colour for _, colour in strip.getcolors(1 << 20)}


def test_texts_are_as_agreed(walk):
    assert list(walk.captures) == list(tour.STATES)
    path = os.path.join(GOLDEN, f"screen.{walk.language}.txt")
    shown = "".join(f"=== {state}\n{tour.settled(walk.captures[state], walk.language)}" for state in COMPARED)
    assert plan.TOKEN not in "".join(walk.captures.values())
    if os.environ.get("TROCKET_WRITE_GOLDENS"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(shown)
    with open(path, encoding="utf-8") as file:
        assert shown.splitlines() == file.read().splitlines()


def test_pictures_show_the_states(walk):
    images = {state: picture.render(capture, tour.COLUMNS, tour.ROWS) for state, capture in walk.captures.items()}
    assert len({image.tobytes() for image in images.values()}) == len(tour.STATES)
    for state, image in images.items():
        assert (GREEN in colours_of_row(image, CONNECTED_ROW)) == (state not in ("welcome", "import", "lines")), state
    # The flag of Hong Kong, whose red no text has: the two letters it is made of were joined.
    assert any(red > 200 and green < 70 and blue < 70 for red, green, blue in colours_of_row(images["lines"], 8))


def test_recording_becomes_a_film(walk, tmp_path):
    cast, film = tmp_path / "tour.cast", tmp_path / "tour.gif"
    frames = walk.frames[::max(1, len(walk.frames) // 5)]
    picture.write_cast(cast, frames, tour.TITLES[walk.language])
    header, *events = map(json.loads, cast.read_text(encoding="utf-8").splitlines())
    assert (header["version"], header["width"], len(events)) == (2, tour.COLUMNS, len(frames))
    assert len(events) > 4
    picture.write_gif(film, cast)
    with Image.open(film) as image:
        assert image.n_frames == len(frames)

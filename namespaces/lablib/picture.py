"""Pictures of a terminal: what tmux captured, styles included, drawn with Pillow, and recordings as animated GIF."""

import functools
import json
import re
import unicodedata

from PIL import Image, ImageDraw, ImageFont

FONTS = "/usr/share/fonts/truetype"
SIZE = 28
LATIN = (f"{FONTS}/dejavu/DejaVuSansMono.ttf", f"{FONTS}/dejavu/DejaVuSansMono-Bold.ttf")
CJK, CJK_SIZE = f"{FONTS}/wqy/wqy-microhei.ttc", 31
EMOJI = f"{FONTS}/noto/NotoColorEmoji.ttf"
EMOJI_SIZE = 109  # the one size of that font's bitmaps
CELL = (17, 33)
MARGIN = 18
BACKGROUND, FOREGROUND = "#15171c", "#d7dae0"
PALETTE = ("#2b2f38", "#e8646a", "#7fc66f", "#e5b75a", "#6aa5f0", "#c586e0", "#56c2cf", "#d7dae0",
           "#5c6370", "#ff7b81", "#98d98a", "#f4cd7a", "#88bcff", "#d9a5f0", "#77dbe6", "#ffffff")
PLAIN = {"foreground": None, "background": None, "bold": False, "dim": False, "underline": False, "reverse": False}
GIF_SCALE, GIF_COLOURS, LONGEST_PAUSE, LAST_FRAME = 0.5, 256, 2.0, 3.0


def colour(number):
    """A colour of the 256 which terminals number, as `#rrggbb`."""
    if number < 16:
        return PALETTE[number]
    if number >= 232:
        return f"#{8 + 10 * (number - 232):02x}" + f"{8 + 10 * (number - 232):02x}" * 2
    parts = [(number - 16) // step % 6 for step in (36, 6, 1)]
    return "#" + "".join(f"{55 + 40 * part if part else 0:02x}" for part in parts)


def restyled(style, parameters):
    """A style after an SGR sequence (ECMA-48, section 8.3.117) with these parameters."""
    style, codes = dict(style), [int(part or 0) for part in parameters.split(";")]
    while codes:
        code = codes.pop(0)
        ground = "background" if code // 10 in (4, 10) else "foreground"
        if code == 0:
            style = dict(PLAIN)
        elif code in (1, 2, 4, 7):
            style[{1: "bold", 2: "dim", 4: "underline", 7: "reverse"}[code]] = True
        elif code in (22, 24, 27):
            style.update({22: {"bold": False, "dim": False}, 24: {"underline": False}, 27: {"reverse": False}}[code])
        elif code in (38, 48) and codes[:1] == [5]:
            style[ground], codes = colour(codes[1]), codes[2:]
        elif code in (38, 48) and codes[:1] == [2]:
            style[ground], codes = "#{:02x}{:02x}{:02x}".format(*codes[1:4]), codes[4:]
        elif code in (39, 49):
            style[ground] = None
        elif code // 10 in (3, 4, 9, 10):
            style[ground] = colour(code % 10 + (8 if code >= 90 else 0))
    return style


def is_regional(character):
    """True for a regional indicator; two of them are a flag."""
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def clusters(text):
    """The characters a terminal shows in cells of their own, each with its width in cells: `[(text, width)]`."""
    found = []
    for character in text:
        last = found[-1][0] if found else ""
        if last and unicodedata.category(character) in ("Mn", "Me", "Cf"):
            found[-1] = (last + character, found[-1][1])
        elif last.endswith("\u200d") or (is_regional(character) and len(last) == 1 and is_regional(last)):
            found[-1] = (last + character, 2)
        else:
            found.append((character, 2 if unicodedata.east_asian_width(character) in "WF" else 1))
    return found


def cells(capture):
    """What a capture shows: `(row, column, text, width, style)` for every character, spaces included."""
    style = PLAIN
    for row, line in enumerate(capture.split("\n")):
        column = 0
        for part in re.split(r"(\033\[[0-9;]*m)", re.sub(r"[\x0e\x0f]|\033[()].", "", line)):
            if part.startswith("\033"):
                style = restyled(style, part[2:-1])
                continue
            for text, width in clusters(part):
                yield row, column, text, width, style
                column += width


@functools.cache
def font(path, size=SIZE):
    """A font, opened once."""
    return ImageFont.truetype(path, size)


@functools.cache
def emoji(text, width):
    """A picture of an emoji or a flag, as wide as its cells."""
    drawn = Image.new("RGBA", (160, 160))
    ImageDraw.Draw(drawn).text((0, 0), text, font=font(EMOJI, EMOJI_SIZE), embedded_color=True)
    drawn = drawn.crop(drawn.getbbox() or (0, 0, 1, 1))
    scale = min((width * CELL[0] - 2) / drawn.width, (CELL[1] - 4) / drawn.height)
    return drawn.resize((max(1, round(drawn.width * scale)), max(1, round(drawn.height * scale))), Image.LANCZOS)


def render(capture, columns=80, rows=24):
    """Draws a capture of a terminal of that size."""
    picture = Image.new("RGB", (columns * CELL[0] + 2 * MARGIN, rows * CELL[1] + 2 * MARGIN), BACKGROUND)
    draw = ImageDraw.Draw(picture)
    ascent = font(LATIN[0]).getmetrics()[0]
    shown = list(cells(capture))
    # Backgrounds first, so that none of them cuts a neighbour's glyph.
    for ink in (False, True):
        for row, column, text, width, style in shown:
            left, top = MARGIN + column * CELL[0], MARGIN + row * CELL[1]
            front, back = style["foreground"] or FOREGROUND, style["background"] or BACKGROUND
            if style["reverse"]:
                front, back = back, front
            if style["dim"]:
                pairs = [(int(front[i:i + 2], 16), int(back[i:i + 2], 16)) for i in (1, 3, 5)]
                front = "#" + "".join(f"{sum(pair) // 2:02x}" for pair in pairs)
            if not ink:
                if back != BACKGROUND:
                    draw.rectangle((left, top, left + width * CELL[0] - 1, top + CELL[1] - 1), fill=back)
            elif is_regional(text[0]) or text[0] >= "\U0001f000" or "\ufe0f" in text:
                image = emoji(text, width)
                inset = (width * CELL[0] - image.width) // 2, (CELL[1] - image.height) // 2
                picture.paste(image, (left + inset[0], top + inset[1]), image)
            elif width == 2:
                # That font has no bold face; drawn twice it has.
                for shift in (0, 1) if style["bold"] else (0,):
                    draw.text((left + CELL[0] + shift, top + ascent + 1), text, fill=front,
                              font=font(CJK, CJK_SIZE), anchor="ms")
            elif text != " ":
                draw.text((left, top + ascent), text, fill=front, font=font(LATIN[style["bold"]]), anchor="ls")
            if ink and style["underline"]:
                draw.line((left, top + ascent + 3, left + width * CELL[0] - 1, top + ascent + 3), fill=front, width=2)
    return picture


# MARK: recordings

def write_cast(path, frames, title, columns=80, rows=24):
    """Writes captures `[(seconds, capture)]` as an asciicast (version 2, docs.asciinema.org), one screen an event."""
    header = {"version": 2, "width": columns, "height": rows, "title": title, "idle_time_limit": LONGEST_PAUSE,
              "env": {"TERM": "tmux-256color"}}
    with open(path, "w", encoding="utf-8") as file:
        print(json.dumps(header, ensure_ascii=False), file=file)
        for seconds, capture in frames:
            screen = "\033[0m\033[H\033[2J" + capture.rstrip("\n").replace("\n", "\r\n")
            print(json.dumps([round(seconds, 3), "o", screen], ensure_ascii=False), file=file)


def write_gif(path, cast):
    """Turns a recording of `write_cast` into an animated GIF."""
    with open(cast, encoding="utf-8") as file:
        header, *events = map(json.loads, file)
    images, durations = [], []
    ends = [seconds for seconds, _, _ in events[1:]] + [events[-1][0] + LAST_FRAME]
    for number, (seconds, _, data) in enumerate(events):
        image = render(data.split("\033[2J", 1)[1].replace("\r\n", "\n"), header["width"], header["height"])
        images.append(image.resize((round(image.width * GIF_SCALE), round(image.height * GIF_SCALE)), Image.LANCZOS))
        longest = header["idle_time_limit"] if number + 1 < len(events) else LAST_FRAME
        durations.append(round(1000 * min(ends[number] - seconds, longest)))
    # One palette for all frames: with one each, colours would flicker.
    sample = images[::max(1, len(images) // 6)]
    sheet = Image.new("RGB", (images[0].width, images[0].height * len(sample)))
    for number, image in enumerate(sample):
        sheet.paste(image, (0, number * image.height))
    palette = sheet.quantize(GIF_COLOURS, method=Image.Quantize.MEDIANCUT)
    first, *others = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    first.save(path, save_all=True, append_images=others, duration=durations, loop=0, optimize=False)

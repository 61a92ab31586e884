"""Draw films of invented people who go back to rest from an expression, 60 frames a second.

Run it in an empty folder: python draw.py
It makes films/, with a folder of frames for each of three people and four expressions.
"""

from __future__ import annotations

from pathlib import Path

from affectlab.simulate import draw_transitions

PEOPLE = ("ann", "ben", "cleo")
EXPRESSIONS = ("brows-up", "wink-left", "mouth-open", "nose-wrinkled")

SEED = 4
TRANSITIONS = draw_transitions(PEOPLE, EXPRESSIONS, fps=60, seed=SEED)

if __name__ == "__main__":
    print("drawing, for about half a minute ...", flush=True)
    frames = TRANSITIONS.save(Path("films"), size=96)
    print(f"films/: {len(TRANSITIONS)} transitions, {frames.height:,} frames")

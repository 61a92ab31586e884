"""A stand-in for a vision-language model: a server on this machine that speaks OpenAI's protocol.

    python fake_model.py [--port 8765]

It is no language model. It shrinks the picture that it is sent to 24 x 24 grey pixels, compares
them with 64 faces that it drew for itself, and says how much of each of eight emotions it makes
out. It is here so that you can try the commands without a key, a network or a bill. Like a real
model it sometimes refuses, wraps its answer in a code fence, or stops in the middle; unlike one, it
does the same each time it is asked the same.
"""

import argparse
import base64
import hashlib
import io
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
from PIL import Image

from affectlab.simulate import EXPRESSIONS, draw_face

EMOTIONS = EXPRESSIONS[:8]
SIDE = 24


def pixels(picture: Image.Image) -> np.ndarray:
    """Grey values of a small copy, with the mean 0 and the deviation 1."""
    small = np.asarray(picture.convert("L").resize((SIDE, SIDE)), dtype=float).ravel()
    return (small - small.mean()) / (small.std() or 1.0)


class Eye:
    """What the stand-in sees: a ridge regression from pixels to emotions."""

    def __init__(self) -> None:
        shown = [(k, person) for k in range(len(EMOTIONS)) for person in range(900, 908)]
        X = np.array([pixels(draw_face(EMOTIONS[k], 0.8, who, size=96)) for k, who in shown])
        Y = np.zeros((len(shown), len(EMOTIONS)))
        Y[np.arange(len(shown)), [k for k, _ in shown]] = 0.8 * 7
        self.x, self.y = X.mean(axis=0), Y.mean(axis=0)
        centred = X - self.x
        inner = centred @ centred.T + 100.0 * np.eye(len(shown))
        self.weight = centred.T @ np.linalg.solve(inner, Y - self.y)

    def sees(self, picture: Image.Image) -> np.ndarray:
        """How much of each emotion, about 0 to 7."""
        return (pixels(picture) - self.x) @ self.weight + self.y


def answer(eye: Eye, pictures: list[bytes]) -> tuple[str, str]:
    """What it says, and why it stopped; the last picture is the one that it is asked about."""
    if not pictures:
        # Without a picture it guesses, and always the same.
        return json.dumps({name: k % 4 for k, name in enumerate(EMOTIONS)}), "stop"
    # With examples in front it has seen how the scale is used: it dares more, and errs less.
    learned = len(pictures) > 1
    digest = hashlib.sha256(pictures[-1] + bytes(learned)).digest()
    chance = digest[0]
    if chance < 8:
        return "I'm sorry, but I can't help with judging a person's face.", "stop"
    seen = eye.sees(Image.open(io.BytesIO(pictures[-1])))
    noise = np.random.default_rng(list(digest)).normal(size=len(EMOTIONS))
    said = (1.8 * seen - 1.0 + 0.8 * noise) if learned else (seen + 1.0 + 1.4 * noise)
    text = json.dumps(
        dict(zip(EMOTIONS, np.clip(np.rint(said), 0, 7).astype(int).tolist(), strict=True))
    )
    if chance < 14:
        return text[: len(text) // 2], "length"
    if chance < 60:
        return f"Here is my rating:\n```json\n{text}\n```", "stop"
    return text, "stop"


def pictures_of(request: dict[str, Any]) -> list[bytes]:
    """Bytes of the pictures of a request, in order."""
    parts = [
        part
        for message in request["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
    ]
    return [
        base64.b64decode(part["image_url"]["url"].partition(",")[2])
        for part in parts
        if part["type"] == "image_url"
    ]


def reply(eye: Eye, request: dict[str, Any]) -> dict[str, Any]:
    """The body of a chat completion."""
    text, why = answer(eye, pictures_of(request))
    read, written = len(json.dumps(request)) // 40, len(text) // 4
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-stand-in",
        "object": "chat.completion",
        "created": 0,
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": why}],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        },
    }


def main() -> None:
    """Serve until it is stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8765, help="0: any that is free")
    eye = Eye()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(reply(eye, request)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Handler)
    print(f"a stand-in answers at http://127.0.0.1:{server.server_port}/v1", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()

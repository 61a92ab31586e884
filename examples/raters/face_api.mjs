// Expressions of faces by the network of @vladmandic/face-api (MIT licence), in Node without a browser:
//   npm install @vladmandic/face-api
//   node face_api.mjs node_modules/@vladmandic/face-api faces.json > results.json
//   affectlab rate results.json faces/ --out face-api.parquet
// faces.json is a list of {name, width, height, rgb}: a name, and the pixels of a face as base64.
import { readFileSync, promises } from "node:fs";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const [folder, faces] = process.argv.slice(2);
// The package takes whatever has a document for a browser.
globalThis.window = globalThis;
globalThis.document = { createElement: () => ({}) };
for (const name of ["HTMLCanvasElement", "HTMLImageElement", "HTMLVideoElement", "ImageData"])
  globalThis[name] ??= class {};
globalThis.CanvasRenderingContext2D ??= class {};
globalThis.Image ??= class {};

const api = await import(pathToFileURL(resolve(folder, "dist/face-api.esm.js")));
await api.tf.setBackend("cpu");
api.env.monkeyPatch({ readFile: (path) => promises.readFile(path) });
await api.nets.faceExpressionNet.loadFromDisk(resolve(folder, "model"));
const results = [];
for (const { name, width, height, rgb } of JSON.parse(readFileSync(faces, "utf8"))) {
  const pixels = Uint8Array.from(Buffer.from(rgb, "base64"));
  const picture = api.tf.tensor(pixels, [1, height, width, 3], "float32");
  const scores = await api.nets.faceExpressionNet.predictExpressions(picture);
  results.push({ image: name, expressions: { ...scores } });
  picture.dispose();
}
console.log(JSON.stringify(results));

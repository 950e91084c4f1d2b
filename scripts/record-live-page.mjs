// Records the live page under load: a moving picture for the README, in the time of the simulated
// GPUs, and a still one for docs/live-page.md. It starts a cluster and a benchmark, and needs
// Chromium.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import gifenc from 'gifenc';
import { chromium } from 'playwright-core';
import { findChromium } from './chromium.mjs';
import { chromiumOnPath } from './debian-tools.mjs';
import { ROOT } from './root.mjs';

const MOVING = join(ROOT, 'docs', 'images', 'live-page.gif');
const STILL = join(ROOT, 'docs', 'images', 'live-page.png');
const BATON = join(ROOT, 'bin', 'baton');

/**
 * Simulated seconds per wall second: a browser without a GPU takes a core, and at full speed would
 * hold up the tokens. The picture is shown faster by as much.
 */
const SPEEDUP = 0.5;
const CLUSTER = {
  topology: '2P3D',
  model: 'llama-3.1-70b',
  'tensor-parallel-size': 4,
  link: '25gbe',
  speedup: SPEEDUP,
};
/** Load of which each pool has something to show at any time. */
const LOAD = {
  dataset: 'random',
  'random-input-len': 4000,
  'random-output-len': 450,
  'random-range-ratio': 0.7,
  'request-rate': 4 * SPEEDUP,
  'num-prompts': 1000,
};
/** The moving picture ends below the engines; in CSS pixels. */
const SIZE = { width: 1120, height: 500 };
const STILL_SIZE = { width: 1280, height: 800 };
/** Long enough that the charts have lines when the recording starts, in wall ms. */
const BEFORE_MS = 40_000;
/** Of the picture as it is shown. */
const LENGTH_MS = 10_000;
/** After the page changes its size, in wall ms. */
const SETTLING_MS = 2_000;
const READY_WITHIN_MS = 120_000;
const FRAMES_PER_S = 10;
/** Wall ms between two frames. */
const FRAME_MS = 1000 / FRAMES_PER_S / SPEEDUP;
/** Colours of a GIF: 255, and the one that leaves a pixel as it is. */
const COLOURS = 255;
const SAME = 255;
/** Most bytes of the moving picture. */
const MOST_BYTES = 1.5 * 1024 * 1024;

const port = await freePort();
const address = `http://127.0.0.1:${port}`;
await chromiumOnPath();
const cluster = baton('up', { port, ...CLUSTER });
try {
  await ready();
  const bench = baton('bench', { 'base-url': address, ...LOAD });
  // The browser inherits this: it draws without a GPU and must not hold up the tokens.
  setPriority(19);
  const browser = await chromium.launch({
    executablePath: findChromium(),
    args: ['--no-sandbox'],
  });
  try {
    const page = await browser.newPage({ viewport: SIZE });
    const frames = await record(page);
    await page.setViewportSize(STILL_SIZE);
    await sleep(SETTLING_MS);
    await page.screenshot({ path: STILL });
    if ((await page.getByText('VOID').count()) > 0)
      console.warn('Figures are VOID in the pictures: record them again on a less busy machine.');
    bench.kill();
    const pictures = await decoded(frames, await browser.newPage());
    const bytes = movingPicture(pictures);
    if (bytes.length > MOST_BYTES) throw new Error(`The picture has ${bytes.length} bytes.`);
    writeFileSync(MOVING, bytes);
    console.log(`${frames.length} frames, ${(bytes.length / 1024).toFixed(0)} KiB: ${MOVING}`);
  } finally {
    bench.kill();
    await browser.close();
  }
} finally {
  cluster.kill();
  if (cluster.exitCode === null) await once(cluster, 'exit');
}

function baton(command, options) {
  const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const stdio = ['ignore', 'ignore', 'inherit'];
  return spawn(process.execPath, [BATON, command, ...flags], { stdio });
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address();
  server.close();
  return free;
}

async function ready() {
  const endMs = performance.now() + READY_WITHIN_MS;
  while (performance.now() < endMs) {
    if (cluster.exitCode !== null) throw new Error(`The cluster ended: ${cluster.exitCode}.`);
    const signal = globalThis.AbortSignal.timeout(READY_WITHIN_MS);
    const isReady = await fetch(`${address}/v1/models`, { signal }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await sleep(200);
  }
  throw new Error(`The cluster was not ready within ${READY_WITHIN_MS} ms.`);
}

/** The frames as PNG, each with the time in ms for which it is shown. */
async function record(page) {
  // The page draws as often as it is recorded: 60 drawings a second without a GPU hold up tokens.
  await page.addInitScript((frameMs) => {
    globalThis.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), frameMs);
    globalThis.cancelAnimationFrame = globalThis.clearTimeout;
  }, FRAME_MS);
  await page.goto(`${address}/ui`);
  await sleep(BEFORE_MS);
  const frames = [];
  const start = performance.now();
  for (let now = start; now < start + LENGTH_MS / SPEEDUP; now = performance.now()) {
    frames.push({ at: now, png: await page.screenshot() });
    await sleep(Math.max(0, now + FRAME_MS - performance.now()));
  }
  const end = performance.now();
  return frames.map(({ at, png }, i) => ({ png, ms: ((frames[i + 1]?.at ?? end) - at) * SPEEDUP }));
}

/** The pixels of the frames as RGBA, decoded by the browser. */
async function decoded(frames, page) {
  const pictures = [];
  for (const { png, ms } of frames) {
    const pixels = await page.evaluate(async (source) => {
      const image = new globalThis.Image();
      image.src = `data:image/png;base64,${source}`;
      await image.decode();
      const canvas = new globalThis.OffscreenCanvas(image.width, image.height).getContext('2d');
      canvas.drawImage(image, 0, 0);
      const { data } = canvas.getImageData(0, 0, image.width, image.height);
      return new Uint8Array(data.buffer).toBase64();
    }, png.toString('base64'));
    pictures.push({
      pixels: new Uint32Array(Uint8Array.from(Buffer.from(pixels, 'base64')).buffer),
      ms,
    });
  }
  return pictures;
}

/** The frames as an animated GIF. Each one after the first has only the pixels that change. */
function movingPicture(pictures) {
  const palette = paletteOf(pictures);
  const indexOf = indexes(palette);
  const encoder = gifenc.GIFEncoder();
  let before;
  for (const { pixels, ms } of pictures) {
    const frame = Uint8Array.from(pixels, indexOf);
    const changes = before ? frame.map((index, i) => (index === before[i] ? SAME : index)) : frame;
    encoder.writeFrame(changes, SIZE.width, SIZE.height, {
      palette: before ? undefined : [...palette, [0, 0, 0]],
      delay: ms,
      transparent: true,
      transparentIndex: SAME,
      dispose: 1,
    });
    before = frame;
  }
  encoder.finish();
  return encoder.bytes();
}

/** The most frequent colours: the page has few, and the edges of its letters. */
function paletteOf(pictures) {
  const counts = new Map();
  for (const { pixels } of pictures) {
    for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  }
  const byCount = [...counts].sort(([, a], [, b]) => b - a);
  const frequent = byCount.slice(0, COLOURS).map(([pixel]) => rgb(pixel));
  while (frequent.length < COLOURS) frequent.push([0, 0, 0]);
  return frequent;
}

/** The function that gives the index of the colour that is closest to a pixel. */
function indexes(palette) {
  const known = new Map();
  return (pixel) => {
    if (!known.has(pixel)) known.set(pixel, gifenc.nearestColorIndex(palette, rgb(pixel)));
    return known.get(pixel);
  };
}

function rgb(pixel) {
  return [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
}

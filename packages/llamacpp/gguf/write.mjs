import { Buffer } from 'node:buffer';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { layoutOf, paddingAfter } from './layout.mjs';
import { metadataOf, tensorsOf } from './random-llama.mjs';
import { normalHalves, RandomBits } from './random-weights.mjs';

const CHUNK_VALUES = 1 << 20;

/**
 * Writes the file piece by piece; it gets its name only when complete. Equal arguments give equal
 * bytes.
 */
export async function writeRandomGguf(path, { shape, seed }) {
  const layout = layoutOf({ metadata: metadataOf(shape), tensors: tensorsOf(shape) });
  const bits = new RandomBits(seed);
  const unfinished = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true });
  const file = await open(unfinished, 'w');
  try {
    await file.write(layout.header);
    for (const tensor of layout.tensors) {
      for (const bytes of valuesOf(tensor, bits)) await file.write(bytes);
      await file.write(Buffer.alloc(paddingAfter(tensor.bytes)));
    }
    await file.close();
    renameSync(unfinished, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    rmSync(unfinished, { force: true });
    throw error;
  }
  const parameters = layout.tensors.reduce((sum, { elements }) => sum + elements, 0);
  return { parameters, bytes: layout.totalBytes };
}

function* valuesOf({ elements, fill, zeros = 0 }, bits) {
  if (fill === 'ones') {
    yield Buffer.from(new Float32Array(elements).fill(1).buffer);
    return;
  }
  yield Buffer.alloc(zeros * 2);
  for (let left = elements - zeros; left > 0; left -= CHUNK_VALUES) {
    yield normalHalves(bits, Math.min(left, CHUNK_VALUES), fill);
  }
}

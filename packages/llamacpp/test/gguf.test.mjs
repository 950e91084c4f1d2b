import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { layoutOf, value } from '../gguf/layout.mjs';
import { DEFAULT_SHAPE, kvBytesPerToken, tensorsOf } from '../gguf/random-llama.mjs';
import { halfOf, normalHalves, RandomBits } from '../gguf/random-weights.mjs';
import { vocabulary } from '../gguf/vocabulary.mjs';
import { writeRandomGguf } from '../gguf/write.mjs';

const TINY = {
  layers: 1,
  width: 32,
  heads: 2,
  kvHeads: 1,
  feedForward: 64,
  vocab: 1_200,
  context: 64,
};

test('the head of a file is what the format says, byte by byte', () => {
  const { header, tensors, totalBytes } = layoutOf({
    metadata: [['k', value.string('v')]],
    tensors: [
      { name: 'a', type: 'f32', shape: [3] },
      { name: 'b', type: 'f16', shape: [2, 5] },
    ],
  });
  const expected = [
    Buffer.from('GGUF\x03\0\0\0'),
    Buffer.from([2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
    Buffer.from('\x01\0\0\0\0\0\0\0k\x08\0\0\0\x01\0\0\0\0\0\0\0v'),
    Buffer.from('\x01\0\0\0\0\0\0\0a\x01\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'),
    Buffer.from(
      '\x01\0\0\0\0\0\0\0b\x02\0\0\0\x02\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\x01\0\0\0 \0\0\0\0\0\0\0',
    ),
  ];
  const bytes = Buffer.concat(expected);
  assert.equal(header.subarray(0, bytes.length).toString('hex'), bytes.toString('hex'));
  assert.equal(header.length % 32, 0);
  assert.deepEqual(
    tensors.map(({ offset, bytes: size }) => [offset, size]),
    [
      [0, 12],
      [32, 20],
    ],
  );
  assert.equal(totalBytes, header.length + 64);
});

test('the model that is written unless told has 29.4 M parameters and 8,192 bytes of KV a token', () => {
  const { tensors } = layoutOf({ metadata: [], tensors: tensorsOf(DEFAULT_SHAPE) });
  const parameters = tensors.reduce((sum, { elements }) => sum + elements, 0);
  assert.equal(parameters, 29_368_832);
  assert.equal(kvBytesPerToken(DEFAULT_SHAPE), 8_192);
});

test('a file has the length of its layout, and depends on its seed alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-gguf-'));
  try {
    const digestOf = async (seed) => {
      const path = join(folder, `${seed}.gguf`);
      const { bytes } = await writeRandomGguf(path, { shape: TINY, seed });
      const content = readFileSync(path);
      assert.equal(content.length, bytes);
      return createHash('sha256').update(content).digest('hex');
    };
    const [first, again, other] = [await digestOf(7), await digestOf(7), await digestOf(8)];
    assert.equal(first, again);
    assert.notEqual(first, other);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('no two pieces of a vocabulary are equal, and every byte is one', () => {
  const { tokens, scores, kinds } = vocabulary(DEFAULT_SHAPE.vocab);
  assert.equal(tokens.length, DEFAULT_SHAPE.vocab);
  assert.equal(new Set(tokens).size, tokens.length);
  assert.deepEqual([scores.length, kinds.length], [tokens.length, tokens.length]);
  assert.equal(tokens.filter((token) => /^<0x[0-9A-F]{2}>$/.test(token)).length, 256);
});

test('halves are the nearest ones to their numbers', () => {
  const known = [
    [0, 0x0000],
    [1, 0x3c00],
    [-2, 0xc000],
    [0.1, 0x2e66],
    [65_504, 0x7bff],
    [1e9, 0x7c00],
  ];
  for (const [number, half] of known) assert.equal(halfOf(number), half, `${number}`);
});

test('random weights have the mean and the deviation that were asked for', () => {
  const count = 100_000;
  const bytes = normalHalves(new RandomBits(3), count, 0.5);
  let [sum, squares] = [0, 0];
  for (let i = 0; i < count; i += 1) {
    const number = numberOf(bytes.readUInt16LE(i * 2));
    sum += number;
    squares += number * number;
  }
  assert.ok(Math.abs(sum / count) < 0.01, `mean ${sum / count}`);
  assert.ok(Math.abs(Math.sqrt(squares / count) - 0.5) < 0.01, `squares ${squares / count}`);
});

function numberOf(half) {
  const exponent = (half >> 10) & 31;
  const size = exponent === 0 ? 0 : (1 + (half & 1023) / 1024) * 2 ** (exponent - 15);
  return half >> 15 === 1 ? -size : size;
}

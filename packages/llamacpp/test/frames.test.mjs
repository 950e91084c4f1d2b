import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { CHUNK_BYTES, chunksIn, framesOf, GarbledState } from '../kv/frames.mjs';

const state = Buffer.from(
  Array.from({ length: 2 * CHUNK_BYTES + 77 }, (_none, i) => (i * 31) % 251),
);
const manifest = { bytes: state.length, tokens: 9, model: 'm' };

async function sent(given = manifest, pieces = [state]) {
  const frames = [];
  for await (const frame of framesOf(given, pieces)) frames.push(frame);
  return Buffer.concat(frames);
}

async function received(bytes, pieceBytes) {
  const pieces = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    pieces.push(bytes.subarray(at, at + pieceBytes));
  }
  const chunks = [];
  let seen;
  for await (const chunk of chunksIn(pieces, (each) => (seen = each)))
    chunks.push(Buffer.from(chunk));
  return { state: Buffer.concat(chunks), manifest: seen };
}

test('a state arrives as it was sent, however the connection cuts it', async () => {
  const bytes = await sent();
  for (const pieceBytes of [1_000, 65_536, CHUNK_BYTES + 1, bytes.length]) {
    const { state: arrived, manifest: told } = await received(bytes, pieceBytes);
    assert.ok(arrived.equals(state), `in pieces of ${pieceBytes}`);
    assert.deepEqual(told, manifest);
  }
});

test('an empty state is one too', async () => {
  const { state: arrived } = await received(await sent({ bytes: 0, tokens: 0 }, []), 7);
  assert.equal(arrived.length, 0);
});

test('a byte that changed on the way is noticed, wherever it is', async () => {
  const bytes = await sent();
  for (const at of [
    0,
    3,
    6,
    12,
    60,
    5_000,
    CHUNK_BYTES + 500,
    bytes.length - 40,
    bytes.length - 1,
  ]) {
    const changed = Buffer.from(bytes);
    changed[at] ^= 0x41;
    await assert.rejects(received(changed, 65_536), GarbledState, `byte ${at}`);
  }
});

test('a stream that ends early is noticed, wherever it ends', async () => {
  const bytes = await sent();
  for (const length of [0, 4, 40, CHUNK_BYTES, bytes.length - 41, bytes.length - 1]) {
    await assert.rejects(received(bytes.subarray(0, length), 65_536), GarbledState, `${length}`);
  }
});

test('chunks that are left out, swapped or sent twice are noticed', async () => {
  const frames = [];
  for await (const frame of framesOf(manifest, [state])) frames.push(frame);
  const [head, first, second, third, end] = frames;
  for (const order of [
    [head, first, second, end],
    [head, second, first, third, end],
    [head, first, first, second, third, end],
    [first, second, third, end],
  ]) {
    await assert.rejects(received(Buffer.concat(order), 65_536), GarbledState);
  }
});

test('a manifest that is not wanted ends it before the first chunk', async () => {
  const bytes = await sent();
  const chunks = chunksIn([bytes], () => assert.fail('not wanted'));
  await assert.rejects(chunks.next(), /not wanted/);
});

test('a frame that would need more memory than any is refused at its head', async () => {
  const head = Buffer.alloc(9);
  head.writeUInt8(1, 0);
  head.writeUInt32LE(2 ** 31, 1);
  await assert.rejects(received(head, 9), /beyond every bound/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../http/server.mjs';
import { DEFAULT_MODEL } from '../places.mjs';
import { post, promptOf } from './client.mjs';

const LENGTHS = [32, 64, 128, 256, 512, 1_024, 2_048, 3_072];
const RUNS = 3;

test('prefill grows faster than its prompt', async () => {
  const server = await startServer({ path: DEFAULT_MODEL, threads: 1, sequences: 1 });
  try {
    const ms = new Map();
    await timeOf(server.url, 512, 0);
    for (const length of LENGTHS) {
      const times = [];
      for (let run = 0; run < RUNS; run += 1) times.push(await timeOf(server.url, length, run));
      ms.set(
        length,
        times.sort((a, b) => a - b),
      );
    }
    console.log('prompt tokens | ms to the first token (median of 3) | us a token');
    for (const [length, times] of ms) {
      const each = times[Math.floor(RUNS / 2)];
      console.log(
        `${String(length).padStart(13)} | ${each.toFixed(1).padStart(36)} | ${((each * 1_000) / length).toFixed(0)}`,
      );
    }
    // Linear growth would be 3; attention adds a term with the square of the length. The fastest
    // runs are the least disturbed ones.
    const growth = ms.get(3_072)[0] / ms.get(1_024)[0];
    console.log(`3072 against 1024 tokens: ${growth.toFixed(2)} times as long`);
    assert.ok(growth > 3, `${growth}`);
  } finally {
    await server.close();
  }
});

async function timeOf(url, length, salt) {
  const startedMs = performance.now();
  await post(url, { prompt: promptOf(length, salt), max_tokens: 1, temperature: 0 });
  return performance.now() - startedMs;
}

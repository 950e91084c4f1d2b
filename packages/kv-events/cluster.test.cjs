'use strict';
// A real cluster, listened to as an indexer does: `npm run build` in the root first.
const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { join } = require('node:path');
const { test } = require('node:test');
const { setTimeout: pause } = require('node:timers/promises');
const { Subscriber } = require('zeromq');

const ROOT = join(__dirname, '..', '..');
const FIRST_PORT = 22_180;
const API = 22_190;
const STEPS = ['--step-time=constant', '--time-to-first-token=5', '--inter-token-latency=1'];

test('both ends of a hand-over publish the blocks of the prompt with their tokens', async () => {
  const flags = [
    `--kv-events-endpoint=tcp://127.0.0.1:${FIRST_PORT}`,
    '--kv-events-topic=kv@{engine}',
  ];
  const up = ['bin/baton', 'up', '1P1D', '--port', String(API), ...STEPS, ...flags];
  const cluster = spawn(process.execPath, up, { cwd: ROOT, stdio: 'ignore' });
  const heard = [0, 1].map(listen);
  try {
    await untilReady();
    // A new subscriber gets no earlier messages: ask until both have.
    for (let i = 0; !heard.every(({ events }) => events.length > 0); i += 1) await ask(i, 48);
    for (const { events } of heard) events.length = 0;
    const ids = await ask(70_000, 48);
    await until(() => heard.every(({ events }) => events.length > 0));
    for (const { events } of heard) {
      const stored = events.filter(([name]) => name === 'BlockStored');
      const [, hashes, parent, tokens, blockSize, , medium] = stored[0];
      assert.equal(parent, null);
      assert.equal(blockSize, 16);
      assert.equal(medium, 'GPU');
      assert.equal(tokens.length, hashes.length * 16);
      assert.deepEqual(tokens.slice(0, 16), ids.slice(0, 16));
    }
  } finally {
    const gone = new Promise((resolve) => cluster.once('exit', resolve));
    cluster.kill('SIGTERM');
    await gone;
    for (const { socket } of heard) socket.close();
  }
});

function listen(engine) {
  const socket = new Subscriber();
  const events = [];
  socket.connect(`tcp://127.0.0.1:${FIRST_PORT + engine}`);
  socket.subscribe(`kv@${engine}`);
  void (async () => {
    for await (const [, , batch] of socket) events.push(...unpack(batch)[1]);
  })();
  return { socket, events };
}

async function ask(seed, length) {
  const prompt = Array.from({ length }, (_none, i) => 100 + ((seed * 31 + i) % 90_000));
  const answer = await fetch(`http://127.0.0.1:${API}/v1/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ prompt, max_tokens: 4, ignore_eos: true }),
  });
  assert.equal(answer.status, 200, await answer.text());
  return prompt;
}

function untilReady() {
  const isReady = () =>
    fetch(`http://127.0.0.1:${API}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  return until(isReady);
}

async function until(holds) {
  const endMs = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new TypeError(`never true: ${holds}`);
    await pause(20);
  }
}

/** MessagePack, as much as batches use. */
function unpack(bytes) {
  let at = 0;
  const unsigned = (size) => bytes.readUIntBE((at += size) - size, size);
  const text = (size) => bytes.toString('utf8', (at += size) - size, at);
  const array = (size) => Array.from({ length: size }, value);
  function value() {
    const tag = unsigned(1);
    if (tag < 0x80) return tag;
    if (tag >= 0x90 && tag < 0xa0) return array(tag & 15);
    if (tag >= 0xa0 && tag < 0xc0) return text(tag & 31);
    if (tag === 0xc0) return null;
    if (tag === 0xcb) return bytes.readDoubleBE((at += 8) - 8);
    if (tag >= 0xcc && tag <= 0xce) return unsigned(2 ** (tag - 0xcc));
    if (tag === 0xcf) return Number(bytes.readBigUInt64BE((at += 8) - 8));
    if (tag === 0xd9) return text(unsigned(1));
    if (tag === 0xdc) return array(unsigned(2));
    throw new TypeError(`not of a batch: ${tag.toString(16)}`);
  }
  return value();
}

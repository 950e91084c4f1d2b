/* global AbortController */
// Two servers in this process, and this test as the proxy between them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DEFAULT_SHAPE } from '../gguf/random-llama.mjs';
import { writeRandomGguf } from '../gguf/write.mjs';
import { startServer } from '../http/server.mjs';
import { DEFAULT_MODEL } from '../places.mjs';
import { metric, post, promptOf, until } from './client.mjs';
import { startRelay } from './faulty-relay.mjs';

const HOLD = { do_remote_decode: true, do_remote_prefill: false };
const BODY = { max_tokens: 16, temperature: 0, ignore_eos: true, return_token_ids: true };
const KV_LEASE_MS = 1_500;

const servers = [];
const peers = new Set();
let folder;
let prefill;

async function start(options = {}) {
  const server = await startServer({
    path: DEFAULT_MODEL,
    sequences: 2,
    kvLeaseMs: KV_LEASE_MS,
    kvFetchMs: 1_000,
    isPeer: async ({ origin }) => peers.has(origin),
    ...options,
  });
  servers.push(server);
  return server;
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-e2e-'));
  prefill = await start();
  peers.add(prefill.url);
});

after(async () => {
  for (const server of servers) await server.close();
  rmSync(folder, { recursive: true });
});

async function held(prompt) {
  const { body } = await post(prefill.url, {
    ...BODY,
    prompt,
    max_tokens: 1,
    kv_transfer_params: HOLD,
  });
  return body.kv_transfer_params;
}

const heldStates = () => metric(prefill.url, 'llamacpp:kv_states_held');
const failures = (server) => metric(server.url, 'vllm:nixl_num_failed_transfers_total');
const tokensOf = ({ body }) => body.choices[0].token_ids;

test('a prompt that was handed over goes on as one that stayed, token for token', async () => {
  const decode = await start();
  for (const [length, more] of [
    [2, {}],
    [17, {}],
    [512, {}],
    [513, { temperature: 1, seed: 11 }],
    [1_400, { temperature: 0.7, top_p: 0.9, top_k: 40, seed: 12 }],
  ]) {
    const prompt = promptOf(length, length);
    const stayed = await post(prefill.url, { ...BODY, ...more, prompt });
    const params = await held(prompt);
    assert.equal(params.remote_num_tokens, length - 1);
    const went = await post(decode.url, { ...BODY, ...more, prompt, kv_transfer_params: params });
    assert.deepEqual(tokensOf(went), tokensOf(stayed), `${length} tokens`);
    assert.equal(went.body.usage.prompt_tokens_details.cached_tokens, length - 1);
  }
  await until('all states are released', async () => (await heldStates()) === 0);
  assert.equal(await failures(decode), 0);
});

test('KV takes the bytes a token that the architecture says, and 16 of notes', async () => {
  const decode = await start();
  const bytesOf = async (length) => {
    const prompt = promptOf(length, 5);
    const before = await metric(decode.url, 'vllm:nixl_bytes_transferred_sum');
    await post(decode.url, { ...BODY, prompt, kv_transfer_params: await held(prompt) });
    return (await metric(decode.url, 'vllm:nixl_bytes_transferred_sum')) - before;
  };
  const [short, long] = [await bytesOf(101), await bytesOf(1_101)];
  const perToken = (long - short) / 1_000;
  console.log(
    `KV: ${short} bytes of 100 tokens, ${long} of 1,100: ${perToken} a token, of which 8,192 are keys and values`,
  );
  assert.equal(perToken, 8_192 + 16);
});

const SPOILS = {
  async *'a changed byte'(body) {
    let at = 0;
    for await (const part of body) {
      const bytes = Buffer.from(part);
      if (at <= 300_000 && 300_000 < at + bytes.length) bytes[300_000 - at] ^= 1;
      at += bytes.length;
      yield bytes;
    }
  },
  async *'a stream that is cut'(body) {
    for await (const part of body) {
      yield part;
      throw new TypeError('cut');
    }
  },
  async *'an end that comes early'(body) {
    for await (const part of body) {
      yield part;
      return;
    }
  },
  async *'other bytes'() {
    yield Buffer.alloc(100_000, 7);
  },
  async *'a sender that hangs'(body) {
    for await (const part of body) {
      yield part;
      await new Promise((resolve) => setTimeout(resolve, 3_000));
    }
  },
};

for (const [what, spoil] of Object.entries(SPOILS)) {
  test(`${what} is noticed: the prompt is computed again, or the request fails, by policy`, async () => {
    const relay = await startRelay(prefill.url, spoil);
    peers.add(relay.origin);
    try {
      const prompt = promptOf(200, 3);
      const stayed = await post(prefill.url, { ...BODY, prompt });
      for (const loadFailurePolicy of ['recompute', 'fail']) {
        const decode = await start({ loadFailurePolicy });
        const params = { ...(await held(prompt)), remote_port: relay.port };
        const went = await post(decode.url, { ...BODY, prompt, kv_transfer_params: params });
        if (loadFailurePolicy === 'fail') assert.equal(went.status, 500);
        else assert.deepEqual(tokensOf(went), tokensOf(stayed));
        assert.equal(await failures(decode), 1);
        assert.equal(await metric(decode.url, 'vllm:kv_cache_usage_perc'), 0);
      }
      await until('both states are released', async () => (await heldStates()) === 0);
    } finally {
      peers.delete(relay.origin);
      relay.close();
    }
  });
}

test('a prefill server that died before it was read is noticed', async () => {
  const [dying, decode] = [await start(), await start()];
  peers.add(dying.url);
  const prompt = promptOf(130, 9);
  const ask = { ...BODY, prompt, max_tokens: 1, kv_transfer_params: HOLD };
  const { body } = await post(dying.url, ask);
  servers.splice(servers.indexOf(dying), 1);
  await dying.close();
  const { kv_transfer_params: params } = body;
  const went = await post(decode.url, { ...BODY, prompt, kv_transfer_params: params });
  assert.deepEqual(tokensOf(went), tokensOf(await post(prefill.url, { ...BODY, prompt })));
  assert.equal(await failures(decode), 1);
});

test('an address that no configuration names is never opened', async () => {
  const decode = await start();
  const relay = await startRelay(prefill.url, (body) => body);
  const prompt = promptOf(60, 4);
  const params = { ...(await held(prompt)), remote_port: relay.port };
  const went = await post(decode.url, { ...BODY, prompt, kv_transfer_params: params });
  relay.close();
  assert.deepEqual(tokensOf(went), tokensOf(await post(prefill.url, { ...BODY, prompt })));
  assert.deepEqual([relay.reads, relay.releases], [0, 0]);
});

test('a state of another prompt, of another model or without an owner is refused', async () => {
  const decode = await start();
  const other = join(folder, 'other.gguf');
  await writeRandomGguf(other, { shape: DEFAULT_SHAPE, seed: 2 });
  const stranger = await start({ path: other });
  const prompt = promptOf(90, 1);
  const stayed = tokensOf(await post(prefill.url, { ...BODY, prompt }));
  const elsewhere = tokensOf(await post(stranger.url, { ...BODY, prompt }));
  assert.notDeepEqual(elsewhere, stayed);
  const used = await held(prompt);
  await post(decode.url, { ...BODY, prompt, kv_transfer_params: used });
  await until('it is released', async () => (await heldStates()) === 0);
  for (const [server, params, right] of [
    [decode, await held(promptOf(90, 2)), stayed],
    [decode, await held(promptOf(91, 1)), stayed],
    [decode, used, stayed],
    [stranger, await held(prompt), elsewhere],
  ]) {
    const went = await post(server.url, { ...BODY, prompt, kv_transfer_params: params });
    assert.deepEqual(tokensOf(went), right);
  }
  assert.equal(await failures(decode), 3);
  assert.equal(await failures(stranger), 1);
});

test('an unread state is freed when its lease ends', async () => {
  const expired = () => metric(prefill.url, 'vllm:nixl_num_kv_expired_reqs_total');
  const before = await expired();
  const prompt = promptOf(70, 6);
  const params = await held(prompt);
  assert.equal(await heldStates(), 1);
  assert.ok((await metric(prefill.url, 'llamacpp:kv_states_held_bytes')) > 69 * 8_192);
  await until('the lease ends', async () => (await heldStates()) === 0);
  assert.equal((await expired()) - before, 1);
  assert.equal(await metric(prefill.url, 'llamacpp:kv_states_held_bytes'), 0);
  const gone = await fetch(`${prefill.url}/kv/${params.remote_request_id}`);
  assert.equal(gone.status, 404);
});

test('beyond the bytes that may be held prefill answers without a reference', async () => {
  const small = await start({ maxHeldBytes: 1_000_000 });
  const ask = { ...BODY, prompt: promptOf(100), max_tokens: 1, kv_transfer_params: HOLD };
  const first = await post(small.url, ask);
  const second = await post(small.url, ask);
  assert.notEqual(first.body.kv_transfer_params, null);
  assert.equal(second.body.kv_transfer_params, null);
});

test('a client that leaves gives its sequence back', async () => {
  const server = await start({ sequences: 1 });
  const controller = new AbortController();
  const prompt = promptOf(3_000);
  const left = post(server.url, { ...BODY, prompt }, { signal: controller.signal });
  await until('it runs', async () => (await metric(server.url, 'vllm:num_requests_running')) === 1);
  controller.abort();
  await assert.rejects(left);
  const next = await post(server.url, { ...BODY, prompt: promptOf(5) });
  assert.equal(next.body.usage.completion_tokens, BODY.max_tokens);
  assert.equal(await metric(server.url, 'vllm:num_requests_running'), 0);
});

test('requests share batches, and those beyond the sequences wait', async () => {
  const server = await start({ sequences: 2 });
  const answers = await Promise.all(
    Array.from({ length: 7 }, (_none, i) =>
      post(server.url, { ...BODY, prompt: promptOf(20 + i) }),
    ),
  );
  assert.deepEqual(
    answers.map(({ body }) => body.usage.completion_tokens),
    Array.from({ length: 7 }, () => BODY.max_tokens),
  );
});

test('lengths, stop strings, end tokens and limits are obeyed', async () => {
  const server = await start();
  const prompt = 'a relay over four legs';
  const { body } = await post(server.url, { ...BODY, prompt, max_tokens: 40 });
  const [{ text, token_ids: ids }] = body.choices;
  assert.equal(ids.length, 40);
  const stop = text.slice(20, 26);
  const stopped = await post(server.url, { ...BODY, prompt, max_tokens: 40, stop });
  const [ended] = stopped.body.choices;
  assert.deepEqual(
    [ended.text, ended.finish_reason, ended.stop_reason],
    [text.slice(0, text.indexOf(stop)), 'stop', stop],
  );
  const stopIds = { stop_token_ids: [ids[5]] };
  const byToken = await post(server.url, { ...BODY, prompt, max_tokens: 40, ...stopIds });
  assert.equal(byToken.body.choices[0].finish_reason, 'stop');
  const least = await post(server.url, {
    ...BODY,
    prompt,
    max_tokens: 40,
    ...stopIds,
    min_tokens: 30,
  });
  assert.ok(least.body.usage.completion_tokens >= 30);
  const late = await post(server.url, { ...BODY, prompt, max_tokens: 40, stop, min_tokens: 40 });
  assert.equal(late.body.choices[0].text, text);
  const long = await post(server.url, { ...BODY, prompt: promptOf(4_090), max_tokens: 40 });
  assert.match(long.body.error.message, /maximum context length is 4096 tokens/);
  const strange = await post(server.url, { ...BODY, prompt: [1, 4_096] });
  assert.deepEqual([strange.status, strange.body.error.param], [400, 'prompt']);
  assert.equal((await post(server.url, { ...BODY, prompt, model: 'none' })).status, 404);
});

// A prefill and a decode worker in processes of their own, against one that does both.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { metric, post, promptOf, stream, until } from './client.mjs';
import { Cluster } from './cluster.mjs';

const BODY = { max_tokens: 24, temperature: 0, ignore_eos: true };
const RESTART_MS = 60_000;

let split;
let whole;

before(async () => {
  split = await Cluster.start('1P1D', ['--enable-admin']);
  whole = await Cluster.start('1A');
});

after(async () => {
  await split?.stop();
  await whole?.stop();
});

async function answerOf(cluster, body) {
  const { status, body: answer } = await post(cluster.url, { ...body, return_token_ids: true });
  assert.equal(status, 200, JSON.stringify(answer));
  const [{ token_ids: ids, text }] = answer.choices;
  return { ids, text, usage: answer.usage };
}

/** Ready again after a worker was killed: a request goes through both stages. */
async function untilServing() {
  await until(
    'the cluster serves',
    async () => {
      const { status, body } = await post(split.url, {
        ...BODY,
        prompt: promptOf(20),
        max_tokens: 2,
      });
      return status === 200 && body.usage.prompt_tokens_details.cached_tokens === 19;
    },
    RESTART_MS,
  );
}

test('a split cluster gives the tokens of a whole one, streamed or not', async () => {
  const cases = [
    ...[1, 2, 3, 16, 33, 257, 700, 1_500].map((length) => ({ prompt: promptOf(length, length) })),
    { prompt: 'Four runners pass one baton over four hundred metres.' },
    { prompt: promptOf(120), temperature: 1, seed: 41 },
    { prompt: promptOf(640), temperature: 0.8, top_p: 0.95, seed: 42, max_tokens: 60 },
  ];
  const texts = new Set();
  for (const more of cases) {
    const body = { ...BODY, ...more };
    const went = await answerOf(split, body);
    const stayed = await answerOf(whole, body);
    const length = stayed.usage.prompt_tokens;
    assert.deepEqual(went.ids, stayed.ids, `a prompt of ${length} tokens`);
    assert.equal(went.ids.length, body.max_tokens);
    assert.equal(went.usage.prompt_tokens_details.cached_tokens, length - 1);
    const streamed = await stream(split.url, body);
    assert.equal(streamed.text, stayed.text);
    assert.equal(streamed.finishReason, 'length');
    assert.equal(streamed.usage.completion_tokens, body.max_tokens);
    texts.add(stayed.text);
  }
  assert.equal(texts.size, cases.length);
});

test('chat answers are equal too', async () => {
  const messages = [
    { role: 'system', content: 'You carry the baton.' },
    { role: 'user', content: 'Where to?' },
  ];
  const path = '/v1/chat/completions';
  const body = { ...BODY, messages };
  const went = await post(split.url, body, { path });
  const stayed = await post(whole.url, body, { path });
  assert.equal(went.body.choices[0].message.content, stayed.body.choices[0].message.content);
  const streamed = await stream(split.url, body, { path });
  assert.equal(streamed.text, stayed.body.choices[0].message.content);
});

test('every prompt was handed over once, and no state is left', async () => {
  const [prefill, decode] = [split.serverOf('prefill'), split.serverOf('decode')];
  const reads = await metric(decode, 'vllm:nixl_xfer_time_seconds_count');
  const computed = await metric(prefill, 'vllm:request_prefill_time_seconds_count');
  // A prompt of one token has nothing to hand over; two requests had one.
  assert.equal(reads, computed - 2);
  assert.ok(reads > 20, `${reads}`);
  assert.equal(await metric(decode, 'vllm:nixl_num_failed_transfers_total'), 0);
  await until(
    'all is released',
    async () => (await metric(prefill, 'llamacpp:kv_states_held')) === 0,
  );
});

test('many at once share the batches of decode, and all are served', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_none, i) =>
      stream(split.url, { ...BODY, prompt: promptOf(40 + i, i) }),
    ),
  );
  for (const { usage, error } of answers) {
    assert.equal(error, undefined);
    assert.equal(usage.completion_tokens, BODY.max_tokens);
  }
});

test('a prefill worker that is killed while it computes costs nothing but time', async () => {
  const body = { ...BODY, prompt: promptOf(3_000, 77) };
  const asked = stream(split.url, body);
  const server = split.serverOf('prefill');
  await until('it computes', async () => (await metric(server, 'vllm:num_requests_running')) === 1);
  split.kill('prefill');
  const went = await asked;
  const stayed = await answerOf(whole, body);
  assert.equal(went.text, stayed.text);
  await untilServing();
});

test('a decode worker that is killed in the midst of a text ends it with an error, and serves the next', async () => {
  let killed = false;
  const body = { ...BODY, prompt: promptOf(50, 5), max_tokens: 2_000 };
  const cut = await stream(split.url, body, {
    onText: () => {
      if (!killed) split.kill('decode');
      killed = true;
    },
  });
  const stayed = await answerOf(whole, body);
  assert.ok(killed);
  assert.ok(stayed.text.startsWith(cut.text), 'what came is the beginning of the right text');
  if (cut.text !== stayed.text) assert.equal(typeof cut.error?.message, 'string');
  console.log(
    `after ${cut.text.length} of ${stayed.text.length} characters: ${JSON.stringify(cut.error)}`,
  );
  await untilServing();
});

test('engines join and change their role, each with a server that computes it', async () => {
  const enginesOf = async (role) => {
    const list = await (await fetch(`${split.url}/admin/engines`)).json();
    const engines = Array.isArray(list) ? list : (list.engines ?? list.data);
    return engines.filter((each) => each.role === role && each.state === 'ready');
  };
  const joins = await post(split.url, { role: 'prefill', count: 1 }, { path: '/admin/engines' });
  assert.equal(joins.status, 202);
  await until('it has joined', async () => (await enginesOf('prefill')).length === 2, RESTART_MS);
  const [{ id }] = await enginesOf('prefill');
  const path = `/admin/engines/${id}/role`;
  assert.equal((await post(split.url, { role: 'decode' }, { path })).status, 202);
  await until('it decodes', async () => (await enginesOf('decode')).length === 2, RESTART_MS);
  const bodies = Array.from({ length: 6 }, (_none, i) => ({
    ...BODY,
    prompt: promptOf(90 + i, i),
  }));
  const answers = await Promise.all(bodies.map((body) => answerOf(split, body)));
  for (const [i, { usage }] of answers.entries()) {
    assert.equal(usage.completion_tokens, BODY.max_tokens);
    assert.equal(usage.prompt_tokens_details.cached_tokens, 90 + i - 1);
  }
});

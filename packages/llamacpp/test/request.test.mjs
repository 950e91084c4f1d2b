import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRequest, Refusal } from '../http/request.mjs';
import { sourceIn } from '../kv/fetch-state.mjs';

const PARAMS = {
  do_remote_prefill: true,
  do_remote_decode: false,
  remote_engine_id: 'e',
  remote_request_id: 'r',
  remote_host: '127.0.0.1',
  remote_port: 5600,
};

test("a request without options has vLLM's defaults", () => {
  const { maxTokens, sampling, stops, isStream, kv } = readRequest('completions', { prompt: 'a' });
  assert.deepEqual([maxTokens, stops, isStream, kv], [16, [], false, undefined]);
  assert.deepEqual(sampling, { temperature: 1, topP: 1, topK: 0, minP: 0, seed: undefined });
  assert.equal(
    readRequest('chat', { messages: [{ role: 'user', content: 'a' }] }).maxTokens,
    undefined,
  );
});

test('a prompt is text or token ids, alone or as the only one of a list', () => {
  const promptOf = (prompt) => readRequest('completions', { prompt }).prompt;
  assert.deepEqual(['a', ['a'], [1, 2], [[1, 2]]].map(promptOf), ['a', 'a', [1, 2], [1, 2]]);
});

test('a message in parts is their text', () => {
  const content = [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ];
  const { messages } = readRequest('chat', { messages: [{ role: 'user', content }] });
  assert.equal(messages[0].content, 'ab');
});

test('what cannot be done is refused with the name of its field', () => {
  const wrong = [
    ['n', { prompt: 'a', n: 2 }],
    ['logprobs', { prompt: 'a', logprobs: 1 }],
    ['prompt', {}],
    ['prompt', { prompt: ['a', 'b'] }],
    ['prompt', { prompt: [1.5] }],
    ['max_tokens', { prompt: 'a', max_tokens: 0 }],
    ['temperature', { prompt: 'a', temperature: -1 }],
    ['top_p', { prompt: 'a', top_p: 2 }],
    ['stop', { prompt: 'a', stop: [1] }],
  ];
  for (const [param, body] of wrong) {
    assert.throws(
      () => readRequest('completions', body),
      (error) => error instanceof Refusal && error.status === 400 && error.param === param,
      JSON.stringify(body),
    );
  }
});

test('parameters of a transfer name an address, an engine and a request, or nothing', () => {
  const source = { origin: 'http://127.0.0.1:5600', engineId: 'e', id: 'r' };
  assert.deepEqual(sourceIn(PARAMS), source);
  assert.equal(sourceIn({ ...PARAMS, remote_host: '::1' }).origin, 'http://[::1]:5600');
  assert.equal(sourceIn(undefined), undefined);
  for (const [field, wrong] of [
    ['do_remote_prefill', false],
    ['remote_engine_id', null],
    ['remote_request_id', ''],
    ['remote_host', 7],
    ['remote_host', 'a b'],
    ['remote_port', '5600'],
    ['remote_port', 70_000],
  ]) {
    assert.equal(sourceIn({ ...PARAMS, [field]: wrong }), undefined, `${field}: ${wrong}`);
  }
});

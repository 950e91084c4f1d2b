import { defaultConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import { type AnswerHead, planSequence, RequestError } from '@baton/openai';
import { chatHead } from '@baton/responses';
import type { OutputPlan } from '@baton/text';
import { beforeAll, describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../http/http-answer';
import type { SequenceEnd } from '../request/answer/answer';
import { writtenBody } from '../request/answer/written';
import { fixedLimits, planContext } from '../request/plan/model-context';
import { openTextParts, type TextParts } from '../request/plan/text-setup';
import type { ThreadSource } from '../request/take/call';
import {
  type AnswerForm,
  type Taken,
  type ThreadData,
  type ThreadResult,
  type ThreadTask,
} from '../request/threads/messages';
import { type PackedPlans, packPlans, unpackPlans } from '../request/threads/packed-plans';
import { refusalFrom } from '../request/threads/plain-refusal';
import { endpointReaders } from './endpoint-readers';
import { RequestReader } from './request-reader';

const config = defaultConfig({ dialect: 'vllm' });
const DATA: ThreadData = { config, keepsText: false, datasetTokens: undefined };
const HEAD: AnswerHead = {
  id: 'answer-1',
  created: 1_700_000_000,
  model: config.model,
  systemFingerprint: 'fp',
};
const FACTS = { cachedTokens: 0, kvTransferParams: undefined };
const USER = { role: 'user', content: 'Why does a relay need a baton?' };
const SCHEMA = { type: 'object', properties: { why: { type: 'string' } }, required: ['why'] };
const TOOL = { type: 'function', function: { name: 'run', parameters: SCHEMA } };
const FORMAT = { type: 'json_schema', json_schema: { name: 'why', schema: SCHEMA } };

let parts: TextParts;
let reader: RequestReader;

beforeAll(async () => {
  parts = await openTextParts(config, undefined);
  reader = new RequestReader(DATA, parts);
});

function sourceOf(endpointReader: string, body: unknown): ThreadSource {
  const none = { kvCapacityTokens: undefined, extra: undefined };
  return { ticket: 1, reader: endpointReader, body, models: [config.model], ...none };
}

/** The result of a task, copied as between two threads. */
function performed<Value>(task: ThreadTask, by = reader): Value {
  const { value } = by.perform(structuredClone(task));
  const result = structuredClone(value) as ThreadResult<Value>;
  if (result.refusal !== undefined) throw refusalFrom(result.refusal);
  return result.value;
}

function endsOf(plans: readonly OutputPlan[]): SequenceEnd[] {
  return plans.map(({ count, endReason }, index) => ({
    span: { index, from: 0, count },
    reason: endReason,
  }));
}

/** The answer of threads; each task may go to another thread. */
function inThreads(source: ThreadSource, form: AnswerForm = 'answer'): string {
  const { reading } = performed<Taken>({ kind: 'take', source });
  const { request } = reading;
  const count = request.prompts.length * request.choices;
  const places = Array.from({ length: count }, (_, index) => {
    return { index, room: Infinity, isPrefillLeg: false, given: undefined };
  });
  const planner = new RequestReader(DATA, parts);
  const plans = unpackPlans(performed<PackedPlans>({ kind: 'plan', source, places }, planner));
  const bytes = performed<Uint8Array>({
    kind: 'render',
    source,
    form,
    head: HEAD,
    plans: packPlans(plans),
    ends: endsOf(plans),
    facts: FACTS,
  });
  return Buffer.from(bytes).toString();
}

function onTheLoop(
  { reader: name, body, extra }: ThreadSource,
  form: AnswerForm = 'answer',
): string {
  const endpointReader = endpointReaders(config).get(name)!;
  const limits = fixedLimits(config, parts, false);
  const checked = endpointReader.check(endpointReader.read(body, limits, extra), limits);
  const { request } = checked;
  const plans = Array.from({ length: request.prompts.length * request.choices }, (_, index) =>
    planSequence(request, { index }, planContext(config, parts)),
  );
  const options = { dialect: config.dialect, tokenizer: parts.tokenizer };
  const write = (http: HttpAnswer) => checked[form]!({ http, head: HEAD, plans, options });
  return writtenBody(write, endsOf(plans), FACTS);
}

describe('a thread that reads, plans and answers', () => {
  it.each([
    ['chat', { messages: [USER] }],
    ['chat', { messages: [USER], tools: [TOOL], tool_choice: 'required' }],
    ['chat', { messages: [USER], response_format: FORMAT, n: 3 }],
    ['chat', { messages: [USER], stop: ['e'], logprobs: true, top_logprobs: 3, seed: 5 }],
    ['chat', { messages: [USER], logit_bias: { 785: 100, 576: -100 }, bad_words: ['the'] }],
    ['chat-batch', { messages: [[USER], [USER]] }],
    ['completions', { prompt: ['one', 'two'], n: 2, prompt_logprobs: 2, echo: true, logprobs: 1 }],
    ['completions', { prompt: [[11, 12], [13]], return_token_ids: true }],
    ['message', { model: config.model, messages: [USER], max_tokens: 20 }],
    ['tokens', { token_ids: [1, 2, 3], sampling_params: { max_tokens: 4 } }],
    ['sglang', { text: 'one', sampling_params: { max_new_tokens: 4 } }],
    ['embeddings', { input: ['one', 'two'] }],
    ['classify', { input: 'one' }],
    ['rerank', { query: 'one', documents: ['two', 'three'] }],
  ])('gives the answer that the event loop gives: %s %j', (endpointReader, body) => {
    const source = sourceOf(endpointReader, body);
    expect(inThreads(source)).toBe(onTheLoop(source));
  });

  it.each([true, false])('writes the document of a chat with store, with stream %s', (stream) => {
    const body = { messages: [USER], store: true, stream, n: 2, metadata: { a: 'é' } };
    const of = { ticket: stream ? 2 : 3, extra: 1_700_000_000_000_000 };
    const source = { ...sourceOf('stored-chat', body), ...of };
    const document = inThreads(source, 'document');
    expect(document).toBe(onTheLoop(source, 'document'));
    expect(chatHead(document)).toMatchObject({ id: HEAD.id, metadata: { a: 'é' } });
  });

  it('reads the bytes of a body as it reads its value', () => {
    const body = { messages: [{ role: 'user', content: 'Ünïcödé 🏃' }] };
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    expect(inThreads(sourceOf('chat', bytes))).toBe(inThreads(sourceOf('chat', body)));
  });

  it('shows the fields of a body that are short', () => {
    const kv_transfer_params = { do_remote_decode: true };
    const body = { messages: Array(100).fill(USER), max_tokens: 7, kv_transfer_params };
    const { fields } = performed<Taken>({ kind: 'take', source: sourceOf('chat', body) });
    expect(fields).toEqual({ max_tokens: 7, kv_transfer_params });
  });

  it('does not send back what only plans need', () => {
    const body = { messages: [USER], logit_bias: { 785: 100 }, tools: [TOOL] };
    const { reading } = performed<Taken>({ kind: 'take', source: sourceOf('chat', body) });
    expect(reading.request.steering).toBeUndefined();
    expect(reading.request.tools?.tools).toMatchObject([{ name: 'run', arguments: {} }]);
  });

  it('passes a refusal on in the words of both dialects', () => {
    const source = sourceOf('chat', { messages: [USER], top_logprobs: -2, logprobs: true });
    const endpointReader = endpointReaders(config).get('chat')!;
    const limits = fixedLimits(config, parts, false);
    const direct = caught(() => endpointReader.read(source.body, limits));
    const passed = caught(() => performed({ kind: 'take', source }));
    expect(passed).toBeInstanceOf(RequestError);
    expect(passed).toEqual(direct);
    expect((passed as RequestError).vllmParam).toBe((direct as RequestError).vllmParam);
  });

  it('refuses patterns that together take too much work, the same way on every machine', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [
        `p${i}`,
        { type: 'string', pattern: `^a{${i}}b*c{8000}$` },
      ]),
    );
    const schema = { type: 'object', properties, required: Object.keys(properties) };
    const response_format = { type: 'json_schema', json_schema: { name: 'large', schema } };
    const source = sourceOf('chat', { messages: [USER], response_format });
    const refused = caught(() => performed({ kind: 'take', source }));
    expect(refused).toMatchObject({ code: 'request_too_complex' });
  });

  it('refuses to write more log-probabilities than fit into its memory', () => {
    const prompt = Array.from({ length: 40_000 }, () => 1_000);
    const source = sourceOf('completions', { prompt, prompt_logprobs: 20, max_tokens: 1 });
    const refused = caught(() => inThreads(source));
    expect(refused).toMatchObject({ code: 'request_too_complex' });
  });

  it('answers a request that needs no engine', () => {
    const source = sourceOf('', { prompt: 'Hello.' });
    const bytes = performed<Uint8Array>({
      kind: 'answer',
      source,
      name: 'tokenize',
      extra: undefined,
    });
    expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({ count: 2 });
  });
});

function caught(run: () => unknown): BatonError {
  try {
    run();
  } catch (error) {
    if (error instanceof BatonError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

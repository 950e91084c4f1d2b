import { BatonError } from '@baton/contract';
import { defaultTokenizer } from '@baton/text';
import { type Dialect } from '../refusal/dialect';
import { renderError } from '../refusal/render-error';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { planSequence } from '../plan-sequence';
import { parseChat } from '../request/parse-chat';
import { renderFinal } from './render-final';
import { StreamedAnswer } from './streamed-answer';

const tokenizer = defaultTokenizer();
const head = { id: 'chatcmpl-1', created: 1, model: 'm', systemFingerprint: 'fp' };

/** OpenAI's client with this library as its server. */
function clientOf(dialect: Dialect, failure?: BatonError): OpenAI {
  const options = { dialect, tokenizer };
  const limits = { ...options, models: ['m'], maxModelLen: 8192 };
  const answer = (body: unknown): Response => {
    const request = parseChat(body, limits);
    const plans = Array.from({ length: request.choices }, (_, index) =>
      planSequence(request, { index }, { tokenizer, seed: 1, lengthModel: () => 40 }),
    );
    if (!request.stream) {
      const results = plans.map((plan) => ({ plan, reason: plan.endReason, count: plan.count }));
      return new Response(renderFinal({ request, head, options }, results), {
        headers: { 'content-type': 'application/json' },
      });
    }
    const stream = new StreamedAnswer(request, head, plans, options);
    const frames = plans.map((plan, i) =>
      stream.sequences[i]!.finishSequence(plan.endReason, 0, plan.count),
    );
    const end = failure === undefined ? stream.finishStream() : stream.fail(failure);
    return new Response(stream.open() + frames.join('') + end, {
      headers: { 'content-type': 'text/event-stream' },
    });
  };
  return new OpenAI({
    apiKey: 'none',
    baseURL: 'http://localhost/v1',
    maxRetries: 0,
    fetch: (_url, init) => {
      try {
        return Promise.resolve(answer(JSON.parse(String(init?.body)) as unknown));
      } catch (error) {
        const { status, headers, body } = renderError(error as BatonError, dialect);
        return Promise.resolve(new Response(body, { status, headers }));
      }
    },
  });
}

const ask = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };

describe.each(['openai', 'vllm'] as const)("OpenAI's client with the %s dialect", (dialect) => {
  it('accumulates a stream to the whole answer', async () => {
    const client = clientOf(dialect);
    const body = { ...ask, n: 2, logprobs: true, top_logprobs: 2, stop: [' b'] };
    const whole = await client.chat.completions.create(body);
    const streamed = await client.chat.completions.stream(body).finalChatCompletion();
    const choicesOf = ({ choices }: typeof whole) =>
      choices.map(({ message, finish_reason, logprobs }) => ({
        content: message.content,
        finish_reason,
        tokens: logprobs?.content,
      }));
    expect(choicesOf(streamed)).toEqual(choicesOf(whole));
    expect(whole.choices).toHaveLength(2);
  });

  it('raises its own error classes', async () => {
    const client = clientOf(dialect);
    await expect(client.chat.completions.create({ ...ask, model: 'x' })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    await expect(client.chat.completions.create({ ...ask, n: 0 })).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/\bn\b.*(at least|>=) 1/) as string,
    });
  });

  it('raises failures in mid-stream', async () => {
    const client = clientOf(dialect, new BatonError('engine_error'));
    const stream = await client.chat.completions.create({ ...ask, stream: true });
    const read = async () => {
      for await (const chunk of stream) expect(chunk.object).toBe('chat.completion.chunk');
    };
    await expect(read()).rejects.toThrow('Internal server error');
  });
});

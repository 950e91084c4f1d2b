/* global AbortSignal, TextDecoderStream */
// Streamed chats, with a check that each is whole and equal to the answer of an undisturbed
// cluster.
import { setTimeout as delay } from 'node:timers/promises';
import { expectThat, until } from './shell.mjs';

export const MODEL = 'llama-3.1-8b';
const REQUEST_MS = 300_000;
const ATTEMPTS = 8;

/**
 * @returns text, tokens and finish reason; throws unless the stream ends regularly. A refusal that
 * allows a retry (429, 503) is retried a limited number of times.
 */
export async function chat(origin, { prompt, tokens, key, onToken = () => undefined }) {
  const response = await asked(origin, { prompt, tokens, key });
  const answer = { text: '', tokens: undefined, reason: undefined, isDone: false };
  for await (const data of eventsOf(response)) {
    if (data === '[DONE]') {
      answer.isDone = true;
      continue;
    }
    const { choices = [], usage, error } = JSON.parse(data);
    if (error) throw new Error(`in the stream: ${error.message ?? JSON.stringify(error)}`);
    const [choice] = choices;
    if (choice?.delta?.content) onToken();
    answer.text += choice?.delta?.content ?? '';
    answer.reason = choice?.finish_reason ?? answer.reason;
    answer.tokens = usage?.completion_tokens ?? answer.tokens;
  }
  const isWhole = answer.isDone && answer.reason === 'length' && answer.tokens === tokens;
  expectThat(isWhole, `not whole: ${JSON.stringify({ ...answer, text: answer.text.length })}`);
  return answer.text;
}

async function asked(origin, { prompt, tokens, key }) {
  const body = JSON.stringify({
    model: MODEL,
    messages: [{ role: 'user', content: prompt }],
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: tokens,
    ignore_eos: true,
  });
  const headers = {
    'content-type': 'application/json',
    ...(key && { authorization: `Bearer ${key}` }),
  };
  for (let attempt = 1; ; attempt += 1) {
    const signal = AbortSignal.timeout(REQUEST_MS);
    const url = `${origin}/v1/chat/completions`;
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    if (response.ok) return response;
    const said = await response.text();
    const seconds = response.headers.get('retry-after');
    if (seconds === null || attempt >= ATTEMPTS)
      throw new Error(`HTTP ${response.status}: ${said}`);
    await delay(1e3 * Number(seconds));
  }
}

async function* eventsOf(response) {
  let rest = '';
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + part).split('\n\n');
    rest = events.pop();
    for (const event of events) if (event.startsWith('data: ')) yield event.slice(6);
  }
}

/** Streams under way. All of them must end whole. */
export class Flood {
  #begun = 0;
  #answers;

  /** @param asked  prompts, and the number of tokens for each of them */
  constructor(origin, asked) {
    this.origin = origin;
    this.asked = asked;
    this.#answers = asked.map((each) => {
      let isFirst = true;
      const onToken = () => {
        if (isFirst) this.#begun += 1;
        isFirst = false;
      };
      return chat(origin, { ...each, onToken }).then(
        (text) => ({ text }),
        (error) => ({ error: error.message }),
      );
    });
  }

  /** Until half of the streams have tokens. */
  underWay() {
    const isUnderWay = () => this.#begun * 2 >= this.asked.length;
    return until('half of the streams have begun', isUnderWay, { everyMs: 5 });
  }

  /** @returns the number of streams that were whole and equal. Throws when one was not. */
  async ended() {
    const answers = await Promise.all(this.#answers);
    const failures = answers.flatMap(({ error }) => error ?? []);
    expectThat(failures.length === 0, `${failures.length} streams lost: ${failures.join('; ')}`);
    const again = await Promise.all(this.asked.map((each) => chat(this.origin, each)));
    const unequal = again.filter((text, i) => text !== answers[i].text).length;
    expectThat(unequal === 0, `${unequal} streams differ from those of an undisturbed cluster`);
    return answers.length;
  }
}

/** Prompts without a common prefix. */
export function prompts(count, { name, words, tokens }) {
  return Array.from({ length: count }, (_none, i) => ({
    prompt: Array.from({ length: words }, (_word, k) => `${name}${i} ${k}`).join(' '),
    tokens,
  }));
}

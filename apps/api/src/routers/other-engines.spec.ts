import type { Stage } from '@baton/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, type LegAnswer, OutsideRouter } from '../../test/outside-router';

const PROMPT = 'each orchestrator has words of its own '.repeat(10);
const ASKED = { prompt: PROMPT, max_tokens: 15, ignore_eos: true };
/** As many bits as the orchestrator's numbers have. */
const ID = '7259873453121536042';

let router: OutsideRouter;
let plain: string | undefined;

beforeAll(async () => {
  // A busy machine can take longer than the usual lease from one leg to the other.
  router = await OutsideRouter.start({ kvLeaseDuration: 600 });
  plain = await router.plainText(ASKED);
});

afterAll(() => router.stop());

async function fetchesOf(legs: () => Promise<unknown>): Promise<number> {
  const before = router.counted('kv_fetched');
  await legs();
  await router.untilNothingIsHeld();
  return router.counted('kv_fetched') - before;
}

/** Sends a body as text, because JavaScript numbers cannot hold the long ids. */
async function sendText(stage: Stage, path: string, body: string): Promise<LegAnswer> {
  const answer = await fetch(router.url(stage, path), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const text = (await answer.text()).replaceAll(/(_request_id":)(\d+)/g, '$1"$2"');
  return { status: answer.status, body: JSON.parse(text) as LegAnswer['body'] };
}

interface ContextChoice {
  readonly disaggregated_params: Json;
  readonly finish_reason: string;
}

describe('TensorRT-LLM’s orchestrator', () => {
  const contextBody = (asked: Json, style = 0): string =>
    JSON.stringify({
      ...asked,
      stream: false,
      stream_options: null,
      disaggregated_params: {
        request_type: 'context_only',
        disagg_request_id: 'ID',
        schedule_style: style,
      },
    }).replaceAll('"ID"', ID);

  /**
   * The fields that it reads from the context server's answer and sends to the generation server.
   */
  function generationParams({ body }: LegAnswer): Json {
    const [choice] = (body as unknown as { choices: ContextChoice[] }).choices;
    expect(choice?.finish_reason).toBe('length');
    expect(choice?.disaggregated_params).toMatchObject({
      request_type: 'context_only',
      ctx_request_id: ID,
      disagg_request_id: ID,
    });
    expect(choice?.disaggregated_params['first_gen_tokens']).toHaveLength(1);
    const told = { request_type: 'generation_only', schedule_style: 0, ctx_usage: body['usage'] };
    return { ...choice?.disaggregated_params, ...told };
  }

  it('hands over a completion, context first, with the tokens that the context server read', async () => {
    const fetches = await fetchesOf(async () => {
      const context = await sendText('prefill', '/v1/completions', contextBody(ASKED));
      const { prompt_token_ids: prompt } = context.body as { prompt_token_ids?: number[][] };
      expect(prompt?.[0]?.length).toBeGreaterThan(10);
      const body = { ...ASKED, prompt, disaggregated_params: generationParams(context) };
      const decode = await router.leg('decode', body);
      expect([decode.status, decode.body.choices?.[0]?.text]).toEqual([200, plain]);
    });
    expect(fetches).toBe(1);
  });

  it('hands over a chat, streamed', async () => {
    const path = '/v1/chat/completions';
    const asked = { messages: [{ role: 'user', content: PROMPT }], max_tokens: 5 };
    const fetches = await fetchesOf(async () => {
      const context = await sendText('prefill', path, contextBody(asked));
      const { prompt_token_ids } = context.body as { prompt_token_ids?: number[] };
      expect(prompt_token_ids?.[0]).toEqual(expect.any(Number));
      const disaggregated_params = generationParams(context);
      const body = { ...asked, stream: true, prompt_token_ids, disaggregated_params };
      const decode = await router.send('decode', body, { path });
      expect(await decode.text()).toContain('[DONE]');
    });
    expect(fetches).toBe(1);
  });

  it('hands over when generation is sent first, by the number of the request', async () => {
    const style = { request_type: 'generation_only', schedule_style: 1 };
    const numbers = { ctx_request_id: 'ID', disagg_request_id: 'ID' };
    const generation = JSON.stringify({ ...ASKED, disaggregated_params: { ...style, ...numbers } });
    const other = { ...ASKED, prompt: PROMPT.toUpperCase() };
    // Other numbers than that of the tests above, which the routers still know.
    const numbered = (body: string, last: number): string =>
      body.replaceAll(/"ID"|\d{19}/g, ID.slice(0, -1) + String(last));
    const fetches = await fetchesOf(async () => {
      const path = '/v1/completions';
      const decode = sendText('decode', path, numbered(generation, 8));
      const unlike = numbered(generation.replace(PROMPT, other.prompt), 9);
      const beside = sendText('decode', path, unlike);
      await sendText('prefill', path, numbered(contextBody(other, 1), 9));
      await sendText('prefill', path, numbered(contextBody(ASKED, 1), 8));
      expect((await decode).body.choices?.[0]?.text).toBe(plain);
      expect((await beside).body.choices?.[0]?.text).toBe(await router.plainText(other));
    });
    // Both legs of the other two are routed by the cluster itself.
    expect(fetches).toBe(3);
  });

  it('is served without a transfer when one server does both, or when no server has the state', async () => {
    for (const disaggregated_params of [
      { request_type: 'context_and_generation' },
      { request_type: 'generation_only', first_gen_tokens: [7], encoded_opaque_state: 'AAAA' },
    ]) {
      const before = router.counted('kv_fetched');
      const answer = await router.leg('decode', { ...ASKED, disaggregated_params });
      expect(answer.body.choices?.[0]?.text).toBe(plain);
      expect(router.counted('kv_fetched')).toBe(before);
    }
  });

  it('finds the servers ready, and reads their server info', async () => {
    expect((await fetch(router.url('prefill', '/health'))).status).toBe(200);
    const info = await (await fetch(router.url('prefill', '/server_info'))).json();
    expect(info).toMatchObject({ disaggregated_params: {}, tokens_per_block: 16 });
  });
});

describe('SGLang’s mini_lb with the native API', () => {
  const asked = {
    text: PROMPT,
    sampling_params: { max_new_tokens: 15, ignore_eos: true, temperature: 0 },
  };
  const bootstrap = (): Json => ({
    bootstrap_host: '10.0.0.5',
    bootstrap_port: 8998,
    bootstrap_room: Math.floor(Math.random() * 2 ** 63),
  });
  const path = '/generate';

  interface Generated {
    readonly text: string;
    readonly output_ids: readonly number[];
    readonly meta_info: Json;
  }

  async function both(body: Json): Promise<Response[]> {
    return Promise.all([
      router.send('prefill', body, { path }),
      router.send('decode', body, { path }),
    ]);
  }

  it('hands over a request to /generate', async () => {
    const fetches = await fetchesOf(async () => {
      const [prefill, decode] = await both({ ...asked, ...bootstrap(), return_logprob: true });
      const first = (await prefill?.json()) as Generated;
      expect(first.meta_info).toMatchObject({ input_token_logprobs: [], completion_tokens: 1 });
      const answer = (await decode?.json()) as Generated;
      expect([answer.text, answer.output_ids.length]).toEqual([plain, 15]);
      expect(answer.meta_info).toMatchObject({
        finish_reason: { type: 'length', length: 15 },
        completion_tokens: 15,
        input_token_logprobs: [],
      });
      expect(answer.meta_info['output_token_logprobs']).toHaveLength(15);
    });
    expect(fetches).toBe(1);
  });

  it('streams all of the text in every event', async () => {
    const fetches = await fetchesOf(async () => {
      const [, decode] = await both({ ...asked, ...bootstrap(), stream: true });
      const events = (await decode?.text())?.trim().split('\n\n') ?? [];
      expect(events.at(-1)).toBe('data: [DONE]');
      const texts = events.slice(0, -1).map((event) => JSON.parse(event.slice(6)) as Generated);
      expect(texts.at(-1)?.text).toBe(plain);
      expect(texts.every(({ text }) => plain?.startsWith(text))).toBe(true);
      expect(texts[0]?.meta_info['finish_reason']).toBeNull();
    });
    expect(fetches).toBe(1);
  });

  it('answers a batch with a list, and hands its first prompt over', async () => {
    const rooms = { bootstrap_room: [1, 2], bootstrap_host: ['h', 'h'], bootstrap_port: [1, 1] };
    const fetches = await fetchesOf(async () => {
      const [, decode] = await both({ ...asked, ...rooms, text: [PROMPT, 'and another'] });
      const answers = (await decode?.json()) as Generated[];
      expect(answers.map(({ output_ids }) => output_ids.length)).toEqual([15, 15]);
      expect(answers[0]?.text).toBe(plain);
    });
    expect(fetches).toBe(1);
  });

  it('refuses a request without a prompt, and accepts token ids', async () => {
    const none = await router.leg('decode', { sampling_params: {} }, { path });
    expect([none.status, none.body.error?.message]).toEqual([
      400,
      expect.stringMatching(/text or/),
    ]);
    const ids = await router.send('decode', { input_ids: [5, 6, 7] }, { path });
    expect(((await ids.json()) as Generated).meta_info).toMatchObject({ prompt_tokens: 3 });
  });

  it('reads the server info', async () => {
    const get = (stage: Stage, at: string): Promise<Response> => fetch(router.url(stage, at));
    for (const path of ['/server_info', '/get_server_info']) {
      const info: unknown = await (await get('decode', path)).json();
      expect(info).toMatchObject({ disaggregation_mode: 'decode', internal_states: [{}] });
    }
    for (const path of ['/model_info', '/get_model_info']) {
      expect(await (await get('prefill', path)).json()).toMatchObject({ is_generation: true });
    }
    expect((await get('prefill', '/health_generate')).status).toBe(200);
    expect((await fetch(`${router.cluster.api.url}/server_info`)).status).toBe(404);
  });
});

describe('AIBrix’s gateway', () => {
  it('hands over by its SHFS contract, which adds prefill’s host to prefill’s answer', async () => {
    const hold = { do_remote_decode: true, do_remote_prefill: false };
    const nulls = { remote_engine_id: null, remote_block_ids: null };
    const places = { remote_host: null, remote_port: null };
    const kv_transfer_params = { ...hold, ...nulls, ...places };
    const fetches = await fetchesOf(async () => {
      const first = { ...ASKED, max_tokens: 1, max_completion_tokens: 1, stream: false };
      const prefill = await router.leg('prefill', { ...first, kv_transfer_params });
      const held = { ...prefill.body.kv_transfer_params, remote_host: '10.2.3.4' };
      const decode = await router.leg('decode', { ...ASKED, kv_transfer_params: held });
      expect(decode.body.choices?.[0]?.text).toBe(plain);
    });
    expect(fetches).toBe(1);
  });

  it('is served by decode alone under its NIXL contract, which does not mark the prefill leg', async () => {
    const fetches = await fetchesOf(async () => {
      const prefill = await router.leg('prefill', { ...ASKED, max_tokens: 1, stream: false });
      const body = { ...ASKED, disagg_prefill_resp: prefill.body };
      expect((await router.leg('decode', body)).body.choices?.[0]?.text).toBe(plain);
    });
    expect(fetches).toBe(0);
  });
});

describe('LMCache’s proxies', () => {
  it('read the id of the first token, and continue after it', async () => {
    const tokens = await router.leg('decode', { prompt: PROMPT }, { path: '/tokenize' });
    const prompt = tokens.body['tokens'] as number[];
    const disagg_spec = { req_id: '1', receiver_host: 'h', receiver_init_port: [8300] };
    const kv_transfer_params = { ret_first_tok: true, disagg_spec };
    const first = { ...ASKED, prompt, max_tokens: 1, stream: false, kv_transfer_params };
    const prefill = await router.leg('prefill', first);
    const { first_tok } = prefill.body.kv_transfer_params as { first_tok: number };
    const rest = { ...ASKED, prompt: [...prompt, first_tok], max_tokens: 14 };
    const decode = await router.leg('decode', rest);
    expect([decode.status, decode.body['usage']]).toMatchObject([200, { completion_tokens: 14 }]);
  });

  it('send the request twice in vLLM’s example: each engine computes', async () => {
    const fetches = await fetchesOf(async () => {
      await router.leg('prefill', { ...ASKED, max_tokens: 1 });
      expect((await router.leg('decode', ASKED)).body.choices?.[0]?.text).toBe(plain);
    });
    expect(fetches).toBe(0);
  });
});

describe('llm-d’s sidecar with its other connectors', () => {
  it('sends to decode first under shared-storage, and to prefill when too little is cached there', async () => {
    const asked = { ...ASKED, prompt: 'storage that everybody shares '.repeat(12) };
    const wanted = await router.plainText({ ...asked, cache_salt: 'own' });
    const salted = { ...asked, cache_salt: 'shared' };
    const early = await router.leg('decode', { ...salted, cache_hit_threshold: 0.8 });
    expect(early.body.choices?.[0]?.finish_reason).toBe('cache_threshold');
    await router.leg('prefill', { ...salted, stream: false, max_tokens: 1 });
    const decode = await router.leg('decode', salted);
    expect(decode.body.choices?.[0]?.text).toBe(wanted);
  });
});

import type { ServerResponse } from 'node:http';
import type { BatonConfig } from '@baton/config';
import { afterEach, describe, expect, it } from 'vitest';
import { eventsOf, readStream } from '../../../test/api-fixture';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { decodes, event, json, type Script, ScriptedServer } from '../../../test/scripted-server';
import { until } from '../../../test/until';

const BODY = { prompt: 'pass the baton to the next runner', max_tokens: 6, ignore_eos: true };
const PARAMS = { do_remote_prefill: true, remote_engine_id: 'p', remote_block_ids: [[1, 2]] };

const prefills: Script = (_seen, response) =>
  json(response, { choices: [{ text: 'x' }], kv_transfer_params: PARAMS });

describe('stages that execute on servers', () => {
  let cluster: ClusterFixture | undefined;
  const servers: ScriptedServer[] = [];

  afterEach(async () => {
    await cluster?.stop();
    cluster = undefined;
    for (const server of servers.splice(0)) await server.stop();
  });

  async function server(script: Script): Promise<ScriptedServer> {
    const started = await ScriptedServer.start(script);
    servers.push(started);
    return started;
  }

  async function split(
    prefill: Script,
    decode: Script,
    config: Partial<BatonConfig> = {},
  ): Promise<[ScriptedServer, ScriptedServer]> {
    const both = [await server(prefill), await server(decode)] as const;
    const urls = { prefillUrl: [both[0].url], decodeUrl: [both[1].url] };
    const executing = { executor: 'vllm', ...urls, ...config } as const;
    cluster = await ClusterFixture.start({ prefill: 1, decode: 1 }, executing);
    return [...both];
  }

  const post = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
    cluster!.post(body, headers);

  it('send both legs as vLLM’s proxies do, without fields of Baton', async () => {
    const [prefill, decode] = await split(prefills, decodes, { upstreamApiKey: 'k' });
    const asked = {
      ...BODY,
      stream: true,
      min_tokens: 2,
      stream_options: { include_usage: true },
      max_completion_tokens: 6,
      made_up: { field: [1] },
    };
    await (await post(asked, { 'x-request-id': 'mine' })).text();
    expect(prefill.seen).toHaveLength(1);
    expect(prefill.seen[0]).toMatchObject({ path: '/v1/completions' });
    expect(prefill.seen[0]?.body).toEqual({
      prompt: BODY.prompt,
      ignore_eos: true,
      made_up: { field: [1] },
      stream: false,
      max_tokens: 1,
      max_completion_tokens: 1,
      kv_transfer_params: {
        do_remote_decode: true,
        do_remote_prefill: false,
        remote_engine_id: null,
        remote_block_ids: null,
        remote_host: null,
        remote_port: null,
      },
    });
    expect(decode.seen[0]?.body).toEqual({ ...asked, kv_transfer_params: PARAMS });
    for (const { headers } of [...prefill.seen, ...decode.seen]) {
      expect(headers['x-request-id']).toBe('mine');
      expect(headers.authorization).toBe('Bearer k');
    }
  });

  it('pass the server’s text on, streamed and whole', async () => {
    await split(prefills, decodes);
    const streamed = await readStream(await post({ ...BODY, stream: true }));
    expect(streamed).toMatchObject({ text: 'one é', finishReason: 'length' });
    expect(streamed.events.at(-1)).toBe('[DONE]');
    const whole = (await (await post(BODY)).json()) as { id: string; choices: unknown };
    expect(whole).toEqual({
      id: 'up',
      choices: [{ index: 0, text: 'whole é', finish_reason: 'length' }],
    });
  });

  it('pass the server’s text on after a fault that delays the answer', async () => {
    const faults = JSON.stringify([{ at: 'stream', fault: 'delay', delay: 0.01 }]);
    await split(prefills, decodes, { faults });
    const whole = (await (await post(BODY)).json()) as { choices: { text: string }[] };
    const { text } = await readStream(await post({ ...BODY, stream: true }));
    expect([whole.choices[0]?.text, text]).toEqual(['whole é', 'one é']);
  });

  it('leave every number and text of the client as it was written', async () => {
    const [prefill, decode] = await split(prefills, decodes);
    const kept = '"prompt" : "\\u00e9 \\" é","temperature":1.0,"seed":18446744073709551615';
    const answer = await fetch(`${cluster!.api.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{${kept},"max_tokens":5e0 }`,
    });
    expect(answer.status).toBe(200);
    expect(prefill.seen[0]?.text).toMatch(`{${kept},"stream":false,"max_tokens":1,`);
    expect(decode.seen[0]?.text).toMatch(`{${kept},"max_tokens":5e0,"kv_transfer_params":{`);
  });

  it('take finish reasons, usage and log-probabilities from the server, and add none', async () => {
    const said = [
      { choices: [{ index: 0, text: 'a', logprobs: { token_logprobs: [-0.5] } }] },
      { choices: [{ index: 0, text: '', finish_reason: 'stop', stop_reason: 128009 }] },
      { choices: [], usage: { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 } },
    ];
    await split(prefills, (_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const events = said.map((one) => `data: ${JSON.stringify(one)}\n\n`);
      response.end(`: a comment\n\n${events.join('')}data: [DONE]\n\n`);
    });
    const { events } = await readStream(await post({ ...BODY, stream: true }));
    expect(events.slice(0, -1).map((event) => JSON.parse(event) as unknown)).toEqual(said);
  });

  it('follow no redirect', async () => {
    const elsewhere = await server(decodes);
    await split(prefills, ({ path }, response) => {
      response.writeHead(307, { location: `${elsewhere.url}${path}` }).end();
    });
    const answer = await post(BODY);
    expect(answer.status).toBe(502);
    expect(await answer.text()).toContain('The upstream server answered with 307.');
    expect(elsewhere.seen).toHaveLength(0);
  });

  it('make decode compute the prompt when prefill names no blocks', async () => {
    const [, decode] = await split((_seen, response) => json(response, { choices: [] }), decodes);
    expect((await post(BODY)).status).toBe(200);
    expect(decode.seen[0]?.body).toEqual(BODY);
  });

  it.each([400, 404, 422, 429, 500])(
    'pass a refusal of %i on in the client’s dialect',
    async (status) => {
      const error = { message: 'not so', type: 'SomeError', param: 'prompt', code: status };
      const [prefill, decode] = await split(
        (_seen, response) => json(response, { error }, status),
        decodes,
      );
      const answer = await post({ ...BODY, stream: true });
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({
        error: { message: 'not so', param: 'prompt', code: null },
      });
      expect([prefill.seen.length, decode.seen.length]).toEqual([1, 0]);
    },
  );

  it('start again, prefill included, when decode is lost before the first token', async () => {
    const [prefill, decode] = await split(prefills, (seen, response, nth) =>
      nth === 1 ? response.destroy() : decodes(seen, response, nth),
    );
    const { text } = await readStream(await post({ ...BODY, stream: true }));
    expect(text).toBe('one é');
    expect([prefill.seen.length, decode.seen.length]).toEqual([2, 2]);
    const ends = async (outcome: string): Promise<number> =>
      cluster!.metric('baton:upstream_requests_total', { engine: '1', outcome });
    await until(async () => (await ends('ok')) === 1);
    expect(await ends('cut')).toBe(1);
    const ofPrefill = { engine: '0' };
    // An engine publishes its counters once a second: those of prefill may come after decode's.
    await until(
      async () => (await cluster!.metric('baton:upstream_requests_total', ofPrefill)) === 2,
    );
    expect(await cluster!.metric('baton:upstream_retries_total')).toBe(1);
    expect(await cluster!.metric('baton:upstream_up')).toBe(2);
  });

  it(
    'start again, prefill included, when the decode worker is lost: its server may have read ' +
      'the KV',
    async () => {
      const named: Script = (_seen, response, nth) =>
        json(response, { kv_transfer_params: { ...PARAMS, remote_request_id: `r${nth}` } });
      const hangsOnce: Script = (seen, response, nth) =>
        nth === 1 ? undefined : decodes(seen, response, nth);
      const [prefill, decode] = [await server(named), await server(hangsOnce)];
      const urls = { prefillUrl: [prefill.url], decodeUrl: [decode.url, decode.url] };
      cluster = await ClusterFixture.start(
        { prefill: 1, decode: 2 },
        { executor: 'vllm', ...urls },
      );
      const answer = post({ ...BODY, stream: true });
      await until(() => decode.seen.length === 1);
      const engines = [...(cluster.workers.get('decode')?.engines ?? [])];
      await engines.find(({ hosts }) => hosts[0]!.runs.size > 0)?.stop(0);
      expect((await readStream(await answer)).text).toBe('one é');
      const names = decode.seen.map(({ body }) => body['kv_transfer_params']);
      expect(names).toMatchObject([{ remote_request_id: 'r1' }, { remote_request_id: 'r2' }]);
    },
  );

  /** The events of a stream; its server continues when its first event has been read. */
  async function afterFirst(goOn: (response: ServerResponse) => void): Promise<string[]> {
    let held: ServerResponse | undefined;
    const [, decode] = await split(prefills, (_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event('one '));
      held = response;
    });
    const events = eventsOf(await post({ ...BODY, stream: true }));
    const all = [String((await events.next()).value)];
    goOn(held!);
    for await (const one of events) all.push(one);
    expect(decode.seen).toHaveLength(1);
    return all;
  }

  it.each([
    ['a connection that is cut', undefined, 'upstream_lost', 'lost'],
    ['an error in it', 'data: {"error": {"message": "boom", "code": 500}}\n\n', null, 'boom'],
    ['an event that is no JSON', 'data: hello\n\n', 'upstream_garbled', 'invalid answer'],
    ['no end', event('x'), 'upstream_lost', 'lost'],
  ])('end a stream with %s in one clear error, and begin no second text', async (...row) => {
    const [, bytes, code, message] = row;
    const events = await afterFirst((response) =>
      bytes === undefined ? response.destroy() : response.end(bytes),
    );
    expect(events[0]).toContain('one ');
    const { error } = JSON.parse(events.at(-2) ?? '') as {
      error: { message: string; code: unknown };
    };
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
    expect(events.at(-1)).toBe('[DONE]');
  });

  it('answer 504 when a server does not respond', async () => {
    await split(() => undefined, decodes, { upstreamTimeout: 0.2 });
    expect((await post(BODY)).status).toBe(504);
  });

  it('answer a clear error after three runs when a body is garbage', async () => {
    const [prefill] = await split(
      (_seen, response) => void response.writeHead(200).end('no'),
      decodes,
    );
    const answer = await post(BODY);
    expect(answer.status).toBe(500);
    expect(await answer.text()).toContain('attempts_exhausted');
    expect(prefill.seen).toHaveLength(3);
  });

  it('close the server’s connection when the client leaves', async () => {
    const [, decode] = await split(prefills, (_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event('one '));
    });
    const leaving = new AbortController();
    const answer = await fetch(`${cluster!.api.url}/v1/completions`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...BODY, stream: true }),
    });
    await answer.body?.getReader().read();
    leaving.abort();
    await until(() => decode.closed === 1);
  });

  it('answer aggregated servers as well', async () => {
    const one = await server(decodes);
    const config = { executor: 'vllm', aggregatedUrl: [one.url] } as const;
    cluster = await ClusterFixture.start({ aggregated: 1 }, config);
    expect((await readStream(await post({ ...BODY, stream: true }))).text).toBe('one é');
    expect(one.seen[0]?.body).toEqual({ ...BODY, stream: true });
  });

  it('combine with simulated stages on either side', async () => {
    const one = await server(decodes);
    const mixed = { executorFor: ['decode=vllm'], decodeUrl: [one.url] };
    cluster = await ClusterFixture.start({ prefill: 1, decode: 1 }, mixed);
    expect((await readStream(await post({ ...BODY, stream: true }))).text).toBe('one é');
    expect(one.seen[0]?.body).toEqual({ ...BODY, stream: true });
    await until(async () =>
      (await cluster!.engines()).every(({ gauges }) => gauges.heldBlocks === 0),
    );
    await cluster.stop();
    const other = await server(prefills);
    const reversed = { executorFor: ['prefill=vllm'], prefillUrl: [other.url] };
    cluster = await ClusterFixture.start({ prefill: 1, decode: 1 }, reversed);
    const answer = (await (await post(BODY)).json()) as { usage: { completion_tokens: number } };
    expect(answer.usage.completion_tokens).toBe(6);
    expect(other.seen).toHaveLength(1);
    // No engine fetches blocks that the server may hold.
    expect(other.seen[0]?.body).toEqual({ ...BODY, stream: false, max_tokens: 1 });
  });

  it('refuse fields that are not passed on', async () => {
    await split(prefills, decodes);
    const answer = await fetch(`${cluster!.api.url}/v1/embeddings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'x' }),
    });
    expect(answer.status).toBe(501);
  });
});

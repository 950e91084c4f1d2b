import { on, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { BatonConfig } from '@baton/config';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { eventsIn, outputText, ResponsesClient } from '../../../test/responses-client';
import { json, type Script, ScriptedServer } from '../../../test/scripted-server';
import { until } from '../../../test/until';

const PARAMS = { do_remote_prefill: true, remote_engine_id: 'p', remote_block_ids: [[1, 2]] };
const USAGE = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const NAMES = { id: 'up', model: 'theirs' };

const event = (delta: object, reason: string | null = null): string =>
  `data: ${JSON.stringify({ ...NAMES, choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
const END = `data: ${JSON.stringify({ ...NAMES, choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`;

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(event({ role: 'assistant', content: '' }) + event({ content: 'one ' }));
}

const chats: Script = ({ body }, response) => {
  if (body['stream'] === true) {
    begin(response);
    response.end(event({ content: 'é' }, 'stop') + END);
    return;
  }
  const message = { role: 'assistant', content: 'one é' };
  json(response, { ...NAMES, choices: [{ message, finish_reason: 'stop' }], usage: USAGE });
};

describe('responses of upstream servers', () => {
  let cluster: ClusterFixture | undefined;
  let client: ResponsesClient;
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

  async function start(script: Script, more: Partial<BatonConfig> = {}): Promise<ScriptedServer> {
    const one = await server(script);
    const config = { executor: 'vllm', aggregatedUrl: [one.url], ...more } as const;
    cluster = await ClusterFixture.start({ aggregated: 1 }, config);
    client = new ResponsesClient(cluster.api.url);
    return one;
  }

  it('are chats there, whole and streamed', async () => {
    const upstream = await start(chats);
    const whole = await client.create({ input: 'Hi', model: 'theirs', max_output_tokens: 20 });
    expect(upstream.seen[0]).toMatchObject({
      path: '/v1/chat/completions',
      body: {
        model: 'theirs',
        messages: [{ role: 'user', content: 'Hi' }],
        max_completion_tokens: 20,
      },
    });
    expect(whole).toMatchObject({ status: 'completed', usage: { input_tokens: 5 } });
    expect(outputText(whole)).toBe('one é');
    const events = eventsIn(await client.stream({ input: 'Hi' }));
    expect(events.map(({ type }) => type)).toEqual([
      ...['response.created', 'response.in_progress', 'response.output_item.added'],
      ...['response.content_part.added', 'response.output_text.delta'],
      ...['response.output_text.delta', 'response.output_text.done'],
      ...['response.content_part.done', 'response.output_item.done', 'response.completed'],
    ]);
    expect(outputText(events.at(-1)!.response!)).toBe('one é');
    expect(upstream.seen[1]?.body['stream_options']).toEqual({ include_usage: true });
  });

  it('go through prefill and decode with the KV of their chat', async () => {
    const prefill = await server((_seen, response) =>
      json(response, { choices: [], kv_transfer_params: PARAMS }),
    );
    const decode = await server(chats);
    const urls = { prefillUrl: [prefill.url], decodeUrl: [decode.url] };
    cluster = await ClusterFixture.start({ prefill: 1, decode: 1 }, { executor: 'vllm', ...urls });
    client = new ResponsesClient(cluster.api.url);
    expect(outputText(await client.create({ input: 'Hi' }))).toBe('one é');
    const messages = [{ role: 'user', content: 'Hi' }];
    expect(prefill.seen[0]?.body).toMatchObject({ messages, max_tokens: 1, stream: false });
    expect(decode.seen[0]?.body).toEqual({ messages, kv_transfer_params: PARAMS });
  });

  it('are simulated after a prefill of their chat', async () => {
    const prefill = await server((_seen, response) => json(response, { choices: [] }));
    const urls = { executorFor: ['prefill=vllm'], prefillUrl: [prefill.url] };
    cluster = await ClusterFixture.start({ prefill: 1, decode: 1 }, urls);
    client = new ResponsesClient(cluster.api.url);
    const { usage } = await client.create({ input: 'Hi', max_output_tokens: 16, ignore_eos: true });
    expect(usage?.output_tokens).toBe(16);
    expect(prefill.seen[0]).toMatchObject({
      path: '/v1/chat/completions',
      body: { messages: [{ role: 'user', content: 'Hi' }] },
    });
  });

  it('are stored, replayed and continued', async () => {
    const upstream = await start(chats);
    const first = eventsIn(await client.stream({ input: 'Hi' }));
    const { id } = first.at(-1)!.response!;
    expect(await client.get(id)).toEqual(first.at(-1)!.response);
    expect(eventsIn(await (await client.send(`/${id}?stream=true`)).text())).toEqual(first);
    await client.create({ input: 'Go on', previous_response_id: id });
    expect(upstream.seen[1]?.body['messages']).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'one é' },
      { role: 'user', content: 'Go on' },
    ]);
  });

  it('answer turns on a WebSocket', async () => {
    await start(chats);
    const socket = new WebSocket(`${cluster!.api.url.replace('http', 'ws')}/v1/responses`);
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'response.create', input: 'Hi' }));
    const types: string[] = [];
    for await (const [data] of on(socket, 'message') as AsyncIterable<[Buffer]>) {
      const { type } = JSON.parse(data.toString()) as { type: string };
      types.push(type);
      if (type === 'response.completed') break;
    }
    expect(types.filter((type) => type === 'response.output_text.delta')).toHaveLength(2);
    socket.terminate();
  });

  it('run in the background, are followed, and are cancelled at their server', async () => {
    const upstream = await start((_seen, response) => begin(response));
    const { id } = await client.create({ input: 'x', background: true });
    await until(async () => (await client.get(id)).status === 'in_progress');
    const followed = client.send(`/${id}?stream=true`);
    await until(() => upstream.seen.length === 1);
    expect((await client.post({}, `/${id}/cancel`)).status).toBe(200);
    const last = eventsIn(await (await followed).text()).at(-1);
    expect(last).toMatchObject({ type: 'response.incomplete', response: { status: 'cancelled' } });
    await until(() => upstream.closed === 1);
    expect(await client.get(id)).toMatchObject({ id, status: 'cancelled' });
  });

  it('have the status and the words of a refusal, at the client’s name of the field', async () => {
    const error = { message: 'not so', type: 'BadRequestError', param: 'messages', code: 400 };
    await start((_seen, response) => json(response, { error }, 400));
    for (const stream of [false, true]) {
      const answer = await client.post({ input: 'Hi', stream });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { message: 'not so', param: 'input' } });
    }
    const { id } = await client.create({ input: 'x', background: true });
    await until(async () => (await client.get(id)).status === 'failed');
    expect(await client.get(id)).toMatchObject({ error: { message: 'not so' } });
  });

  it('fail in their stream when the server is lost after the first token', async () => {
    await start((_seen, response) => {
      begin(response);
      setImmediate(() => response.destroy());
    });
    const events = eventsIn(await client.stream({ input: 'Hi' }));
    expect(events.at(-2)).toMatchObject({ type: 'error', code: 'server_error' });
    expect(events.at(-1)).toMatchObject({ type: 'response.failed' });
  });

  it.each(['/input_tokens', '/compact'])(
    'have no %s, which only a simulation knows',
    async (path) => {
      const upstream = await start(chats);
      const answer = await client.post({ input: 'Hi', model: 'm' }, path);
      expect(answer.status).toBe(501);
      expect(await answer.text()).toContain('not_executed');
      expect(upstream.seen).toHaveLength(0);
    },
  );
});

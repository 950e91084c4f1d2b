import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { ApiFixture, type FixtureOptions } from '../../../../test/api-fixture';
import { exchange } from '../../../../test/raw-http';
import {
  eventsIn,
  isIdle,
  type ResponseEvent,
  ResponsesClient,
  outputText,
} from '../../../../test/responses-client';
import { until } from '../../../../test/until';

interface Told extends ResponseEvent {
  readonly status?: number;
  readonly error?: { readonly code: string | null; readonly param: string | null };
}

/** A connection whose messages are read one after the other. */
class Talk {
  readonly heard: Told[] = [];
  private readonly ears: (() => void)[] = [];

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => {
      this.heard.push(JSON.parse(data.toString()) as Told);
      this.ears.shift()?.();
    });
  }

  static async open(url: string): Promise<Talk> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`);
    const talk = new Talk(socket);
    await once(socket, 'open');
    return talk;
  }

  say(body: object | string): void {
    const text =
      typeof body === 'string' ? body : JSON.stringify({ type: 'response.create', ...body });
    this.socket.send(text);
  }

  async next(): Promise<Told> {
    while (this.heard.length === 0) await new Promise<void>((done) => this.ears.push(done));
    return this.heard.shift()!;
  }

  /** Events up to the last of a turn. */
  async turn(): Promise<Told[]> {
    const events: Told[] = [];
    do events.push(await this.next());
    while (!/^(error|response\.(completed|incomplete|failed))$/.test(events.at(-1)!.type));
    return events;
  }

  async ask(body: object | string): Promise<Told[]> {
    this.say(body);
    return this.turn();
  }
}

/** Status of the HTTP answer that a client gets in place of a WebSocket. */
async function plainStatus(url: string): Promise<number> {
  const socket = new WebSocket(url);
  const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  answer.resume();
  socket.once('error', () => undefined);
  socket.terminate();
  return answer.statusCode ?? 0;
}

describe('a WebSocket at /v1/responses', () => {
  let fixture: ApiFixture;
  const talks: Talk[] = [];
  const start = async (options: FixtureOptions = {}): Promise<void> => {
    fixture = await ApiFixture.start({ engines: [{ isEager: true }], ...options });
  };
  const open = async (): Promise<Talk> => {
    const talk = await Talk.open(fixture.api.url);
    talks.push(talk);
    return talk;
  };
  beforeEach(() => void talks.splice(0));
  afterEach(async () => {
    for (const { socket } of talks) socket.terminate();
    await fixture.stop();
  });

  it('sends the events of a stream, each as one message', async () => {
    await start();
    const body = { input: 'Why a baton?', max_output_tokens: 30 };
    const talk = await open();
    const told = await talk.ask(body);
    const streamed = eventsIn(await new ResponsesClient(fixture.api.url).stream(body));
    const shape = ({ type, sequence_number, delta }: Told): unknown[] => [
      ...[type, sequence_number, delta],
    ];
    expect(told.map(shape)).toEqual(streamed.map(shape));
    const last = told.at(-1)!.response!;
    const stored = await new ResponsesClient(fixture.api.url).get(last.id);
    expect(stored).toEqual(last);
  });

  it('runs turns one after the other, each continuing the one before', async () => {
    await start();
    const talk = await open();
    const first = (await talk.ask({ input: 'One?', store: false, max_output_tokens: 20 })).at(-1)!;
    const id = first.response!.id;
    talk.say({ input: 'Two?', previous_response_id: id, store: false, max_output_tokens: 20 });
    talk.say({ input: 'Three?', max_output_tokens: 20 });
    const second = (await talk.turn()).at(-1)!.response!;
    const third = await talk.turn();
    expect(third[0]?.type).toBe('response.created');
    const items = [{ role: 'user', content: 'One?' }, ...first.response!.output];
    const whole = await new ResponsesClient(fixture.api.url).create({
      input: [...items, { role: 'user', content: 'Two?' }],
      max_output_tokens: 20,
    });
    expect(outputText(second)).toBe(outputText(whole));
  });

  it('does not continue an unstored response of another connection', async () => {
    await start();
    const id = (await (await open()).ask({ input: 'x', store: false, max_output_tokens: 16 })).at(
      -1,
    )!.response!.id;
    const told = await (await open()).ask({ input: 'y', previous_response_id: id });
    expect(told).toEqual([
      {
        type: 'error',
        status: 404,
        error: {
          message: `Previous response with id '${id}' not found.`,
          type: 'invalid_request_error',
          param: 'previous_response_id',
          code: 'previous_response_not_found',
        },
      },
    ]);
  });

  it('drops the response that a failed turn continued', async () => {
    await start();
    const talk = await open();
    const told = await talk.ask({ input: 'x', store: false, max_output_tokens: 16 });
    const previous_response_id = told.at(-1)!.response!.id;
    const output = { type: 'function_call_output', call_id: 'call_none', output: 'x' };
    const failed = await talk.ask({ input: [output], previous_response_id });
    expect(failed).toMatchObject([{ type: 'error', status: 400, error: { param: 'input' } }]);
    const again = await talk.ask({ input: 'y', previous_response_id });
    expect(again[0]?.error?.code).toBe('previous_response_not_found');
  });

  it.each([
    ['{', null],
    ['[]', null],
    ['{"type":"response.cancel"}', 'type'],
    ['{"type":"response.create","input":5}', 'input'],
    ['{"type":"response.create","input":"x","background":true}', 'background'],
    ['{"type":"response.create","input":"x","generate":false}', 'generate'],
  ])('answers %s with an error, and goes on', async (text, param) => {
    await start();
    const talk = await open();
    expect(await talk.ask(text)).toMatchObject([{ type: 'error', status: 400, error: { param } }]);
    const told = await talk.ask({ input: 'x', max_output_tokens: 16 });
    expect(told.at(-1)?.type).toMatch(/completed|incomplete/);
  });

  it('ends the running turn when the client leaves', async () => {
    await start({ engines: [{}] });
    const talk = await open();
    talk.say({ input: 'x' });
    const run = await fixture.engine.next();
    run.token(0);
    await talk.next();
    talk.socket.terminate();
    await until(() => fixture.engine.abortedIds.includes(run.job.requestId));
    await until(() => isIdle(fixture));
  });

  it('starts nothing for a client that has left while its turn waited', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-rules-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const rulesPath = join(folder, 'rules.yaml');
    writeFileSync(rulesPath, 'default: {delay: 300ms, echo: true}');
    await start({ config: { textModel: 'rules', rulesPath } });
    const [left, stayed] = [await open(), await open()];
    left.say({ input: 'left' });
    left.socket.close();
    await once(left.socket, 'close');
    // A later turn with the same delay ends after the first would have started.
    const told = await stayed.ask({ input: 'stayed' });
    expect(told.at(-1)?.type).toBe('response.completed');
    expect(fixture.engine.runs).toHaveLength(1);
    expect(await isIdle(fixture)).toBe(true);
  });

  it('reports a failed turn', async () => {
    await start({ engines: [{}] });
    const talk = await open();
    talk.say({ input: 'x' });
    const run = await fixture.engine.next();
    run.token(0, 2);
    run.endSequence({ reason: 'error', first: 2, count: 0 });
    await run.finishJob();
    const types: string[] = [];
    while (types.at(-1) !== 'response.failed') types.push((await talk.next()).type);
    expect(types.at(-2)).toBe('error');
  });

  it('bounds messages, turns that wait, and connections', async () => {
    await start({ engines: [{}], config: { maxRequestBodyMb: 0.01, maxWebsockets: 2 } });
    const talk = await open();
    for (let i = 0; i < 18; i += 1) talk.say({ input: 'x' });
    expect(await talk.next()).toMatchObject({ type: 'error', status: 429 });
    const other = await open();
    expect(await plainStatus(`${fixture.api.url.replace('http', 'ws')}/v1/responses`)).toBe(429);
    other.say('x'.repeat(20_000));
    const [code] = (await once(other.socket, 'close')) as [number];
    expect(code).toBe(1009);
  });

  it('serves requests for another upgrade, or at another path, as plain requests', async () => {
    await start();
    const body = JSON.stringify({ prompt: 'x', max_tokens: 1 });
    const head = [
      'POST /v1/completions HTTP/1.1',
      'host: x',
      'connection: close, Upgrade, HTTP2-Settings',
      'upgrade: h2c',
      'http2-settings: AAMAAABkAAQAAP__',
      'content-type: application/json',
      `content-length: ${body.length}`,
    ];
    const plain = await exchange(fixture.port, `${head.join('\r\n')}\r\n\r\n${body}`);
    expect(plain).toMatch(/^HTTP\/1.1 200 OK/);
    expect(plain).toContain('"text_completion"');
    expect(await plainStatus(`${fixture.api.url.replace('http', 'ws')}/v1/models`)).toBe(200);
  });

  it('requires a key where keys are set', async () => {
    await start({ config: { apiKey: ['secret'] } });
    const url = `${fixture.api.url.replace('http', 'ws')}/v1/responses`;
    expect(await plainStatus(url)).toBe(401);
    const headers = { authorization: 'Bearer secret' };
    const withKey = new WebSocket(url, { headers });
    await once(withKey, 'open');
    withKey.terminate();
  });

  it('works with the official client', async () => {
    await start();
    const client = new OpenAI({ apiKey: 'none', baseURL: `${fixture.api.url}/v1` });
    const connection = new ResponsesWS(client);
    const done = new Promise<string>((resolve, reject) => {
      let text = '';
      connection.on('error', reject);
      connection.on('event', (event) => {
        if (event.type === 'response.output_text.delta') text += event.delta;
        if (event.type === 'response.completed' || event.type === 'response.incomplete')
          resolve(text);
      });
    });
    const input = [{ role: 'user' as const, content: 'Why?' }];
    connection.send({
      type: 'response.create',
      model: 'llama-3.1-8b',
      input,
      max_output_tokens: 20,
    });
    expect(await done).toMatch(/^[A-Z]/);
    connection.close();
  });
});

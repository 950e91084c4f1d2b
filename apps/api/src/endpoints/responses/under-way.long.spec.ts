import { defaultConfig } from '@baton/config';
import { createLogger } from '@baton/telemetry';
import { attachInProcess } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import { eventsIn, isIdle, ResponsesClient, outputText } from '../../../test/responses-client';
import { until } from '../../../test/until';
import { ApiServer } from '../../api-server';

describe('a response that is under way', () => {
  let fixture: ApiFixture;
  let other: ApiServer;
  let client: ResponsesClient;
  let elsewhere: ResponsesClient;
  beforeEach(async () => {
    fixture = await ApiFixture.start({ config: { responsesMaxEntries: 3 } });
    const config = defaultConfig({ topology: '1A', port: 0, logLevel: 'silent' });
    other = await ApiServer.start({
      config,
      transport: attachInProcess(fixture.hub),
      log: createLogger({ name: 'api', level: 'silent' }),
    });
    client = new ResponsesClient(fixture.api.url);
    elsewhere = new ResponsesClient(other.url);
  });
  afterEach(async () => {
    await other.stop();
    await fixture.stop();
  });

  it('is cancelled from any process, and stays so', async () => {
    const { id } = await client.create({ input: 'x', background: true });
    const run = await fixture.engine.next();
    run.token(0, 3);
    await until(async () => (await elsewhere.get(id)).status === 'in_progress');
    const followed = await elsewhere.send(`/${id}?stream=true`);
    const reader = followed.body!.getReader();
    let text = Buffer.from((await reader.read()).value!).toString();
    const answer = await elsewhere.post({}, `/${id}/cancel`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ id, status: 'cancelled' });
    await until(() => fixture.engine.abortedIds.includes(run.job.requestId));
    await until(() => isIdle(fixture));
    expect((await client.post({}, `/${id}/cancel`)).status).toBe(200);
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += Buffer.from(part.value).toString();
    }
    const events = eventsIn(text);
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
    const last = events.at(-1);
    expect(last).toMatchObject({ type: 'response.incomplete', response: { status: 'cancelled' } });
    expect(outputText(last!.response!)).not.toBe('');
    expect(await client.get(id)).toEqual(last!.response);
  });

  it('is followed live from any process, starting at any event', async () => {
    const { id } = await client.create({ input: 'x', background: true, max_output_tokens: 40 });
    const run = await fixture.engine.next();
    run.token(0, 3);
    const whole = await elsewhere.send(`/${id}?stream=true`);
    const reader = whole.body!.getReader();
    const begun = Buffer.from((await reader.read()).value!).toString();
    expect(begun).toContain('event: response.queued\n');
    const late = elsewhere.send(`/${id}?stream=true&starting_after=4`);
    run.token(3, 2);
    await run.play();
    let text = begun;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += Buffer.from(part.value).toString();
    }
    const events = eventsIn(text);
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual([
      ...['response.created', 'response.queued', 'response.in_progress'],
    ]);
    expect(await (await late).text()).toBe(text.split('\n\n').slice(5).join('\n\n'));
    expect(await (await client.send(`/${id}?stream=true`)).text()).toBe(text);
    expect(events.at(-1)?.response).toEqual(await elsewhere.get(id));
  });

  it('is heard whole by all its listeners where its end is long', async () => {
    const answer = await client.post({
      input: 'x',
      background: true,
      stream: true,
      max_output_tokens: 700,
      ignore_eos: true,
      top_logprobs: 20,
      include: ['message.output_text.logprobs'],
    });
    const run = await fixture.engine.next();
    run.token(0, 3);
    const reader = answer.body!.getReader();
    let text = Buffer.from((await reader.read()).value!).toString();
    const [, id = ''] = /"id":"(resp_[^"]+)"/.exec(text) ?? [];
    const followed = elsewhere.send(`/${id}?stream=true`);
    await run.play();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += Buffer.from(part.value).toString();
    }
    expect(text.length).toBeGreaterThan(5 * 1024 * 1024);
    expect(eventsIn(text).at(-1)?.response).toEqual(await client.get(id));
    const end = text.slice(text.indexOf('event: response.output_text.done'));
    expect((await (await followed).text()).endsWith(end)).toBe(true);
    expect((await (await elsewhere.send(`/${id}?stream=true`)).text()).endsWith(end)).toBe(true);
  });

  it('has failed when its end is too large to store', async () => {
    // Under 8 MiB with the beginning of the response, and over it with the text of 2,000 tokens.
    const image = `data:image/png;base64,${'A'.repeat(8 * 1024 * 1024 - 8_000)}`;
    const content = [{ type: 'input_image', image_url: image }];
    const asked = { background: true, max_output_tokens: 2_000, ignore_eos: true };
    const { id } = await client.create({ input: [{ role: 'user', content }], ...asked });
    await (await fixture.engine.next()).play();
    await until(async () => (await elsewhere.get(id)).status === 'failed');
    const { error } = await elsewhere.get(id);
    expect(error).toMatchObject({ code: 'server_error' });
    expect(JSON.stringify(error)).toContain('larger than what can be stored');
  });

  it('is not stored when it was deleted meanwhile', async () => {
    const { id } = await client.create({ input: 'x', background: true });
    const run = await fixture.engine.next();
    expect((await elsewhere.send(`/${id}`, { method: 'DELETE' })).status).toBe(200);
    await until(() => fixture.engine.abortedIds.includes(run.job.requestId));
    await until(() => isIdle(fixture));
    expect((await client.send(`/${id}`)).status).toBe(404);
  });

  it('continues in the background when its listener has left', async () => {
    const leaving = new AbortController();
    const body = JSON.stringify({
      input: 'x',
      background: true,
      stream: true,
      max_output_tokens: 40,
    });
    const { signal } = leaving;
    const answer = await client.send('', { method: 'POST', body, signal });
    const run = await fixture.engine.next();
    run.token(0);
    const { value } = (await answer.body!.getReader().read()) as { value: Uint8Array };
    const [, id] = /"id":"(resp_[^"]+)"/.exec(Buffer.from(value).toString()) ?? [];
    leaving.abort();
    await run.play();
    await until(async () => /complete/.test((await elsewhere.get(id!)).status));
    expect(outputText(await client.get(id!))).not.toBe('');
    expect(fixture.engine.abortedIds).toEqual([]);
  });

  it('can be cancelled only in the background', async () => {
    const answering = client.create({ input: 'x', max_output_tokens: 20 });
    await (await fixture.engine.next()).play();
    const { id } = await answering;
    const answer = await client.post({}, `/${id}/cancel`);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('Cannot cancel a synchronous response.');
    expect((await client.post({}, '/resp_none/cancel')).status).toBe(404);
  });

  it('reports its failure in the stream, and is stored as failed', async () => {
    const streaming = client.stream({ input: 'x', max_output_tokens: 40 });
    const run = await fixture.engine.next();
    run.token(0, 5);
    run.endSequence({ reason: 'error', first: 5, count: 0 });
    await run.finishJob();
    const events = eventsIn(await streaming);
    expect(events.map(({ type }) => type).slice(-2)).toEqual(['error', 'response.failed']);
    const last = events.at(-1)?.response;
    expect(last?.error?.code).toBe('server_error');
    expect(await elsewhere.get(last!.id)).toEqual(last);
  });

  it('is evicted by newer ones, and any process continues it', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 4; i += 1) {
      const answering = client.create({ input: 'x', max_output_tokens: 20 });
      await (await fixture.engine.next()).play();
      ids.push((await answering).id);
    }
    const statuses = await Promise.all(
      ids.map(async (id) => (await elsewhere.send(`/${id}`)).status),
    );
    expect(statuses).toEqual([404, 200, 200, 200]);
    const going = elsewhere.create({
      input: 'x',
      previous_response_id: ids[3],
      max_output_tokens: 20,
    });
    await (await fixture.engine.next()).play();
    expect((await going).usage?.input_tokens).toBeGreaterThan(20);
  });
});

describe('a background response that the store has no room for', () => {
  it('is an error, and is not stored', async () => {
    const fixture = await ApiFixture.start({
      config: { maxWaitingRequests: 1 },
      engines: [{ takes: () => false }],
    });
    const client = new ResponsesClient(fixture.api.url);
    const first = await client.create({ input: 'x', background: true });
    const bodies = [{ stream: true }, { stream: false }];
    for (const body of bodies) {
      const answer = await client.post({ input: 'x', background: true, ...body });
      expect(answer.status).toBe(429);
      expect(answer.headers.get('content-type')).toContain('application/json');
    }
    await client.post({}, `/${first.id}/cancel`);
    await until(() => isIdle(fixture));
    await fixture.stop();
  });
});

describe('tools that only OpenAI runs', () => {
  it('are refused when the configuration says so', async () => {
    const fixture = await ApiFixture.start({ config: { unsupportedTools: 'reject' } });
    const client = new ResponsesClient(fixture.api.url);
    const answer = await client.post({ input: 'x', tools: [{ type: 'web_search' }] });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param: 'tools[0].type' } });
    await fixture.stop();
  });
});

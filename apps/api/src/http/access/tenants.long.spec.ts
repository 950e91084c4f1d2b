import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BatonConfig, unnamedTenant } from '@baton/config';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ApiFixture } from '../../../test/api-fixture';
import { until } from '../../../test/until';

/** alice has two keys, bob one; carol's has no name. */
const KEYS = { alice: 'sk-a', again: 'sk-a2', bob: 'sk-b', carol: 'sk-c' };
type Caller = keyof typeof KEYS;

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown> & { readonly id: string };
}

describe('a stored object', () => {
  let folder: string;
  let fixture: ApiFixture;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'baton-tenants-'));
    writeFileSync(join(folder, 'keys'), 'alice: [sk-a, sk-a2]\nbob: sk-b\n');
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(() => fixture.stop());

  async function start(config: Partial<BatonConfig> = {}): Promise<void> {
    const apiKeysFile = join(folder, 'keys');
    fixture = await ApiFixture.start({
      config: { apiKeysFile, apiKey: [KEYS.carol], ...config },
      engines: [{ isEager: true }],
    });
  }

  async function call(
    who: Caller,
    [method, path]: readonly [string, string],
    body?: object,
    more: Record<string, string> = {},
  ): Promise<Reply> {
    const headers = { authorization: `Bearer ${KEYS[who]}`, ...more };
    const init = body === undefined ? { method, headers } : jsonOf(method, headers, body);
    const answer = await fetch(`${fixture.api.url}${path}`, init);
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false;
    return { status: answer.status, body: (isJson ? JSON.parse(text) : { text }) as Reply['body'] };
  }

  const respond = (who: Caller, more: object = {}): Promise<Reply> =>
    call(who, ['POST', '/v1/responses'], { input: 'x', max_output_tokens: 16, ...more });

  it('that is a response is found, continued, cancelled and deleted only by its tenant', async () => {
    await start();
    const { body } = await respond('alice');
    const own = `/v1/responses/${body.id}`;
    for (const who of ['bob', 'carol'] as const) {
      const asked = [
        await call(who, ['GET', own]),
        await call(who, ['GET', `${own}?stream=true`]),
        await call(who, ['GET', `${own}/input_items`]),
        await call(who, ['POST', `${own}/cancel`]),
        await call(who, ['DELETE', own]),
        await respond(who, { previous_response_id: body.id }),
        await call(who, ['POST', '/v1/responses/input_tokens'], {
          input: 'y',
          previous_response_id: body.id,
        }),
        await call(who, ['POST', '/v1/responses/compact'], {
          model: 'llama-3.1-8b',
          previous_response_id: body.id,
        }),
      ];
      expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 404));
    }
    const [item] = body['output'] as { id: string }[];
    const reference = { input: [{ type: 'item_reference', id: item?.id }] };
    expect((await respond('bob', reference)).status).not.toBe(200);
    expect((await respond('again', { previous_response_id: body.id })).status).toBe(200);
    expect((await call('again', ['GET', own])).status).toBe(200);
    expect((await call('alice', ['DELETE', own])).status).toBe(200);
  });

  it('that is a background response is followed only by its tenant', async () => {
    await start();
    const { body } = await respond('alice', { background: true });
    const own = `/v1/responses/${body.id}`;
    expect((await call('bob', ['GET', `${own}?stream=true`])).status).toBe(404);
    expect((await call('bob', ['POST', `${own}/cancel`])).status).toBe(404);
    await until(async () => {
      const { status } = (await call('again', ['GET', own])).body;
      return status === 'completed' || status === 'incomplete';
    });
  });

  it('made over a WebSocket belongs to the tenant of its key', async () => {
    await start();
    const { body } = await respond('alice');
    const url = `${fixture.api.url.replace('http', 'ws')}/v1/responses`;
    const turn = async (who: Caller): Promise<string> => {
      const headers = { authorization: `Bearer ${KEYS[who]}` };
      const socket = new WebSocket(url, { headers });
      const first = new Promise<string>((resolve) => {
        socket.once('message', (data: Buffer) => resolve(data.toString()));
      });
      await new Promise((resolve) => socket.once('open', resolve));
      const ask = { type: 'response.create', input: 'y', previous_response_id: body.id };
      socket.send(JSON.stringify(ask));
      const type = (JSON.parse(await first) as { type: string }).type;
      socket.terminate();
      return type;
    };
    expect(await turn('bob')).toBe('error');
    expect(await turn('again')).toBe('response.created');
  });

  it('that is a chat completion is read, listed, changed and deleted only by its tenant', async () => {
    await start();
    const messages = [{ role: 'user', content: 'x' }];
    const asked = { messages, max_tokens: 4, store: true };
    const { body } = await call('alice', ['POST', '/v1/chat/completions'], asked);
    const own = `/v1/chat/completions/${body.id}`;
    for (const who of ['bob', 'carol'] as const) {
      const seen = [
        await call(who, ['GET', own]),
        await call(who, ['GET', `${own}/messages`]),
        await call(who, ['POST', own], { metadata: { a: 'b' } }),
        await call(who, ['DELETE', own]),
      ];
      expect(seen.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
      expect((await call(who, ['GET', '/v1/chat/completions'])).body['data']).toEqual([]);
    }
    const listed = await call('again', ['GET', '/v1/chat/completions']);
    expect(listed.body['data']).toMatchObject([{ id: body.id }]);
    expect((await call('again', ['DELETE', own])).status).toBe(200);
  });

  it('that is a conversation is read, changed, continued and deleted only by its tenant', async () => {
    await start();
    const items = [{ type: 'message', role: 'user', content: 'hello' }];
    const { body } = await call('alice', ['POST', '/v1/conversations'], { items });
    const own = `/v1/conversations/${body.id}`;
    const { body: page } = await call('alice', ['GET', `${own}/items`]);
    const [item] = page['data'] as { id: string }[];
    const asked = [
      await call('bob', ['GET', own]),
      await call('bob', ['POST', own], { metadata: { a: 'b' } }),
      await call('bob', ['GET', `${own}/items`]),
      await call('bob', ['POST', `${own}/items`], { items }),
      await call('bob', ['GET', `${own}/items/${item?.id}`]),
      await call('bob', ['DELETE', `${own}/items/${item?.id}`]),
      await call('bob', ['DELETE', own]),
      await respond('bob', { conversation: body.id }),
    ];
    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 404));
    expect((await respond('again', { conversation: body.id })).status).toBe(200);
    const after = (await call('alice', ['GET', `${own}/items`])).body['data'] as unknown[];
    expect(after.length).toBeGreaterThan(items.length);
  });

  it('of one tenant is not evicted by another', async () => {
    await start({ responsesMaxEntries: 2 });
    const { body } = await respond('alice');
    for (let i = 0; i < 4; i += 1) await respond('bob');
    expect((await call('alice', ['GET', `/v1/responses/${body.id}`])).status).toBe(200);
  });

  it('that is a timeline is found under a request id only by its tenant, in any process', async () => {
    await start();
    const named = { 'x-request-id': 'run-1' };
    const ask = { prompt: 'a b c', max_tokens: 2 };
    const timeline = ['GET', '/v1/requests/run-1/timeline'] as const;
    await call('alice', ['POST', '/v1/completions'], ask, named);
    expect((await call('bob', timeline)).status).toBe(404);
    await call('bob', ['POST', '/v1/completions'], { ...ask, max_tokens: 1 }, named);
    const [alices, bobs] = [await call('again', timeline), await call('bob', timeline)];
    const outputOf = ({ body }: Reply) =>
      (body['sequences'] as { output_tokens: number }[])[0]?.output_tokens;
    expect([outputOf(alices), outputOf(bobs)]).toEqual([2, 1]);
    const [internal] = alices.body['sequences'] as { id: string }[];
    const inside = ['GET', `/v1/requests/${internal?.id}/timeline`] as const;
    expect((await call('bob', inside)).status).toBe(404);
    expect((await call('alice', inside)).status).toBe(200);
    const second = await ApiFixture.beside(fixture);
    const answer = await fetch(`${second.url}${timeline[1]}`);
    await second.stop();
    expect(answer.status).toBe(404);
  });

  it('that is a loaded LoRA adapter serves only its tenant', async () => {
    await start({ allowRuntimeLoraUpdating: true, loraModules: ['law=x'] });
    const load = { lora_name: 'sql', lora_path: 'org/sql' };
    expect((await call('alice', ['POST', '/v1/load_lora_adapter'], load)).status).toBe(200);
    const models = async (who: Caller): Promise<string[]> => {
      const { body } = await call(who, ['GET', '/v1/models']);
      return (body['data'] as { id: string }[]).map(({ id }) => id).slice(1);
    };
    expect(await models('again')).toEqual(['law', 'sql']);
    expect(await models('bob')).toEqual(['law']);
    const ask = { model: 'sql', prompt: 'x', max_tokens: 1 };
    expect((await call('again', ['POST', '/v1/completions'], ask)).status).toBe(200);
    expect((await call('bob', ['POST', '/v1/completions'], ask)).status).toBe(404);
    expect((await call('bob', ['GET', '/v1/models/sql'])).status).toBe(404);
    const unload = { lora_name: 'sql' };
    expect((await call('bob', ['POST', '/v1/unload_lora_adapter'], unload)).status).toBe(404);
    expect((await call('bob', ['POST', '/v1/load_lora_adapter'], load)).status).toBe(200);
    expect((await call('again', ['POST', '/v1/unload_lora_adapter'], unload)).status).toBe(200);
    expect(await models('bob')).toEqual(['law', 'sql']);
  });

  it('that is a budget is shared by the keys of a tenant, and limited by the tenant’s name', async () => {
    await start({ apiKeyLimits: { alice: { limit_requests_per_minute: 2 } } });
    const statuses: number[] = [];
    for (const who of ['alice', 'again', 'alice', 'bob', 'bob', 'bob'] as const) {
      const ask = { prompt: 'x', max_tokens: 1 };
      statuses.push((await call(who, ['POST', '/v1/completions'], ask)).status);
    }
    expect(statuses).toEqual([200, 200, 429, 200, 200, 200]);
  });

  it('is counted by tenant in metrics, and no series contains a key', async () => {
    await start();
    await call('alice', ['POST', '/v1/completions'], { prompt: 'x', max_tokens: 3 });
    await call('again', ['POST', '/v1/completions'], { prompt: 5 });
    await call('carol', ['POST', '/v1/completions'], { prompt: 'x', max_tokens: 1 });
    const page = await (await fetch(`${fixture.api.url}/metrics`)).text();
    const lines = page.split('\n').filter((line) => line.startsWith('baton:tenant_'));
    expect(lines).toContain('baton:tenant_requests_total{tenant="alice",outcome="answered"} 1');
    expect(lines).toContain('baton:tenant_requests_total{tenant="alice",outcome="refused"} 1');
    expect(lines).toContain('baton:tenant_tokens_total{tenant="alice",kind="output"} 3');
    const carol = unnamedTenant(KEYS.carol);
    expect(lines).toContain(`baton:tenant_requests_total{tenant="${carol}",outcome="answered"} 1`);
    for (const key of Object.values(KEYS)) expect(page).not.toContain(`"${key}"`);
  });
});

function jsonOf(method: string, headers: Record<string, string>, body: object): RequestInit {
  const typed = { ...headers, 'content-type': 'application/json' };
  return { method, headers: typed, body: JSON.stringify(body) };
}

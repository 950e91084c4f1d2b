import { defaultConfig } from '@baton/config';
import { attachInProcess, InProcessHub } from '@baton/transport';
import { describe, expect, it } from 'vitest';
import type { StoredResponse } from '@baton/responses';
import { ResponseStore } from './response-store';

const stored = (id: string, status: string): StoredResponse =>
  ({
    apiId: 'api-1',
    response: { id, status, background: true, error: null, output: [] },
    context: [],
    input: [],
    deltas: [],
  }) as never;

describe('the store of responses', () => {
  it('reports a response as failed only when its process has died', async () => {
    const transport = attachInProcess(new InProcessHub());
    const store = new ResponseStore(defaultConfig({}), transport);
    await store.add({ owner: undefined, id: 'resp_1' }, stored('resp_1', 'in_progress'));
    await store.add({ owner: undefined, id: 'resp_2' }, stored('resp_2', 'completed'));
    await transport.presence.announceApi('api-1', 60_000);
    expect((await store.find({ owner: undefined, id: 'resp_1' }))?.response.status).toBe(
      'in_progress',
    );
    await transport.presence.removeApi('api-1');
    const lost = await store.find({ owner: undefined, id: 'resp_1' });
    expect(lost?.response).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
    expect(await store.find({ owner: undefined, id: 'resp_1' })).toEqual(lost);
    expect((await store.find({ owner: undefined, id: 'resp_2' }))?.response.status).toBe(
      'completed',
    );
    await transport.close();
  });
});

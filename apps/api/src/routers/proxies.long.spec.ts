import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOLD } from '../../../../test/support/hold';
import { readStream } from '../../test/api-fixture';
import { type Json, type LegAnswer, OutsideRouter } from '../../test/outside-router';

const PROMPT = 'each engine has a door of its own '.repeat(10);
const ASKED = { prompt: PROMPT, max_tokens: 15, ignore_eos: true };
const KEY = { Authorization: 'Bearer None' };

let router: OutsideRouter;
let plain: string | undefined;

beforeAll(async () => {
  // A busy machine can take longer than the usual lease from one leg to the other.
  router = await OutsideRouter.start({ kvLeaseDuration: 600 });
  plain = await router.plainText(ASKED);
});

afterAll(() => router.stop());

/** The prefill body that the toy proxy and the other proxies send for this request. */
function prefillBody(request: Json, params: Json): Json {
  return { ...request, stream: false, max_tokens: 1, kv_transfer_params: params };
}

function expectServed(decode: LegAnswer): void {
  expect([decode.status, decode.body.choices?.[0]?.text]).toEqual([200, plain]);
}

/** Expects that the KV came from the other engine, and that nothing is left there. */
async function expectFetched(legs: () => Promise<LegAnswer>): Promise<void> {
  const before = router.counted('kv_fetched');
  expectServed(await legs());
  expect(router.counted('kv_fetched')).toBe(before + 1);
  await router.untilNothingIsHeld();
}

async function expectNotFetched(legs: () => Promise<LegAnswer>): Promise<void> {
  const before = router.counted('kv_fetched');
  expectServed(await legs());
  expect(router.counted('kv_fetched')).toBe(before);
}

describe('the proxies that wait for prefill', () => {
  it('vLLM’s toy proxy hands over with one request id on both legs', async () => {
    await expectFetched(async () => {
      const headers = { ...KEY, 'X-Request-Id': randomUUID() };
      const prefill = await router.leg('prefill', prefillBody(ASKED, HOLD), { headers });
      const params = prefill.body.kv_transfer_params;
      expect(params).toMatchObject({ do_remote_prefill: true, transfer_mode: 'pull' });
      expect(prefill.body.choices).toHaveLength(1);
      return router.leg('decode', { ...ASKED, kv_transfer_params: params }, { headers });
    });
  });

  it('vLLM’s demo proxy finds the model, and sends the request twice: each engine computes', async () => {
    const models = await fetch(router.url('prefill', '/v1/models'));
    const { data } = (await models.json()) as { data: { id: string }[] };
    const asked = { ...ASKED, model: data[0]?.id };
    await expectNotFetched(async () => {
      await router.leg('prefill', { ...asked, max_tokens: 1 }, { headers: KEY });
      return router.leg('decode', asked, { headers: KEY });
    });
  });

  it('the multi-turn proxy computes each turn, since decode answers no params', async () => {
    const headers = { 'X-Request-Id': randomUUID() };
    await expectFetched(async () => {
      const prefill = await router.leg('prefill', prefillBody(ASKED, HOLD), { headers });
      const params = { ...prefill.body.kv_transfer_params, remote_host: '127.0.0.1' };
      const decode = await router.leg('decode', { ...ASKED, kv_transfer_params: params });
      expect(decode.body.kv_transfer_params).toBeNull();
      return decode;
    });
  });

  it('decode’s blocks that the multi-turn proxy brings to prefill are computed instead', async () => {
    await expectFetched(async () => {
      const ofDecode = {
        ...HOLD,
        remote_block_ids: [[1, 2, 3]],
        remote_engine_id: await router.engineId('decode'),
        remote_request_id: 'chatcmpl-turn-1-0-0000000a',
        remote_host: '127.0.0.1',
        remote_port: 5600,
        tp_size: 1,
        remote_num_tokens: 48,
        remote_blocks_expiry_time: 1_790_000_000.5,
      };
      const prefill = await router.leg('prefill', prefillBody(ASKED, ofDecode));
      const params = prefill.body.kv_transfer_params;
      return router.leg('decode', { ...ASKED, kv_transfer_params: params });
    });
  });

  it('llm-d’s sidecar hands over with the cached tokens from prefill’s answer', async () => {
    await expectFetched(async () => {
      const headers = { 'x-request-id': randomUUID() };
      const prefill = await router.leg('prefill', prefillBody(ASKED, HOLD), { headers });
      expect(prefill.body['usage']).toHaveProperty('prompt_tokens_details');
      const params = prefill.body.kv_transfer_params;
      return router.leg('decode', { ...ASKED, kv_transfer_params: params }, { headers });
    });
  });

  it('x-prefiller-host-port is only for llm-d’s sidecar: an engine computes the prompt itself', async () => {
    const headers = { 'x-prefiller-host-port': new URL(router.url('prefill', '/')).host };
    await expectNotFetched(() => router.leg('decode', ASKED, { headers }));
  });

  it('MoRI-IO in read mode hands over by its transfer_id', async () => {
    const transfer_id = `tx-${randomUUID()}`;
    await expectFetched(async () => {
      const prefill = await router.leg('prefill', prefillBody(ASKED, moriHold(transfer_id)));
      const held = prefill.body.kv_transfer_params ?? {};
      expect(held['transfer_id']).toBe(transfer_id);
      const kv_transfer_params = {
        ...moriFetch(transfer_id),
        remote_engine_id: held['remote_engine_id'],
        remote_block_ids: held['remote_block_ids'],
      };
      return router.leg('decode', { ...ASKED, kv_transfer_params });
    });
  });

  it('P2pNccl hands over by the addresses in the request id', async () => {
    const id = '___prefill_addr_10.0.1.2:21001___decode_addr_10.0.1.3:22001_';
    const headers = { ...KEY, 'X-Request-Id': `${id}${randomUUID().replaceAll('-', '')}` };
    await expectFetched(async () => {
      const prefill = await router.leg('prefill', { ...ASKED, max_tokens: 1 }, { headers });
      expect(prefill.body.kv_transfer_params).toBeNull();
      return router.leg('decode', ASKED, { headers });
    });
  });

  it('malformed params are served without a transfer', async () => {
    const kv_transfer_params = { do_remote_prefill: true, remote_block_ids: [[1]] };
    await expectNotFetched(() => router.leg('decode', { ...ASKED, kv_transfer_params }));
  });
});

function moriHold(transfer_id: string): Json {
  const { do_remote_decode, do_remote_prefill, remote_engine_id, remote_block_ids } = HOLD;
  const flags = { do_remote_decode, do_remote_prefill, remote_engine_id, remote_block_ids };
  return { remote_dp_size: 1, remote_tp_size: 1, transfer_id, ...flags };
}

function moriFetch(transfer_id: string): Json {
  return {
    do_remote_decode: false,
    do_remote_prefill: true,
    remote_engine_id: null,
    remote_block_ids: null,
    transfer_id,
    remote_dp_size: 1,
    remote_tp_size: 1,
  };
}

/** The two legs of proxies that send them at once. */
interface Pair {
  readonly prefill: Json;
  readonly decode: Json;
  readonly headers: Record<string, string>;
}

const PUSH_ENGINE = {
  do_remote_decode: false,
  do_remote_prefill: true,
  remote_engine_id: 'prefill-engine-001',
  remote_host: '127.0.0.1',
  remote_port: 5600,
  tp_size: 1,
  pp_size: 1,
};

const AT_ONCE: readonly (readonly [name: string, make: () => Pair | Promise<Pair>])[] = [
  [
    'the push proxy',
    () => {
      const [id, transfer_id] = [randomUUID(), `xfer-${randomUUID()}`];
      const params = { ...PUSH_ENGINE, remote_request_id: id, transfer_id };
      return {
        prefill: { ...ASKED, max_tokens: 1, kv_transfer_params: { ...HOLD, transfer_id } },
        decode: { ...ASKED, kv_transfer_params: params },
        headers: { 'X-Request-Id': id },
      };
    },
  ],
  [
    'the push proxy before it had transfer_id',
    () => {
      const id = randomUUID();
      return {
        prefill: { ...ASKED, max_tokens: 1, kv_transfer_params: HOLD },
        decode: { ...ASKED, kv_transfer_params: { ...PUSH_ENGINE, remote_request_id: id } },
        headers: { 'X-Request-Id': id },
      };
    },
  ],
  [
    'the Mooncake proxy',
    async () => {
      const id = randomUUID();
      const transfer_id = `xfer-${id}`;
      const address = router.url('prefill', '');
      const query = (await (await fetch(`${address}/query`)).json()) as Record<string, Json>;
      const flags = { do_remote_decode: true, do_remote_prefill: false };
      const params = {
        do_remote_decode: false,
        do_remote_prefill: true,
        remote_bootstrap_addr: address,
        remote_engine_id: query['0']?.['engine_id'],
        transfer_id,
      };
      return {
        prefill: prefillBody(ASKED, { ...flags, transfer_id }),
        decode: { ...ASKED, kv_transfer_params: params },
        headers: { ...KEY, 'X-Request-Id': id },
      };
    },
  ],
  [
    'MoRI-IO in write mode',
    () => {
      const transfer_id = `tx-${randomUUID()}`;
      const ends = ['prefill', 'decode'].map(
        (end) => `___${end}_addr_host:10.0.0.1,handshake:6301,notify:61005`,
      );
      return {
        prefill: prefillBody(ASKED, moriHold(transfer_id)),
        decode: { ...ASKED, kv_transfer_params: moriFetch(transfer_id) },
        headers: { ...KEY, 'X-Request-Id': `${ends.join('')}_${randomUUID()}` },
      };
    },
  ],
  [
    'SGLang’s mini_lb',
    () => {
      const bootstrap_room = Math.floor(Math.random() * 2 ** 63);
      const body = { ...ASKED, bootstrap_host: '10.0.0.5', bootstrap_port: 8998, bootstrap_room };
      return { prefill: body, decode: body, headers: {} };
    },
  ],
];

describe.each(AT_ONCE)('both legs at once, as %s sends them', (name, make) => {
  const told = name.startsWith('the push') || name.startsWith('MoRI');

  it(`hand over when prefill comes first (${name})`, async () => {
    const { prefill, decode, headers } = await make();
    await expectFetched(async () => {
      const first = router.leg('prefill', prefill, { headers });
      const second = await router.leg('decode', decode, { headers });
      const { status, body } = await first;
      expect([status, body.kv_transfer_params == null]).toEqual([200, !told]);
      return second;
    });
  });

  it(`hand over when decode comes first (${name})`, async () => {
    const { prefill, decode, headers } = await make();
    await expectFetched(async () => {
      const first = router.leg('decode', decode, { headers });
      expect((await router.leg('prefill', prefill, { headers })).status).toBe(200);
      return first;
    });
  });

  it(`end the decode leg at once when prefill is refused (${name})`, async () => {
    const { prefill, decode, headers } = await make();
    const first = router.leg('decode', decode, { headers });
    const refused = await router.leg('prefill', { ...prefill, prompt: 7 }, { headers });
    expect([refused.status, (await first).status]).toEqual([400, 500]);
  });

  it(`serve one decode leg (${name})`, async () => {
    const { prefill, decode, headers } = await make();
    await router.leg('prefill', prefill, { headers });
    expectServed(await router.leg('decode', decode, { headers }));
    expect((await router.leg('decode', decode, { headers })).status).toBe(500);
    await router.untilNothingIsHeld();
  });

  it(`free the blocks of prefill when decode has left (${name})`, async () => {
    const { prefill, decode, headers } = await make();
    const expired = router.counted('nixl_num_kv_expired_reqs');
    // The second leg is refused, whichever it is, so the other one waits.
    const leaving = [new AbortController(), new AbortController()];
    const both = leaving.map(({ signal }, index) =>
      router.send('decode', decode, { headers, signal }).then(() => index),
    );
    const refused = await Promise.race(both);
    leaving[1 - refused]?.abort();
    await expect(both[1 - refused]).rejects.toThrow();
    await router.leg('prefill', prefill, { headers });
    await router.untilNothingIsHeld();
    expect(router.counted('nixl_num_kv_expired_reqs')).toBe(expired);
  });
});

it('the push proxy streams both legs when its client does', async () => {
  const [id, transfer_id] = [randomUUID(), `xfer-${randomUUID()}`];
  const headers = { 'X-Request-Id': id };
  const asked = { ...ASKED, stream: true, stream_options: { include_usage: true } };
  const params = { ...PUSH_ENGINE, remote_request_id: id, transfer_id };
  const decode = router.send('decode', { ...asked, kv_transfer_params: params }, { headers });
  const hold = { ...asked, max_tokens: 1, kv_transfer_params: { ...HOLD, transfer_id } };
  const prefill = await readStream(await router.send('prefill', hold, { headers }));
  expect([prefill.finishReason, prefill.events.at(-1)]).toEqual(['length', '[DONE]']);
  expect((await readStream(await decode)).text).toBe(plain);
  await router.untilNothingIsHeld();
});

it('a decode leg whose prefill leg never comes ends after kv_leg_timeout', async () => {
  const impatient = await OutsideRouter.start({ kvLegTimeout: 0.1 });
  try {
    const params = { ...PUSH_ENGINE, remote_request_id: randomUUID() };
    const decode = await impatient.leg('decode', { ...ASKED, kv_transfer_params: params });
    expect(decode.status).toBe(500);
  } finally {
    await impatient.stop();
  }
});

describe('the Mooncake bootstrap server', () => {
  it('names the engine of the port, and nothing at the port of the cluster', async () => {
    const answer = await fetch(router.url('prefill', '/query'));
    const engine_id = await router.engineId('prefill');
    expect(await answer.json()).toEqual({ '0': { engine_id, worker_addr: {} } });
    expect((await fetch(`${router.cluster.api.url}/query`)).status).toBe(404);
  });

  it('names every data-parallel rank, and the legs meet on the rank that the header names', async () => {
    const ranked = await OutsideRouter.start({ dataParallelSize: 2 });
    try {
      const answer = await fetch(ranked.url('prefill', '/query'));
      const ranks = (await answer.json()) as Record<string, { engine_id: string }>;
      expect(Object.keys(ranks)).toEqual(['0', '1']);
      const transfer_id = `xfer-${randomUUID()}`;
      const fetching = {
        do_remote_prefill: true,
        remote_engine_id: ranks['1']?.engine_id,
        transfer_id,
      };
      const decode = ranked.leg('decode', { ...ASKED, kv_transfer_params: fetching });
      const headers = { 'X-data-parallel-rank': '1' };
      const holding = { do_remote_decode: true, transfer_id };
      await ranked.leg('prefill', prefillBody(ASKED, holding), { headers });
      expectServed(await decode);
      const engines = ranked.hosts.filter((host) => held(host) > 0);
      expect(engines.map(({ engineId }) => engineId)).toEqual([ranks['1']?.engine_id]);
    } finally {
      await ranked.stop();
    }
  });
});

function held(host: OutsideRouter['hosts'][number]): number {
  return host.presence().counters['kv_holdings'] ?? 0;
}

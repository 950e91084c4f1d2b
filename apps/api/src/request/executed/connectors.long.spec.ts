import type { ServerResponse } from 'node:http';
import type { BatonConfig } from '@baton/config';
import { RandomStream } from '@baton/kernel';
import { afterEach, describe, expect, it } from 'vitest';
import { readStream } from '../../../test/api-fixture';
import { ClusterFixture } from '../../../test/cluster-fixture';
import {
  decodes,
  json,
  type Script,
  ScriptedServer,
  type Seen,
} from '../../../test/scripted-server';
import { until } from '../../../test/until';

const ASKED = { prompt: 'pass the baton', max_tokens: 6, min_tokens: 2, made_up: [1] };
const HOLD = {
  do_remote_decode: true,
  do_remote_prefill: false,
  remote_engine_id: null,
  remote_block_ids: null,
  remote_host: null,
  remote_port: null,
};
const FETCH = { do_remote_decode: false, do_remote_prefill: true };
const COORDINATES = {
  remote_engine_id: 'prefill-engine-001',
  remote_host: '10.0.0.1',
  remote_port: 5600,
  tp_size: 2,
  pp_size: 1,
};

type Name = BatonConfig['upstreamKvConnector'];
type Json = Record<string, unknown>;

const paramsOf = ({ body }: Seen): Json => (body['kv_transfer_params'] ?? {}) as Json;

/** The reference that pairs two legs. */
const referenceOf = (seen: Seen): unknown =>
  seen.body['bootstrap_room'] ?? paramsOf(seen)['transfer_id'];

const prefills: Script = (seen, response) => {
  const { transfer_id } = paramsOf(seen);
  const params = { ...FETCH, ...COORDINATES, remote_block_ids: [[1]], remote_num_tokens: 9 };
  json(response, { choices: [], kv_transfer_params: { ...params, transfer_id } });
};

describe('legs that are sent at once', () => {
  let cluster: ClusterFixture;
  let prefill: ScriptedServer;
  let decode: ScriptedServer;

  afterEach(async () => {
    await cluster.stop();
    await prefill.stop();
    await decode.stop();
  });

  const configOf = (upstreamKvConnector: Name, engines = 1): Partial<BatonConfig> => ({
    executor: 'vllm',
    upstreamKvConnector,
    decodeUrl: [decode.url],
    prefillUrl: Array.from({ length: engines }, () => prefill.url),
    prefillBootstrapPort: [String(prefill.port)],
  });

  /** A cluster with a known prefill server: NIXL push gets its address with the first request. */
  async function paired(
    name: Name,
    scripts: { prefill?: Script; decode?: Script },
    { engines = 1, ...more }: { engines?: number } & Partial<BatonConfig> = {},
  ): Promise<void> {
    let isKnown = false;
    prefill = await ScriptedServer.start((...call) =>
      (isKnown ? (scripts.prefill ?? prefills) : prefills)(...call),
    );
    decode = await ScriptedServer.start((...call) =>
      (isKnown ? (scripts.decode ?? decodes) : decodes)(...call),
    );
    prefill.shows('/query', '{"0":{"engine_id":"e0","worker_addr":{}},"1":{"engine_id":"e1"}}');
    cluster = await ClusterFixture.start(
      { prefill: engines, decode: 1 },
      { ...configOf(name, engines), ...more },
    );
    if (name === 'nixl-push') await (await cluster.post(ASKED)).text();
    for (const server of [prefill, decode]) server.seen.length = 0;
    isKnown = true;
  }

  /** Prefill answers only after decode has got its request. */
  const afterDecode: Script = (seen, response, nth) =>
    void until(() => decode.seen.length > 0).then(() => prefills(seen, response, nth));

  async function legsOf(name: Name, asked: object): Promise<[Seen, Seen]> {
    await paired(name, { prefill: afterDecode });
    const answer = await cluster.post(asked, { 'x-request-id': 'mine' });
    expect(answer.status).toBe(200);
    await answer.text();
    await until(() => prefill.seen.length === 1);
    expect(decode.seen).toHaveLength(1);
    const legs = [prefill.seen[0]!, decode.seen[0]!] as [Seen, Seen];
    for (const { headers } of legs) expect(headers['x-request-id']).toBe('mine');
    return legs;
  }

  const { min_tokens: _min, ...withoutMin } = ASKED;
  const ONE_TOKEN = { ...withoutMin, stream: false, max_tokens: 1 };

  it('send decode the address of prefill, as vLLM’s push proxy does', async () => {
    const asked = { ...ASKED, stream: true, stream_options: { include_usage: true } };
    const [first, second] = await legsOf('nixl-push', asked);
    const { transfer_id } = paramsOf(first);
    expect(transfer_id).toMatch(/^xfer-/);
    expect(first.body).toEqual({ ...ONE_TOKEN, kv_transfer_params: { ...HOLD, transfer_id } });
    expect(second.body).toEqual({
      ...asked,
      kv_transfer_params: { ...FETCH, ...COORDINATES, remote_request_id: 'mine', transfer_id },
    });
  });

  it('take the parameters for later requests from a server’s first answer, and send its decode leg', async () => {
    prefill = await ScriptedServer.start(prefills);
    decode = await ScriptedServer.start(decodes);
    cluster = await ClusterFixture.start({ prefill: 1, decode: 1 }, configOf('nixl-push'));
    await (await cluster.post(ASKED, { 'x-request-id': 'mine' })).text();
    const { transfer_id } = paramsOf(prefill.seen[0]!);
    const coordinates = { ...FETCH, ...COORDINATES, remote_request_id: 'mine', transfer_id };
    expect(paramsOf(decode.seen[0]!)).toEqual(coordinates);
  });

  it('name engine and bootstrap server, as the Mooncake proxy does, rank after rank', async () => {
    const [first, second] = await legsOf('mooncake', ASKED);
    const { transfer_id } = paramsOf(first);
    expect(transfer_id).toMatch(/^xfer-/);
    const flags = { do_remote_decode: true, do_remote_prefill: false };
    expect(first.body).toEqual({ ...ONE_TOKEN, kv_transfer_params: { ...flags, transfer_id } });
    expect(first.headers['x-data-parallel-rank']).toBe('0');
    const bootstrap = { remote_bootstrap_addr: prefill.url, remote_engine_id: 'e0', transfer_id };
    expect(second.body).toEqual({ ...ASKED, kv_transfer_params: { ...FETCH, ...bootstrap } });
    expect(second.headers['x-data-parallel-rank']).toBeUndefined();
    await (await cluster.post(ASKED)).text();
    expect(prefill.seen[1]?.headers['x-data-parallel-rank']).toBe('1');
    expect(paramsOf(decode.seen[1]!)['remote_engine_id']).toBe('e1');
  });

  it('send both servers the same body with a room, as SGLang’s mini_lb does', async () => {
    const asked = { ...ASKED, stream: true };
    const [first, second] = await legsOf('sglang', asked);
    const { bootstrap_room } = first.body;
    expect(Number.isSafeInteger(bootstrap_room)).toBe(true);
    const bootstrap = { bootstrap_host: '127.0.0.1', bootstrap_port: prefill.port, bootstrap_room };
    expect(first.body).toEqual({ ...asked, ...bootstrap });
    expect(second.body).toEqual(first.body);
  });

  const hangs: Script = () => undefined;

  describe.each(['nixl-push', 'mooncake', 'sglang'] as const)('with %s', (name) => {
    it('end at once when prefill is refused, in the server’s words', async () => {
      const error = { message: 'not so', type: 'BadRequestError', param: 'prompt', code: 400 };
      const refuses: Script = (_seen, response) =>
        void until(() => decode.seen.length === 1).then(() => json(response, { error }, 400));
      await paired(name, { prefill: refuses, decode: hangs });
      const answer = await cluster.post({ ...ASKED, stream: true });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { message: 'not so', param: 'prompt' } });
      await until(() => decode.closed === 1);
      expect(prefill.seen).toHaveLength(1);
    });

    it('start again under another name when prefill is lost', async () => {
      await paired(name, {
        prefill: (seen, response, nth) =>
          prefill.seen.length === 1
            ? void until(() => decode.seen.length === 1).then(() => response.destroy())
            : prefills(seen, response, nth),
        decode: (...call) => (decode.seen.length === 1 ? undefined : decodes(...call)),
      });
      const { text } = await readStream(await cluster.post({ ...ASKED, stream: true }));
      expect(text).toBe('one é');
      expect(decode.closed).toBe(1);
      expectPairs(2);
    });

    it('start again when decode’s server is the first to report that prefill is lost', async () => {
      const error = { message: 'the KV transfer failed', code: 500 };
      await paired(name, {
        prefill: (seen, response, nth) =>
          prefill.seen.length === 1
            ? void until(() => decode.answered === 1).then(() => response.destroy())
            : prefills(seen, response, nth),
        decode: (seen, response, nth) =>
          decode.seen.length > 1
            ? decodes(seen, response, nth)
            : void until(() => prefill.seen.length === 1).then(() =>
                json(response, { error }, 500),
              ),
      });
      const { text } = await readStream(await cluster.post({ ...ASKED, stream: true }));
      expect(text).toBe('one é');
      expectPairs(2);
    });

    it('pass on each answer of decode’s server', async () => {
      const error = { message: 'out of luck', code: 500 };
      await paired(name, {
        decode: (_seen, response) =>
          void until(() => prefill.seen.length === decode.seen.length).then(() =>
            json(response, { error }, 500),
          ),
      });
      const answer = await cluster.post({ ...ASKED, stream: true });
      expect(answer.status).toBe(500);
      expect(await answer.text()).toContain('out of luck');
      expectPairs(3);
    });

    it('start again under another name when decode is lost before its first token', async () => {
      await paired(name, {
        prefill: (...call) => (prefill.seen.length === 1 ? undefined : prefills(...call)),
        decode: (seen, response, nth) =>
          decode.seen.length === 1
            ? void until(() => prefill.seen.length === 1).then(() => response.destroy())
            : decodes(seen, response, nth),
      });
      const { text } = await readStream(await cluster.post({ ...ASKED, stream: true }));
      expect(text).toBe('one é');
      await until(() => prefill.closed === 1);
      expectPairs(2);
    });
  });

  describe('whose decode leg waits for room', () => {
    const refuses: Script = (_seen, response) =>
      json(response, { error: { message: 'not so', code: 422 } }, 422);
    const loses: Script = (_seen, response) => void response.destroy();

    it.each([
      ['refused', refuses, 422, 'not so', 2],
      ['lost each time', loses, 500, 'attempts_exhausted', 4],
    ] as const)('end without it when prefill is %s', async (_how, fails, status, words, legs) => {
      const script: Script = (...call) => (prefill.seen.length === 1 ? prefills : fails)(...call);
      await paired('mooncake', { prefill: script, decode: hangs }, { maxNumSeqs: 1 });
      const leaving = new AbortController();
      const first = postAndLeave(leaving.signal);
      await until(() => decode.seen.length === 1);
      const answer = await cluster.post({ ...ASKED, stream: true });
      expect(answer.status).toBe(status);
      expect(await answer.text()).toContain(words);
      expect(prefill.seen).toHaveLength(legs);
      leaving.abort();
      expect(await first).toBe('left');
      expect(decode.seen).toHaveLength(1);
    });
  });

  const postAndLeave = (signal: AbortSignal): Promise<unknown> =>
    fetch(`${cluster.api.url}/v1/completions`, {
      method: 'POST',
      signal,
      body: JSON.stringify(ASKED),
      headers: { 'content-type': 'application/json' },
    }).catch(() => 'left');

  function expectPairs(count: number): void {
    const references = prefill.seen.map(referenceOf);
    expect(new Set(references).size).toBe(count);
    expect(decode.seen.map(referenceOf)).toEqual(references);
  }

  it.each(['nixl', 'mooncake'] as const)(
    'go one by one where a server has room for one (%s)',
    async (name) => {
      await paired(name, {}, { maxNumSeqs: 1 });
      const answers = await Promise.all([1, 2, 3].map(() => cluster.post(ASKED)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect([prefill.seen.length, decode.seen.length]).toEqual([3, 3]);
    },
  );

  it('use no reference twice and end every request, however the servers behave', async () => {
    const seed = Math.floor(Math.random() * 1e9);
    const chance = RandomStream.root(seed).stream('servers');
    const soon = (act: () => void): void => void setTimeout(act, chance.unit() * 10);
    const misbehaves =
      (well: Script): Script =>
      (seen, response, nth) => {
        const draw = chance.unit();
        if (draw < 0.05) return;
        if (draw < 0.25) soon(() => response.destroy());
        else if (draw < 0.3) soon(() => json(response, { error: { message: 'no' } }, 422));
        else if (draw < 0.35) soon(() => response.writeHead(200).end('{'));
        else soon(() => well(seen, response, nth));
      };
    const scripts = { prefill: misbehaves(prefills), decode: misbehaves(decodes) };
    await paired('mooncake', scripts, { upstreamTimeout: 0.3, maxNumSeqs: 4 });
    const asked = Array.from({ length: 40 }, () => cluster.post({ ...ASKED, stream: true }));
    const answers = await Promise.all(asked);
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    const known = [200, 422, 500, 503, 504];
    for (const [i, { status }] of answers.entries()) {
      expect(known, `seed ${seed}: ${texts[i]}`).toContain(status);
      if (status === 200) expect(texts[i], `seed ${seed}`).toContain('[DONE]');
    }
    for (const { seen } of [prefill, decode]) {
      const references = seen.map(referenceOf);
      expect(new Set(references).size, `seed ${seed}`).toBe(references.length);
    }
    await until(async () => (await cluster.metric('baton:api_live_sequences')) === 0);
    expect(await cluster.metric('baton:sequences_unaccounted'), `seed ${seed}`).toBe(0);
    const hosts = [...cluster.workers.values()].flatMap((workers) => workers.hosts);
    await until(() => hosts.every(({ runs }) => runs.size === 0));
  });

  it('are both closed when the client leaves', async () => {
    let response: ServerResponse | undefined;
    await paired('mooncake', { prefill: hangs, decode: (_seen, given) => void (response = given) });
    const leaving = new AbortController();
    const answer = postAndLeave(leaving.signal);
    await until(() => response !== undefined && prefill.seen.length === 1);
    leaving.abort();
    expect(await answer).toBe('left');
    await until(() => prefill.closed === 1 && decode.closed === 1);
  });

  it('start again when the prefill worker is lost', async () => {
    const scripts: Record<string, Script> = {
      prefill: (...call) => (prefill.seen.length === 1 ? undefined : prefills(...call)),
      decode: (...call) => (decode.seen.length === 1 ? undefined : decodes(...call)),
    };
    await paired('mooncake', scripts, { engines: 2 });
    const answer = cluster.post({ ...ASKED, stream: true });
    await until(() => decode.seen.length === 1 && prefill.seen.length === 1);
    const engines = [...(cluster.workers.get('prefill')?.engines ?? [])];
    await engines.find(({ hosts }) => hosts[0]!.runs.size > 0)?.stop(0);
    expect((await readStream(await answer)).text).toBe('one é');
    expectPairs(2);
  });

  it('wait until the bootstrap server has listed its engines', async () => {
    await paired('mooncake', {});
    await cluster.stop();
    prefill.shows('/query', '{}');
    cluster = await ClusterFixture.start({ prefill: 1, decode: 1 }, configOf('mooncake'));
    const answer = cluster.post(ASKED);
    await until(async () =>
      (await cluster.engines()).some(
        ({ stage, state }) => stage === 'prefill' && state === 'starting',
      ),
    );
    expect(prefill.seen).toHaveLength(0);
    prefill.shows('/query', '{"0":{"engine_id":"e0"}}');
    expect((await answer).status).toBe(200);
  });
});

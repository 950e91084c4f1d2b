import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../test/api-fixture';
import { until } from '../../test/until';

const TRANSFER = { transfer_id: 'xfer-1' };
const PREFILL = {
  prompt: 'x',
  max_tokens: 1,
  kv_transfer_params: { do_remote_decode: true, do_remote_prefill: false, ...TRANSFER },
};
const DECODE = {
  prompt: 'x',
  max_tokens: 3,
  kv_transfer_params: { do_remote_decode: false, do_remote_prefill: true, ...TRANSFER },
};
const HELD = JSON.stringify({
  do_remote_prefill: true,
  do_remote_decode: false,
  remote_block_ids: [[1, 2, 3]],
  remote_engine_id: 'fake-prefill',
  remote_request_id: 'cmpl-x-0-0000001f',
  remote_host: 'localhost',
  remote_port: 5600,
  remote_num_tokens: 40,
});

const CUT = { at: 'queue', fault: 'cut', header: 'X-Fault: cut' };

let fixture: ApiFixture;
let logged: string[];

beforeEach(async () => {
  logged = [];
  fixture = await ApiFixture.start({
    log: pino({ level: 'warn' }, { write: (line) => logged.push(line) }),
    config: { topology: '1P1D', faults: JSON.stringify([CUT]) },
    engines: [{ stage: 'prefill' }, { stage: 'decode', index: 1 }],
  });
});

afterEach(() => fixture.stop());

describe('a decode leg that waits for its prefill leg', () => {
  it('becomes a job when the prompt is held, and its age starts then', async () => {
    const decode = fixture.post('/v1/completions', DECODE);
    const prefill = fixture.post('/v1/completions', PREFILL);
    const held = await fixture.engine.next();
    expect(fixture.engines[1]!.runs).toEqual([]);
    const heldUs = (performance.timeOrigin + performance.now()) * 1_000;
    held.endSequence({ tail: HELD });
    const run = await fixture.engines[1]!.next();
    expect(run.job).toMatchObject({ flow: 'attach', kvTransferParams: JSON.parse(HELD) as object });
    expect(run.job.causeUs).toBeGreaterThan(heldUs - 1);
    expect(run.job.arrivalUs).toBeLessThan(heldUs);
    await run.play();
    expect([(await prefill).status, (await decode).status]).toEqual([200, 200]);
  });

  it('is a deferred request with its blocks in the metrics, until it ends', async () => {
    const deferred = async (): Promise<number> => {
      const text = await (await fetch(`${fixture.api.url}/metrics`)).text();
      const lines = text.split('\n').filter((line) => line.includes('reason="deferred"'));
      return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    };
    expect(await deferred()).toBe(0);
    const leaving = new AbortController();
    const { signal } = leaving;
    const left = fixture.post('/v1/completions', DECODE, { signal }).catch(() => 'left');
    await until(async () => (await deferred()) === 1);
    leaving.abort();
    expect(await left).toBe('left');
    await until(async () => (await deferred()) === 0);
  });

  it('ends at once when the engine fails the prompt', async () => {
    const decode = fixture.post('/v1/completions', DECODE);
    const prefill = fixture.post('/v1/completions', PREFILL);
    (await fixture.engine.next()).endSequence({ reason: 'error', tail: '"engine_error"' });
    expect([(await prefill).status, (await decode).status]).toEqual([500, 500]);
  });

  it('says in the log why it is answered with 500, and by which option', async () => {
    const decode = fixture.post('/v1/completions', DECODE);
    const prefill = fixture.post('/v1/completions', PREFILL);
    (await fixture.engine.next()).endSequence({ reason: 'error', tail: '"engine_error"' });
    await Promise.all([prefill, decode]);
    const said = logged.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(said.filter((msg) => msg.startsWith('500: '))).toEqual([
      '500: The prefill leg of this transfer has failed. (kv_load_failure_policy: fail)',
    ]);
  });

  it('ends at once when the client of the prefill leg leaves', async () => {
    const decode = fixture.post('/v1/completions', DECODE);
    const leaving = new AbortController();
    const prefill = fixture.post('/v1/completions', PREFILL, { signal: leaving.signal });
    await fixture.engine.next();
    leaving.abort();
    await expect(prefill).rejects.toThrow();
    expect((await decode).status).toBe(500);
  });

  it('ends at once when the prefill leg is cut off before it is queued', async () => {
    const decode = fixture.post('/v1/completions', DECODE);
    const prefill = fixture.post('/v1/completions', PREFILL, { headers: { 'X-Fault': 'cut' } });
    await expect(prefill).rejects.toThrow();
    expect((await decode).status).toBe(500);
  });

  it('frees the blocks when it is refused itself', async () => {
    const refused = await fixture.post('/v1/completions', { ...DECODE, model: 'unknown' });
    expect(refused.status).toBe(404);
    const prefill = fixture.post('/v1/completions', PREFILL);
    (await fixture.engine.next()).endSequence({ tail: HELD });
    await prefill;
    const { messages } = fixture.engine;
    await until(() => messages.length > 0);
    expect(messages[0]).toMatchObject({ kind: 'release', requestId: 'cmpl-x-0', generation: 31 });
  });
});

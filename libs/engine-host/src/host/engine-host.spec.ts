import { type HandoffEntry, lifecycleOf } from '@baton/handoff';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PROMPT_US, TOKEN_US, TRANSFER_US, World } from '../../test/test-world';

describe('engine hosts', () => {
  let world: World;

  beforeEach(async () => {
    world = await World.open();
  });

  afterEach(() => world.close());

  it('take a routed request through prefill, hand-over and decode', async () => {
    await world.host('prefill');
    await world.host('decode');
    await world.submit(1);
    expect(await world.untilEnded(1)).toBe(true);
    expect(world.kinds(1)).toEqual([
      'prefill scheduled',
      'prefill handed-over',
      'decode scheduled',
      ...Array.from({ length: 4 }, () => 'decode tokens'),
      'decode end',
    ]);
    expect(world.tokens(1)).toEqual([0, 1, 2, 3, 4]);
    expect(world.ended(1)).toMatchObject({ reason: 'length', first: 5, count: 1 });
    expect(world.blocksInUse()).toBe(0);
  });

  it('record the lifecycle of the hand-over from the coordinators', async () => {
    const entries: HandoffEntry[] = [];
    const host = { onHandoff: (entry: HandoffEntry) => void entries.push(entry) };
    await world.host('prefill', { host });
    await world.host('decode', { host });
    await world.submit(1);
    await world.untilEnded(1);
    expect(lifecycleOf(entries)).toEqual([
      {
        requestId: 'request-1-0',
        source: [['held 40 tokens', 'released: read-done']],
        target: [['accepted', 'reading 40 tokens', 'transferring 48 bytes', 'received']],
      },
    ]);
  });

  it('run a local request on one engine, with the same tokens', async () => {
    await world.host('aggregated');
    await world.submit(1, { flow: 'local' });
    await world.untilEnded(1);
    expect(world.tokens(1)).toEqual([0, 1, 2, 3, 4]);
    expect(world.kinds(1)[0]).toBe('aggregated scheduled');
    expect(world.blocksInUse()).toBe(0);
  });

  it('time a request only by the step model when delivery took up to 20 ms', async () => {
    await world.host('aggregated');
    await world.wall.advance(100_000);
    const { causeUs } = await world.submit(1, {
      flow: 'local',
      causeUs: world.wall.nowUs() - 7_000,
    });
    await world.untilEnded(1);
    expect(tokenInstants(world, 1, causeUs)).toEqual(
      [0, 1, 2, 3, 4].map((i) => PROMPT_US + i * TOKEN_US),
    );
  });

  it('back-date a step by at most 20 ms', async () => {
    await world.host('aggregated');
    await world.wall.advance(100_000);
    const { causeUs } = await world.submit(1, {
      flow: 'local',
      causeUs: world.wall.nowUs() - 50_000,
    });
    await world.untilEnded(1);
    expect(tokenInstants(world, 1, causeUs)[0]).toBe(30_000 + PROMPT_US);
  });

  it('hide the time of hand-over messages inside the transfer', async () => {
    await world.host('prefill');
    await world.host('decode');
    await world.wall.advance(100_000);
    const { causeUs } = await world.submit(1);
    await world.untilEnded(1);
    const [heldUs] = instants(world, 1, 'scheduled').map((at) => at - causeUs);
    const [firstUs = 0, ...others] = tokenInstants(world, 1, causeUs);
    expect(heldUs).toBe(PROMPT_US);
    const firstStepUs = firstUs - PROMPT_US - TRANSFER_US;
    expect([PROMPT_US, TOKEN_US]).toContain(firstStepUs);
    expect(others).toEqual([1, 2, 3, 4].map((i) => firstUs + i * TOKEN_US));
  });

  it('keep their pace when the process is late, and re-anchor when it was stopped', async () => {
    const host = await world.host('aggregated');
    const { causeUs } = await world.submit(1, { flow: 'local', outputTokens: 300 });
    await world.wall.advance(1_000_000);
    world.wall.skip(35_000);
    await world.wall.advance(500_000);
    const late = tokenInstants(world, 1, causeUs);
    expect(late.every((at, i) => at === PROMPT_US + i * TOKEN_US)).toBe(true);
    world.wall.skip(3_000_000);
    await world.untilEnded(1);
    const all = tokenInstants(world, 1, causeUs);
    const gaps = all.slice(1).map((at, i) => at - (all[i] ?? 0));
    expect(gaps.filter((gap) => gap !== TOKEN_US)).toHaveLength(1);
    expect(host.presence().counters['clock_reanchors']).toBe(1);
  });

  it('run faster than the wall clock by speedup', async () => {
    await world.host('aggregated', { speedup: 4 });
    const { causeUs } = await world.submit(1, { flow: 'local' });
    await world.untilEnded(1);
    expect(tokenInstants(world, 1, causeUs)).toEqual(
      [0, 1, 2, 3, 4].map((i) => (PROMPT_US + i * TOKEN_US) / 4),
    );
  });

  it('leave jobs in the queue that do not fit the next step', async () => {
    await world.host('prefill', { engine: { maxNumBatchedTokens: 64, maxNumSeqs: 8 } });
    const jobs = Array.from({ length: 30 }, (_none, i) => world.job(i + 1));
    await world.api.jobs.add('prefill', jobs);
    await world.wall.advance(1_000);
    expect(await world.api.jobs.waiting('prefill')).toBeGreaterThan(20);
  });

  it('publish one frame per step for all sequences of an API', async () => {
    await world.host('aggregated');
    await Promise.all([1, 2, 3].map((id) => world.submit(id, { flow: 'local' })));
    await world.untilEnded(1, 2, 3);
    const at = (id: number): number[] => world.of(id).map(({ stepEndUs }) => stepEndUs);
    expect(at(2)).toEqual(at(1));
    expect(at(3)).toEqual(at(1));
  });

  it('refuse in the stream a request that no engine can hold', async () => {
    await world.host('aggregated', { engine: { numBlocks: 4 } });
    await world.submit(1, { flow: 'local', promptTokens: 100 });
    await world.wall.advance(1_000);
    expect(world.ended(1)).toMatchObject({ reason: 'error', tail: '"kv_capacity_exceeded"' });
  });

  it('end requests with too little cached without a token, and held ones as usual', async () => {
    const host = await world.host('aggregated', { engine: { globalCacheHitThreshold: 0.5 } });
    await world.submit(1, { flow: 'local', engineParameters: { cacheHitThreshold: 0 } });
    await world.untilEnded(1);
    await world.submit(2, { flow: 'local' });
    await world.submit(3, { flow: 'local', blockHashes: [1_001, 1_002] });
    await world.untilEnded(2, 3);
    expect(world.kinds(2)).toEqual(['aggregated end']);
    expect(world.ended(2)).toMatchObject({ reason: 'cache_threshold', first: 0, count: 0 });
    expect(world.tokens(3)).toEqual([0, 1, 2, 3, 4]);
    expect(host.presence().gauges).toMatchObject({ running: 0, waitingCapacity: 0, kvUsage: 0 });
    const [view] = await world.api.ledger.inspect(['request-2-0']);
    expect(view?.result).toMatchObject({ reason: 'cache_threshold', tokens: 0 });
  });

  it('send all tokens of a burst in one entry, and count drafts as vLLM does', async () => {
    const speculation = { tokens: 3, acceptanceRate: 1 };
    const host = await world.host('aggregated', { engine: { speculation } });
    const { causeUs } = await world.submit(1, { flow: 'local', outputTokens: 11 });
    await world.untilEnded(1);
    const said = world.of(1).filter(({ kind }) => kind !== 'scheduled');
    expect(said.map(({ kind, first, count }) => [kind, first, count])).toEqual([
      ['tokens', 0, 1],
      ['tokens', 1, 4],
      ['tokens', 5, 4],
      ['end', 11, 2],
    ]);
    expect(tokenInstants(world, 1, causeUs)).toEqual(
      [0, 1, 2, 3].map((step) => PROMPT_US + step * TOKEN_US),
    );
    expect(host.presence().counters).toMatchObject({
      generation_tokens: 11,
      spec_decode_num_drafts: 3,
      spec_decode_num_draft_tokens: 9,
      spec_decode_num_accepted_tokens: 9,
      spec_decode_num_accepted_tokens_per_pos_2: 3,
    });
  });

  it('take work only after their start-up', async () => {
    const host = await world.host('aggregated', { host: { startupUs: 2_000_000 } });
    await world.submit(1, { flow: 'local' });
    await world.wall.advance(1_900_000);
    expect([host.state, world.kinds(1)]).toEqual(['starting', []]);
    await world.untilEnded(1);
    expect(host.state).toBe('ready');
    expect(world.tokens(1)).toHaveLength(5);
  });

  it('transfer only blocks that decode lacks', async () => {
    await world.host('prefill');
    const decode = await world.host('decode');
    for (const id of [1, 2]) {
      await world.submit(id, { blockHashes: [51, 52] });
      await world.untilEnded(id);
    }
    const bytes = decode.presence().histograms['nixl_bytes_transferred'];
    expect([bytes?.count, bytes?.sum]).toEqual([2, 3 * 16 + 16]);
    const [scheduled] = world
      .of(2)
      .filter(({ kind, stage }) => kind === 'scheduled' && stage === 'decode');
    expect(scheduled).toMatchObject({ extra: 32, count: 8 });
  });

  it('count their work for the scrape', async () => {
    const prefill = await world.host('prefill');
    const decode = await world.host('decode');
    await world.submit(1);
    await world.untilEnded(1);
    const of = (host: typeof decode): Readonly<Record<string, number>> => host.presence().counters;
    expect(of(prefill)['prompt_tokens_local_compute']).toBe(40);
    expect(of(decode)['prompt_tokens_external_kv_transfer']).toBe(40);
    expect(of(decode)['generation_tokens']).toBe(5);
    expect(decode.presence().histograms['nixl_xfer_time_seconds']).toMatchObject({
      count: 1,
      sum: TRANSFER_US / 1e6,
    });
    expect(decode.presence().histograms['intended_time_per_output_token_seconds']?.sum).toBe(
      TOKEN_US / 1e6,
    );
  });
});

/** Logical instants of the tokens of a sequence after its cause, in wall µs. */
function tokenInstants(world: World, streamId: number, causeUs: number): number[] {
  return [...instants(world, streamId, 'tokens'), ...instants(world, streamId, 'end')].map(
    (at) => at - causeUs,
  );
}

function instants(world: World, streamId: number, kind: string): number[] {
  return world
    .of(streamId)
    .filter((entry) => entry.kind === kind)
    .map(({ stepEndUs }) => stepEndUs);
}

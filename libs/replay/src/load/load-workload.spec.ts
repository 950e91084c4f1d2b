import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { UsageError } from '@baton/config';
import { describeWorkload, type Workload, type WorkloadDescription } from '@baton/workload';
import { afterAll, describe, expect, it } from 'vitest';
import { checkSource, type LoadedWorkload, loadWorkload, wantsTraceList } from './load-workload';
import type { WorkloadFlags } from './workload-flags';

const folder = mkdtempSync(join(tmpdir(), 'baton-workload-'));
afterAll(() => rmSync(folder, { recursive: true }));

const VIDUR = 'arrived_at,num_prefill_tokens,num_decode_tokens\n';

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const load = (flags: WorkloadFlags, seed = 1): Promise<LoadedWorkload> =>
  loadWorkload(flags, { seed, blockSize: 16 });
const workloadOf = async (flags: WorkloadFlags): Promise<Workload> => (await load(flags)).workload;
const descriptionOf = async (flags: WorkloadFlags): Promise<WorkloadDescription> =>
  describeWorkload(await workloadOf(flags));

/** Ten requests, one per second; two of them arrive at once. */
const tenRows = file(
  'ten.csv',
  `${VIDUR}${[0, 1, 2, 2, 4, 5, 6, 7, 8, 9].map((s) => `${s},${s + 1},3\n`).join('')}`,
);

describe('a trace', () => {
  it('keeps its arrivals by default', async () => {
    const { workload, notes, source } = await load({ trace: tenRows });
    expect(Array.from(workload.arrivalUs)).toEqual(
      [0, 1, 2, 2, 4, 5, 6, 7, 8, 9].map((s) => s * 1e6),
    );
    expect(notes).toEqual([]);
    expect(source).toEqual({ kind: 'trace', name: tenRows, format: 'vidur' });
  });

  it('is the same packed, by name or with a detected format', async () => {
    const plain = await workloadOf({ trace: tenRows });
    const content = `${VIDUR}${Array.from(
      plain.arrivalUs,
      (us, i) => `${us / 1e6},${plain.promptTokens[i]},3\n`,
    ).join('')}`;
    const packed = file('ten.csv.gz', gzipSync(content));
    expect(await workloadOf({ trace: packed })).toEqual(plain);
    expect(await workloadOf({ trace: packed, traceFormat: 'vidur' })).toEqual(plain);
  });

  it('has the lengths of the flags where the log has none, and says so', async () => {
    const line = '127.0.0.1:5 - "POST /v1/chat/completions HTTP/1.1" 200 OK';
    const times = ['05,000', '06,500'].map((second) => `2026-01-02 03:04:${second} INFO ${line}\n`);
    const trace = file('access.log', times.join(''));
    const flags = { randomInputLen: '2000', randomOutputLen: '300' };
    const { workload, notes } = await load({ trace, ...flags });
    expect([...workload.arrivalUs]).toEqual([0, 1_500_000]);
    expect([...workload.promptTokens, ...workload.outputTokens]).toEqual([2000, 2000, 300, 300]);
    expect(notes).toEqual([
      'Lengths are assumed, because the access log has none: prompts of 2000 and outputs of 300 ' +
        'tokens on average. Change them with --random-input-len and --random-output-len.',
    ]);
    await expect(load({ trace: tenRows, ...flags })).rejects.toThrow(
      '--random-input-len has no effect on a trace of the format vidur.',
    );
  });

  it('is cut by number of requests and by time', async () => {
    expect((await workloadOf({ trace: tenRows, limit: '4' })).count).toBe(4);
    expect((await workloadOf({ trace: tenRows, numPrompts: '4' })).count).toBe(4);
    expect((await workloadOf({ trace: tenRows, numPrompts: '400' })).count).toBe(10);
    expect((await workloadOf({ trace: tenRows, duration: '2' })).count).toBe(2);
    expect((await workloadOf({ trace: tenRows, duration: '2', rateScale: '2' })).count).toBe(4);
  });

  it('is scaled, to a factor or to a rate', async () => {
    expect((await workloadOf({ trace: tenRows, rateScale: '2' })).arrivalUs.at(-1)).toBe(4_500_000);
    const flags = { trace: tenRows, arrivals: 'trace', requestRate: '0.5' };
    expect((await workloadOf(flags)).arrivalUs.at(-1)).toBe(18_000_000);
    expect(
      Array.from((await workloadOf({ trace: tenRows, requestRate: 'inf' })).arrivalUs),
    ).toEqual(new Array<number>(10).fill(0));
  });

  it('gets new arrivals at its own rate or a given one', async () => {
    const constant = await workloadOf({ trace: tenRows, arrivals: 'constant', requestRate: '4' });
    expect(constant.arrivalUs.at(-1)).toBe(2_250_000);
    const own = await workloadOf({ trace: tenRows, arrivals: 'poisson' });
    expect(own.arrivalUs.at(-1)).toBe(10_000_000);
    expect(own.promptTokens).toEqual((await workloadOf({ trace: tenRows })).promptTokens);
    const bursty = await workloadOf({ trace: tenRows, requestRate: '1', burstiness: '0.3' });
    expect(bursty.arrivalUs).not.toEqual(own.arrivalUs);
    const ramp = { rampUpStartRps: '1', rampUpEndRps: '10', rampUpStrategy: 'exponential' };
    expect((await workloadOf({ trace: tenRows, ...ramp })).arrivalUs.at(-1)).toBeLessThan(10e6);
  });

  it('with a coarse clock gets a note, and is spread on demand', async () => {
    const asIs = await load({ trace: 'mooncake-conversation' });
    expect(asIs.notes).toEqual([
      expect.stringMatching(/one arrival time.*--arrivals spread.*: 28\.$/),
    ]);
    const spread = await load({ trace: 'mooncake-conversation', arrivals: 'spread' });
    expect(spread.notes).toEqual([]);
    const { mostAtOneInstant, ratePerSecond, durationSeconds } = describeWorkload(spread.workload);
    expect(mostAtOneInstant).toBe(1);
    expect(durationSeconds).toBeLessThan(3_540);
    expect(ratePerSecond).toBeCloseTo(3.4, 1);
  });

  it('reports corrections of its rows', async () => {
    const odd = file('odd.csv', `${VIDUR}5,0,1\n1,1,0\n`);
    expect((await load({ trace: odd })).notes).toEqual([
      expect.stringMatching(/without prompt tokens.*: 1\.$/),
      expect.stringMatching(/without output tokens.*: 1\.$/),
      expect.stringMatching(/out of order.*: 1\.$/),
    ]);
  });

  it.each([
    ['with a header alone', () => ({ trace: file('header.csv', VIDUR) }), /header.csv has no req/],
    ['without a byte', () => ({ trace: file('empty', '') }), /empty has no requests\.$/],
    ['of which none is read', () => ({ trace: tenRows, limit: '0' }), /^--limit 0 leaves no req/],
    ['cut to nothing', () => ({ trace: tenRows, numPrompts: '0' }), /^--num-prompts 0 leaves no/],
  ])('%s is refused', async (_what, flags, sentence) => {
    await expect(workloadOf(flags())).rejects.toThrow(sentence);
  });

  it('without requests is valid while it grows', async () => {
    const { workload } = await loadWorkload(
      { trace: file('empty', '') },
      { seed: 1, blockSize: 16, isGrowing: true },
    );
    expect(workload.count).toBe(0);
  });

  it('has its contents in blocks of the engine’s size', async () => {
    const flags = { trace: 'mooncake-synthetic', limit: '50' };
    for (const blockSize of [16, 64, 512]) {
      const { workload } = await loadWorkload(flags, { seed: 1, blockSize });
      expect(workload.contentBlockTokens).toBe(blockSize);
    }
    await expect(loadWorkload(flags, { seed: 1, blockSize: 48 })).rejects.toThrow(UsageError);
  });

  it('may have hash ids for other blocks', async () => {
    const row = { timestamp: 0, input_length: 128, output_length: 1, hash_ids: [1, 2] };
    const trace = file('blocks.jsonl', JSON.stringify(row));
    expect((await workloadOf({ trace, traceBlockSize: '64' })).contentIds.length).toBe(8);
  });
});

describe('a dataset', () => {
  it('has exact lengths and all requests at once, as in vllm bench serve', async () => {
    const { workload, notes } = await load({ dataset: 'random' });
    const { requests, mostAtOneInstant, promptTokens, outputTokens } = describeWorkload(workload);
    expect([requests, mostAtOneInstant]).toEqual([1000, 1000]);
    expect([promptTokens.max, outputTokens.max]).toEqual([1024, 128]);
    expect(notes).toEqual([expect.stringContaining('at once')]);
  });

  it('has lengths around their means', async () => {
    const flags = { dataset: 'random', randomInputLen: '100', randomRangeRatio: '0.5' };
    const workload = await workloadOf(flags);
    expect(Math.min(...workload.promptTokens)).toBe(50);
    expect(Math.max(...workload.promptTokens)).toBe(150);
    const wide = await descriptionOf({ dataset: 'random', lengthSigma: '1', numPrompts: '20000' });
    expect(Math.abs(wide.promptTokens.mean / 1024 - 1)).toBeLessThan(0.05);
    expect(wide.promptTokens.p50 / 1024).toBeCloseTo(Math.exp(-0.5), 1);
  });

  it('arrives as the flags set', async () => {
    const flags = { dataset: 'random', numPrompts: '200', requestRate: '10' };
    expect((await workloadOf(flags)).arrivalUs.at(-1)).toBe(20_000_000);
    const timed = await descriptionOf({ ...flags, burstiness: 'inf' });
    expect(timed.ratePerSecond).toBeCloseTo(10, 5);
    const byTime = { dataset: 'random', duration: '30', requestRate: '10', arrivals: 'constant' };
    expect((await workloadOf(byTime)).count).toBe(300);
    expect((await workloadOf({ ...byTime, rateScale: '2' })).count).toBe(600);
  });

  it('shares prefixes of a fixed length, or a part of each prompt', async () => {
    const fixed = await workloadOf({ dataset: 'prefix_repetition', numPrompts: '500' });
    expect(new Set(fixed.promptTokens)).toEqual(new Set([512]));
    expect(fixed.contentCount).toBe(10 * 16);
    const flags = { dataset: 'shared-prefix', numPrompts: '500', prefixShare: '0.5' };
    expect((await descriptionOf(flags)).reusableShare).toBeCloseTo(0.49, 2);
    expect((await descriptionOf({ ...flags, prefixZipf: '3' })).reusableShare).toBeGreaterThan(
      0.49,
    );
    const one = await workloadOf({ dataset: 'random', randomPrefixLen: '32', numPrompts: '9' });
    expect([one.promptTokens[0], one.contentCount]).toEqual([1056, 2]);
  });

  it('has conversations', async () => {
    const flags = { dataset: 'multi-turn', numPrompts: '300', requestRate: '2' };
    const { requests, laterTurns, reusableShare } = await descriptionOf({
      ...flags,
      multiTurnTurns: '2-6',
      multiTurnThinkTime: '1.5',
      randomPrefixLen: '500',
    });
    expect(requests).toBe(300);
    expect(laterTurns).toBeGreaterThan(200);
    expect(reusableShare).toBeGreaterThan(0.5);
    const byTime = {
      dataset: 'multi-turn',
      duration: '10',
      requestRate: '2',
      arrivals: 'constant',
    };
    expect(await descriptionOf(byTime)).toMatchObject({ requests: 80, laterTurns: 60 });
    const context = { seed: 1, blockSize: 16, maxModelLen: 3_000 };
    const { workload } = await loadWorkload(flags, context);
    expect(Math.max(...workload.promptTokens)).toBeLessThan(3_000);
  });

  it('is equal for equal seeds, and different for others', async () => {
    const flags = {
      dataset: 'shared-prefix',
      lengthSigma: '1',
      requestRate: '5',
      prefixShare: '0.5',
    };
    expect(await load(flags, 3)).toEqual(await load(flags, 3));
    expect(await load(flags, 3)).not.toEqual(await load(flags, 4));
  });
});

describe('wrong usage', () => {
  const broken = file('broken.csv', `${VIDUR}0,1,1\n1,-1,1\n`);
  it.each<[WorkloadFlags, RegExp]>([
    [{}, /--trace NAME\|FILE, or --dataset/],
    [{ dataset: 'trace' }, /--trace NAME\|FILE/],
    [{ trace: tenRows, dataset: 'random' }, /exclude each other/],
    [{ dataset: 'sonnet' }, /--dataset must be one of/],
    [{ trace: 'mooncake-conversations' }, /did you mean 'mooncake-conversation'/],
    [{ trace: '/nowhere/x.csv' }, /neither a file nor a shipped trace \(mooncake/],
    [{ trace: broken }, /broken\.csv:3: num_prefill_tokens "-1" is not a whole number/],
    [{ trace: tenRows, traceFormat: 'azure' }, /ten\.csv:1: the header .* lacks TIMESTAMP/],
    [{ trace: tenRows, traceFormat: 'csv' }, /--trace-format must be one of azure/],
    [{ trace: tenRows, traceBlockSize: '16' }, /no effect on the format vidur/],
    [{ trace: tenRows, randomInputLen: '16' }, /--random-input-len has no effect on a trace/],
    [{ trace: tenRows, limit: '1.5' }, /--limit must be a whole number from 0/],
    [{ trace: tenRows, rateScale: '0' }, /--rate-scale must be a number above 0/],
    [{ trace: tenRows, requestRate: 'fast' }, /--request-rate must be a number above 0 or inf/],
    [{ trace: tenRows, arrivals: 'trace', burstiness: '2' }, /--burstiness has no effect beside/],
    [{ trace: tenRows, arrivals: 'poisson', rampUpEndRps: '2' }, /--ramp-up-end-rps has no effect/],
    [{ trace: tenRows, arrivals: 'ramp' }, /needs --ramp-up-start-rps and/],
    [{ trace: tenRows, limit: '4', arrivals: 'sometimes' }, /--arrivals must be one of/],
    [{ dataset: 'random', limit: '4' }, /--limit has no effect on the dataset random/],
    [{ dataset: 'random', arrivals: 'spread' }, /needs --trace/],
    [{ dataset: 'random', arrivals: 'poisson' }, /add --request-rate/],
    [
      { dataset: 'random', rampUpStartRps: '1', rampUpEndRps: '2', requestRate: '1' },
      /beside a ramp/,
    ],
    [{ dataset: 'random', randomRangeRatio: '1' }, /from 0 to below 1/],
    [{ dataset: 'random', randomRangeRatio: '0.1', lengthSigma: '1' }, /exclude each other/],
    [{ dataset: 'random', duration: '1e9', requestRate: '1e9' }, /more than 100000000 requests/],
    [{ dataset: 'shared-prefix', prefixShare: '2' }, /from 0 to 1/],
    [{ dataset: 'shared-prefix', prefixShare: '1', prefixRepetitionPrefixLen: '1' }, /exclude/],
    [
      { dataset: 'shared-prefix', randomInputLen: '1', prefixRepetitionSuffixLen: '1' },
      /Remove one/,
    ],
    [
      { dataset: 'shared-prefix', numPrompts: '100', randomInputLen: '1e9', prefixShare: '1' },
      /more than the limit of 2147483647/,
    ],
    [{ dataset: 'multi-turn', multiTurnTurns: '6-2' }, /a range such as 2-6/],
  ])('%j is refused in one sentence', async (flags, sentence) => {
    const attempt = load(flags);
    await expect(attempt).rejects.toThrow(UsageError);
    await expect(attempt).rejects.toThrow(sentence);
  });

  it('is a rate for requests that all arrive at one instant', async () => {
    const trace = file('one-instant.csv', `${VIDUR}3,1,1\n3,2,1\n`);
    const flags = { trace, arrivals: 'trace', requestRate: '5' };
    await expect(load(flags)).rejects.toThrow(/one instant: add --arrivals poisson/);
    expect((await workloadOf({ trace, arrivals: 'poisson' })).arrivalUs.at(-1)).toBe(0);
  });
});

describe('--trace list', () => {
  it('is detected before any file is read', async () => {
    expect(wantsTraceList({ trace: 'list' })).toBe(true);
    expect(wantsTraceList({ trace: tenRows })).toBe(false);
    await expect(load({ trace: 'list' })).rejects.toThrow(/mooncake-conversation/);
  });
});

describe('flags that are checked before a server is asked', () => {
  const dialogue = file('dialogue.json', '[]');

  it.each<[string, WorkloadFlags]>([
    ['--num-prompts must be a whole number', { dataset: 'random', numPrompts: 'x' }],
    ['--random-input-len must be', { dataset: 'random', randomInputLen: '0' }],
    ['--request-rate must be a number above 0 or inf', { dataset: 'random', requestRate: '-1' }],
    ['--duration must be', { dataset: 'random', duration: 'x' }],
    ['--prefix-zipf must be', { dataset: 'shared-prefix', prefixZipf: 'x' }],
    ['--multi-turn-turns must be', { dataset: 'multi-turn', multiTurnTurns: '0' }],
    ['--sharegpt-output-', { dataset: 'sharegpt', datasetFile: dialogue, sharegptOutputLen: '0' }],
    ['--num-prompts must be', { dataset: 'sharegpt', datasetFile: dialogue, numPrompts: 'x' }],
    ['--limit must be', { trace: tenRows, limit: 'x' }],
    ['--num-prompts must be', { trace: tenRows, numPrompts: 'x' }],
    ['--rate-scale must be', { trace: tenRows, rateScale: '0' }],
    ['--request-rate must be', { trace: tenRows, requestRate: 'x' }],
    ['--tenant-mix must be', { trace: tenRows, tenantMix: 'a' }],
  ])('refuse wrong values: %s', (message, flags) => {
    expect(() => checkSource(flags)).toThrow(message);
  });

  it.each<WorkloadFlags>([
    { dataset: 'random', requestRate: '5', duration: '10', randomPrefixLen: '5' },
    { dataset: 'shared-prefix', prefixZipf: '1.1', sloMix: 'chat=1' },
    { dataset: 'multi-turn', multiTurnTurns: '2-6', requestRate: '1' },
    { dataset: 'sharegpt', datasetFile: dialogue },
    { trace: tenRows, arrivals: 'poisson', limit: '4' },
    { trace: 'list' },
  ])('may be those of case %#', (flags) => {
    expect(() => checkSource(flags)).not.toThrow();
  });
});

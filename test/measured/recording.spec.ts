import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Comparison } from '@baton/analysis';
import { RandomStream } from '@baton/kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stream } from '../support/client';
import { TestCluster } from '../support/cluster';
import { untilNotVoid } from '../support/on-time';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));
const REQUESTS = 80;
const SECONDS = 12;
const TOKENS = 30;
/** Long steps: the delay of a busy machine is a small part of them. */
const STEPS = ['--step-time=constant', '--time-to-first-token=100', '--inter-token-latency=25'];

const folder = mkdtempSync(join(tmpdir(), 'baton-recording-'));
const record = join(folder, 'run.jsonl');
const steps = join(folder, 'steps.jsonl');

interface Replayed {
  readonly requests: number;
  readonly completed: number;
  readonly output_tokens: number;
  readonly config: Readonly<Record<string, unknown>>;
  readonly comparison: Comparison;
  readonly prefix_hit_rate: number;
}

async function baton<T>(...args: string[]): Promise<T> {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [BATON, ...args, '--json'], {
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(stdout) as T;
}

/** Requests at random instants, every second one with a common prefix. */
async function load(cluster: TestCluster): Promise<void> {
  const random = RandomStream.root(1).stream('recording');
  const startMs = performance.now();
  const answers = await Promise.all(
    Array.from({ length: REQUESTS }, async (_none, i) => {
      const atMs = random.unit() * SECONDS * 1_000;
      const [first, length] = [i % 2 === 0 ? 5_000 : 9_000 + 700 * i, 64 + random.integer(400)];
      await pause(atMs - (performance.now() - startMs));
      return stream(`${cluster.baseUrl}/v1/completions`, {
        prompt: Array.from({ length }, (_each, k) => first + k),
        max_tokens: TOKENS,
        ignore_eos: true,
      });
    }),
  );
  expect(answers.map(({ finishReason }) => finishReason)).toEqual(Array(REQUESTS).fill('length'));
}

describe('a cluster that records its run', () => {
  async function makeRecording(): Promise<void> {
    for (const path of [record, steps]) rmSync(path, { force: true });
    const flags = [...STEPS, '--record', record, '--log-steps', steps];
    const cluster = await TestCluster.start({ topology: '2P2D', flags });
    try {
      await load(cluster);
    } finally {
      await cluster.stop();
    }
  }

  beforeAll(makeRecording);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('leaves two files', () => {
    expect(readdirSync(folder).sort()).toEqual(['run.jsonl', 'steps.jsonl']);
  });

  it('is replayed from its recording, with its configuration, and compared', async () => {
    const { comparison, config, ...replayed } = await baton<Replayed>('replay', '--trace', record);
    expect(replayed).toMatchObject({
      requests: REQUESTS,
      completed: REQUESTS,
      output_tokens: REQUESTS * TOKENS,
    });
    expect(replayed.prefix_hit_rate).toBeGreaterThan(0.2);
    expect(config).toMatchObject({
      topology: '2P2D',
      step_time: 'constant',
      time_to_first_token: 100,
      inter_token_latency: 25,
      workload: { source: 'baton', requests: REQUESTS },
    });
    expect(comparison).toMatchObject({ requests: REQUESTS, recorded_only: 0, simulated_only: 0 });
    // Engines take 100 ms a prompt and 25 ms a token on any machine. A busy machine only adds
    // delay.
    expect(comparison.ttft_ms.stamped?.p50).toBeGreaterThanOrEqual(125);
    expect(comparison.ttft_ms.recorded.mean).toBeGreaterThanOrEqual(
      comparison.ttft_ms.stamped?.mean ?? 0,
    );
    expect(comparison.tpot_ms.stamped?.mean).toBeCloseTo(25, 0);
    expect(comparison.tpot_ms.simulated.mean).toBeCloseTo(25, 1);
  });

  it('measured the times of its replay', async () => {
    let isFirst = true;
    await untilNotVoid(async () => {
      if (!isFirst) await makeRecording();
      isFirst = false;
      const { comparison } = await baton<Replayed>('replay', '--trace', record);
      const check = (): void => {
        // Of a TTFT of some 130 ms. Each job and message may take a few ms.
        expect(Math.abs(comparison.ttft_ms.error_percent.mean ?? 100)).toBeLessThan(50);
        expect(Math.abs(comparison.tpot_ms.error_percent.mean ?? 100)).toBeLessThan(5);
        expect(Math.abs(comparison.request_rps.error_percent ?? 100)).toBeLessThan(5);
      };
      return { check, void: comparison.kept_up ? null : 'the cluster did not keep up' };
    });
  });

  it('is replayed with each request on its recorded engines', async () => {
    const flags = ['--trace', record, '--placement', 'recorded'];
    const { comparison, config } = await baton<Replayed>('replay', ...flags);
    expect(config['placement']).toBe('recorded');
    expect(comparison.requests).toBe(REQUESTS);
  });

  it('gives step times from which calibration finds the configured ones', async () => {
    const { fitted } = await baton<{
      fitted: readonly { phase: string; mean_error_percent: number }[];
    }>('calibrate', '--input', steps);
    // A busy machine can be so late that decode computes a prompt: a mixed step.
    const phases = fitted.map(({ phase }) => phase);
    expect(phases).toEqual(expect.arrayContaining(['prefill', 'decode']));
    for (const { mean_error_percent } of fitted) expect(mean_error_percent).toBeLessThan(0.1);
  });
});

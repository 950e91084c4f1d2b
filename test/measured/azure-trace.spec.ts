import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { mean } from '@baton/kernel';
import { readTrace } from '@baton/workload';
import { describe, expect, it } from 'vitest';
import { type StreamedAnswer, stream } from '../support/client';
import { TestCluster } from '../support/cluster';
import { type TimedRun, untilNotVoid } from '../support/on-time';

const TRACE = fileURLToPath(
  new URL('../../data/traces/AzureLLMInferenceTrace_conv.csv', import.meta.url),
);
const REQUESTS = 200;
/**
 * Upper limit for the mean delay of a token from the end of its step to the socket, simulated ms.
 */
const MOST_LATE_MS = 4;

describe('the first 200 requests of the Azure 2023 conversation trace', () => {
  it('all finish with their length, at the intended pace per token', () => {
    // The run is repeated, at last at a lower speed-up, where the machine delays it.
    const speedups = [4, 4, 2];
    return untilNotVoid(async () => {
      const speedup = speedups.shift() ?? 1;
      const cluster = await TestCluster.start({
        topology: '2P2D',
        flags: [`--speedup=${speedup}`],
      });
      try {
        return await replayOn(cluster, speedup);
      } finally {
        await cluster.stop();
      }
    });
  });
});

async function replayOn(cluster: TestCluster, speedup: number): Promise<TimedRun> {
  const rows = firstRequests(REQUESTS);
  const tpot = await meanSince(cluster, 'baton:intended_time_per_output_token_seconds');
  const delay = await meanSince(cluster, 'baton:frame_delay_seconds');
  const startMs = performance.now();
  const answers = await Promise.all(
    rows.map(async (row) => {
      await pause(row.arrivalUs / 1000 / speedup - (performance.now() - startMs));
      return stream(`${cluster.baseUrl}/v1/completions`, {
        prompt: promptOf(row),
        max_tokens: row.outputTokens,
        ignore_eos: true,
        stream_options: { include_usage: true },
      });
    }),
  );
  expect(answers.map((answer) => answer.usage?.completion_tokens)).toEqual(
    rows.map((row) => row.outputTokens),
  );
  const intended = await tpot();
  expect(intended).toBeGreaterThan(1);
  await cluster.untilAtRest();
  const off = Math.abs(meanTpotMs(answers) * speedup - intended) / intended;
  const lateMs = (await delay()) * speedup;
  return {
    check: () => expect(off).toBeLessThan(0.02),
    void: lateMs > MOST_LATE_MS ? `the mean token left ${lateMs.toFixed(1)} ms late` : null,
  };
}

interface TraceRequest {
  readonly arrivalUs: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

function firstRequests(count: number): TraceRequest[] {
  const lines = readFileSync(TRACE, 'utf8').split('\n');
  const { workload } = readTrace(lines, { file: TRACE, limit: count });
  return Array.from({ length: workload.count }, (_none, row) => ({
    arrivalUs: workload.arrivalUs[row] ?? 0,
    promptTokens: workload.promptTokens[row] ?? 0,
    outputTokens: workload.outputTokens[row] ?? 0,
  }));
}

/** A prompt of this many token ids. It differs for every request. */
function promptOf({ promptTokens, arrivalUs }: TraceRequest): number[] {
  return Array.from({ length: promptTokens }, (_none, i) => 1000 + ((i * 7919 + arrivalUs) % 9000));
}

/**
 * Mean over the requests of the time per output token after the first, in wall ms, as measured by
 * the client.
 */
function meanTpotMs(answers: readonly StreamedAnswer[]): number {
  const perRequest = answers.flatMap(({ tokenTimesMs, usage }) => {
    const tokens = usage?.completion_tokens ?? 0;
    if (tokens < 2) return [];
    return [((tokenTimesMs.at(-1) ?? 0) - (tokenTimesMs[0] ?? 0)) / (tokens - 1)];
  });
  return mean(perRequest);
}

/**
 * Starts to observe a histogram of the API. The returned function gives the mean of the values
 * counted since then, in ms.
 */
async function meanSince(cluster: TestCluster, family: string): Promise<() => Promise<number>> {
  const read = async () => {
    const text = await (await fetch(`${cluster.baseUrl}/metrics`)).text();
    return { sum: total(text, `${family}_sum`), count: total(text, `${family}_count`) };
  };
  const before = await read();
  return async () => {
    const { sum, count } = await read();
    return (1000 * (sum - before.sum)) / (count - before.count);
  };
}

function total(exposition: string, series: string): number {
  return exposition
    .split('\n')
    .filter((line) => line.startsWith(`${series}{`) || line.startsWith(`${series} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

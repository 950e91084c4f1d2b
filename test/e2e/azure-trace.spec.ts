import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StreamedAnswer, stream } from '../support/client';
import { TestCluster } from '../support/cluster';

const TRACE = fileURLToPath(
  new URL('../../data/traces/azure-llm-2023/AzureLLMInferenceTrace_conv.csv', import.meta.url),
);
const REQUESTS = 200;
const SPEEDUP = 4;

interface TraceRow {
  readonly atMs: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

describe('the first 200 requests of the Azure 2023 conversation trace at speed-up 4', () => {
  let cluster: TestCluster;

  beforeAll(async () => {
    cluster = await TestCluster.start({ topology: '2P2D', flags: [`--speedup=${SPEEDUP}`] });
  });

  afterAll(() => cluster?.stop());

  it(
    'all finish with their length, at the intended pace per token',
    { timeout: 180_000 },
    async () => {
      const rows = await firstRows(REQUESTS);
      const startMs = performance.now();
      const answers = await Promise.all(
        rows.map(async (row) => {
          await pause(row.atMs / SPEEDUP - (performance.now() - startMs));
          return stream(`${cluster.baseUrl}/v1/completions`, {
            prompt: Array.from(
              { length: row.promptTokens },
              (_, i) => 1000 + (((i * 7919 + row.atMs) % 9000) | 0),
            ),
            max_tokens: row.outputTokens,
            ignore_eos: true,
            stream_options: { include_usage: true },
          });
        }),
      );
      expect(answers.map((answer) => answer.usage?.completion_tokens)).toEqual(
        rows.map((row) => row.outputTokens),
      );
      const intended = await intendedItlMs(cluster);
      expect(intended).toBeGreaterThan(1);
      expect(Math.abs(meanItlMs(answers) * SPEEDUP - intended) / intended).toBeLessThan(0.02);
      await cluster.untilAtRest();
    },
  );
});

async function firstRows(count: number): Promise<TraceRow[]> {
  const rows: TraceRow[] = [];
  let firstMs: number | undefined;
  for await (const line of createInterface({ input: createReadStream(TRACE) })) {
    const [stamp = '', prompt = '', output = ''] = line.split(',');
    const ms = Date.parse(`${stamp.slice(0, 23).replace(' ', 'T')}Z`);
    if (Number.isNaN(ms)) continue;
    firstMs ??= ms;
    rows.push({ atMs: ms - firstMs, promptTokens: Number(prompt), outputTokens: Number(output) });
    if (rows.length === count) break;
  }
  return rows;
}

/** Wall time between tokens as the client saw it, over all tokens. */
function meanItlMs(answers: readonly StreamedAnswer[]): number {
  let gaps = 0;
  let spanMs = 0;
  for (const { tokenTimesMs, usage } of answers) {
    const tokens = usage?.completion_tokens ?? 0;
    if (tokens < 2) continue;
    gaps += tokens - 1;
    spanMs += (tokenTimesMs.at(-1) ?? 0) - (tokenTimesMs[0] ?? 0);
  }
  return spanMs / gaps;
}

/** Simulated time between tokens as the engines stamped it. */
async function intendedItlMs(cluster: TestCluster): Promise<number> {
  const text = await (await fetch(`${cluster.baseUrl}/metrics`)).text();
  return (
    (1000 * total(text, 'vllm:inter_token_latency_seconds_sum')) /
    total(text, 'vllm:inter_token_latency_seconds_count')
  );
}

function total(exposition: string, series: string): number {
  return exposition
    .split('\n')
    .filter((line) => line.startsWith(`${series}{`))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type StreamedAnswer, stream } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { type Pulses, Starvation } from '../support/starvation';

/**
 * `npm run test:starvation` runs the long form: every case, for a minute each. Only the long form
 * has busy loops, because they take the processor from all processes of the machine.
 */
const IS_LONG = process.env['TEST_STARVATION'] === 'long';
const STREAMS = IS_LONG ? 500 : 40;
const STARVED_MS = IS_LONG ? 60_000 : 8_000;
const LIMIT_MS = 600_000;

const BODY = { max_tokens: 40, ignore_eos: true };
const APART: Pulses = { onMs: 200, periodMs: 2_000, phase: 'apart' };
const TOGETHER: Pulses = { ...APART, phase: 'together' };

interface Case {
  readonly name: string;
  readonly pulses?: Pulses;
  readonly loops?: number;
}

const SHORT: readonly Case[] = [
  { name: 'one after another', pulses: APART },
  { name: 'all at once', pulses: TOGETHER },
];
const CASES: readonly Case[] = !IS_LONG
  ? SHORT
  : [
      ...SHORT,
      { name: 'beside eight busy loops', loops: 8 },
      { name: 'all at once, beside eight busy loops', pulses: TOGETHER, loops: 8 },
    ];

describe('a cluster whose processes are starved', () => {
  let cluster: TestCluster | undefined;
  let starvation: Starvation;
  /** The answers of an unharmed cluster, by prompt. */
  let texts: readonly string[];

  beforeAll(async () => {
    starvation = new Starvation();
    const calm = await start();
    texts = (await load(calm, 0)).map(({ text }) => text);
    await calm.stop();
    cluster = undefined;
    expect(new Set(texts).size).toBe(STREAMS);
  }, LIMIT_MS);

  afterEach(async () => {
    await starvation.end();
    await cluster?.stop();
    cluster = undefined;
  }, LIMIT_MS);

  async function start(): Promise<TestCluster> {
    cluster = await TestCluster.start({ topology: '2P2D', flags: [...PLAIN_STEPS] });
    return cluster;
  }

  async function pidsOf(target: TestCluster): Promise<number[]> {
    const [prefill, decode] = [await target.pidsOf('prefill'), await target.pidsOf('decode')];
    return [...new Set([...prefill, ...decode, await target.apiPid(), target.supervisorPid])];
  }

  /** Sends the requests evenly over `spanMs`. */
  function load(target: TestCluster, spanMs: number): Promise<StreamedAnswer[]> {
    return Promise.all(
      Array.from({ length: STREAMS }, async (_, i) => {
        await pause((i * spanMs) / STREAMS);
        return untilTaken(target, { ...BODY, prompt: promptOf(i) });
      }),
    );
  }

  function summary(answers: readonly StreamedAnswer[]): Record<string, number> {
    const counts: Record<string, number> = { whole: 0 };
    for (const [i, { text, error, finishReason, endedWithDone }] of answers.entries()) {
      const isWhole = text === texts[i] && finishReason === 'length' && endedWithDone;
      const kind = isWhole ? 'whole' : String(error?.code ?? error?.message ?? 'other text');
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    return counts;
  }

  async function expectWhole(running: Promise<StreamedAnswer[]>): Promise<void> {
    await pause(STARVED_MS);
    await starvation.end();
    expect(summary(await running)).toEqual({ whole: STREAMS });
    await cluster?.untilAtRest();
  }

  it.each(CASES)(
    'streams every answer whole, $name',
    async ({ pulses, loops = 0 }) => {
      const target = await start();
      if (loops > 0) starvation.busyLoops(loops);
      if (pulses !== undefined) starvation.pulse(await pidsOf(target), pulses);
      await expectWhole(load(target, STARVED_MS / 2));
    },
    LIMIT_MS,
  );

  it.each(['prefill', 'decode'] as const)(
    'streams every answer whole when a %s worker is killed meanwhile',
    async (stage) => {
      const target = await start();
      const [victim = 0] = await target.pidsOf(stage);
      starvation.pulse(await pidsOf(target), APART);
      if (IS_LONG) starvation.busyLoops(8);
      const running = load(target, STARVED_MS / 2);
      await pause(STARVED_MS / 4);
      process.kill(victim, 'SIGKILL');
      await expectWhole(running);
    },
    LIMIT_MS,
  );
});

/** A client that obeys `Retry-After`. */
async function untilTaken(
  target: TestCluster,
  body: Readonly<Record<string, unknown>>,
): Promise<StreamedAnswer> {
  const url = `${target.baseUrl}/v1/completions`;
  for (;;) {
    const answer = await stream(url, body);
    if (answer.status !== 429 && answer.status !== 503) return answer;
    const { status, retryAfterMs } = answer;
    if (retryAfterMs === undefined) throw new Error(`a ${status} has no Retry-After`);
    await pause(retryAfterMs);
  }
}

function promptOf(index: number): string {
  return `Request number ${index} asks for a short story about runner ${index % 7}.`;
}

import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { median, quantile } from '@baton/kernel';
import { loadWorkload } from '@baton/replay';
import { benchOutput } from '../support/bench-output';
import { untilNotVoid } from '../support/on-time';
import { ReferenceServer, type Stamp } from '../support/reference-server';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));
const SHORT = [
  ...['--dataset', 'random', '--random-input-len', '12', '--random-output-len', '8'],
  ...['--num-warmups', '10'],
];
const TTFT_MS = 31;
const DELAYS = ['--extra-body', JSON.stringify({ reference: { ttft_ms: TTFT_MS, itl_ms: 9 } })];
/** Upper limit for the median lateness, in ms. A timer of an idle machine fires up to 1 ms late. */
const MOST_LATE_MS = 1.5;
/** As between two requests of the load. */
const PAUSE_MS = 12;

let server: ReferenceServer;
beforeAll(async () => {
  server = await ReferenceServer.start();
});
afterAll(() => server.stop());

interface Result {
  readonly median_ttft_ms: number;
  readonly median_itl_ms: number;
  readonly ttfts: number[];
  readonly itls: number[][];
  readonly start_times: number[];
  readonly load_generator: { readonly void: string | null };
}

let runs = 0;

async function bench(...args: string[]): Promise<{ result: Result; stamps: Stamp[] }> {
  const prefix = `spec${runs++}-`;
  const target = ['--base-url', server.origin, '--request-id-prefix', prefix];
  const stdout = await benchOutput([
    process.execPath,
    ...[BATON, 'bench', ...target, ...SHORT, ...args, '--json'],
  ]);
  const stamps = await server.stamps(prefix);
  return {
    result: JSON.parse(stdout) as Result,
    stamps: stamps.filter(({ id }) => !id.includes('warm-up')),
  };
}

function lowerQuartile(values: readonly number[]): number {
  return quantile(Float64Array.from(values).sort(), 0.25);
}

/**
 * The reason why the stamps are unreliable, or undefined: a machine that delays the server delays a
 * client too.
 */
function lateServer(stamps: readonly Stamp[]): string | null {
  const late = stamps.map(({ receivedMs, writtenMs }) => writtenMs[0]! - receivedMs - TTFT_MS);
  const half = median(late);
  return half > MOST_LATE_MS ? `half of the first tokens left ${half.toFixed(1)} ms late` : null;
}

/**
 * The time of an empty request to the server and its answer while `work` goes on, median, in ms.
 * The requests pause like those of the load: the processes sleep between them and must be woken.
 */
async function plainRoundTripMs(work: Promise<unknown>): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const tookMs: number[] = [];
  let isOver = false;
  const end = (): void => void (isOver = true);
  work.then(end, end);
  do {
    const startMs = performance.now();
    const [answer] = (await once(get(`${server.origin}/v1/models`, { agent }), 'response')) as [
      IncomingMessage,
    ];
    tookMs.push(performance.now() - startMs);
    answer.resume();
    await once(answer, 'end');
    await pause(PAUSE_MS);
  } while (!isOver);
  agent.destroy();
  return median(tookMs);
}

describe('baton bench', () => {
  it.each(['openai', 'openai-chat', 'responses'])(
    'reports TTFT and ITL of %s within 1 ms of the server’s stamps, or two plain round trips',
    (backend) =>
      untilNotVoid(async () => {
        const load = ['--num-prompts', '50', '--request-rate', '80', '--backend', backend];
        const running = bench(...load, ...DELAYS, '--save-detailed');
        const [plainMs, { result, stamps }] = await Promise.all([
          plainRoundTripMs(running),
          running,
        ]);
        const off = stamps.map(({ id, receivedMs, writtenMs }) => {
          const i = Number(id.split('-')[1]);
          const gaps = writtenMs.slice(1).map((ms, k) => ms - writtenMs[k]!);
          return {
            ttft: Math.abs(result.ttfts[i]! * 1e3 - (writtenMs[0]! - receivedMs)),
            itl: gaps.map((gap, k) => Math.abs(result.itls[i]![k]! * 1e3 - gap)),
          };
        });
        expect(result.median_ttft_ms).toBeCloseTo(1e3 * median(result.ttfts), 3);
        expect(result).toMatchObject({ completed: 50, failed: 0, total_output_tokens: 400 });
        // A busy machine takes longer for a plain request, and for one of the load as well.
        const mostMs = Math.max(1, 2 * plainMs);
        const itlOff = Math.abs(result.median_itl_ms / median(result.itls.flat()) / 1e3 - 1);
        const check = (): void => {
          expect(itlOff).toBeLessThan(0.01);
          expect(lowerQuartile(off.map(({ ttft }) => ttft))).toBeLessThan(mostMs);
          expect(lowerQuartile(off.flatMap(({ itl }) => itl))).toBeLessThan(mostMs);
        };
        return { check, void: result.load_generator.void ?? lateServer(stamps) };
      }),
  );

  it('sends at the instants of its workload', () =>
    untilNotVoid(async () => {
      const load = ['--num-prompts', '30', '--request-rate', '50', '--burstiness', '0.5'];
      const schedule = ['--seed', '3', '--save-detailed'];
      const { result } = await bench(...load, ...schedule);
      const { workload } = await loadWorkload(
        { dataset: 'random', numPrompts: '30', requestRate: '50', burstiness: '0.5' },
        { seed: 3, blockSize: 16 },
      );
      const late = result.start_times.map((s, i) => s * 1e3 - workload.arrivalUs[i]! / 1e3);
      expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
      const check = (): void => expect(lowerQuartile(late)).toBeLessThan(3);
      return { check, void: result.load_generator.void };
    }));
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { runProgram } from '../program';
import type { ShadowSummary } from './shadow';

const folder = mkdtempSync(join(tmpdir(), 'baton-shadow-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

async function baton(...args: string[]) {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => stdout.push(String(text)) > 0);
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => stderr.push(String(text)) > 0);
  const exitCode = await runProgram(args);
  return { exitCode, stdout: stdout.join(''), stderr: stderr.join('') };
}

/** Twenty prompts at once, and half a second later one more for the other engine. */
function logOf(name: string, endpointOf: (request: number) => object): string {
  const lines = Array.from({ length: 21 }, (_none, i) =>
    JSON.stringify({
      time: i < 20 ? 100 : 100.5,
      request_id: `r${i}`,
      prompt_tokens: 4_000,
      output_tokens: 4,
      ...endpointOf(i),
    }),
  );
  const path = join(folder, name);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

/** A router that sends a burst to one engine. */
const CROWDED = logOf('crowded.jsonl', (i) => ({ endpoint: i < 20 ? 'one' : 'two' }));

async function shadowed(log: string, topology: string, ...flags: string[]): Promise<ShadowSummary> {
  const { stdout } = await baton(
    'replay',
    '--trace',
    log,
    '--topology',
    topology,
    ...flags,
    '--json',
  );
  return (JSON.parse(stdout) as { shadow: ShadowSummary }).shadow;
}

describe('a policy in the shadow of a real router', () => {
  it('reports the engine of its choice, and the TTFT that it predicts there', async () => {
    const flags = ['--shadow', 'least-requests', '--out', folder];
    const shadow = await shadowed(CROWDED, '2A', ...flags);
    expect(shadow).toMatchObject({ policy: 'least-requests', decisions: 21 });
    const [one, two] = shadow.engines;
    expect([one?.recorded, two?.recorded]).toEqual([20, 1]);
    // The real decisions stay: the second engine is empty at every decision after the first.
    expect(two?.own).toBeGreaterThanOrEqual(19);
    expect(shadow.own_ttft_ms).toBeLessThan(shadow.recorded_ttft_ms! / 5);
    expect(shadow.gain_ms.p50).toBeGreaterThan(0);
    const rows = readFileSync(join(folder, 'shadow.csv'), 'utf8').trim().split('\n');
    expect(rows).toHaveLength(22);
    const [id, arrival, recorded, own, ...ms] = rows[20]!.split(',');
    expect([id, arrival, recorded, own]).toEqual(['r19', '0', 'aggregated-0', 'aggregated-1']);
    expect(Number(ms[2])).toBeCloseTo(Number(ms[0]) - Number(ms[1]), 2);
  });

  it('leaves the replay unchanged', async () => {
    const figures = async (...flags: string[]): Promise<unknown> => {
      const given = ['--trace', CROWDED, '--topology', '2A', ...flags, '--json'];
      const { stdout } = await baton('replay', ...given);
      return (JSON.parse(stdout) as { ttft_ms: unknown }).ttft_ms;
    };
    const recorded = await figures('--placement', 'recorded');
    expect(await figures('--shadow', 'random')).toEqual(recorded);
  });

  it('decides on prefill engines when the log has two endpoints', async () => {
    const split = logOf('split.jsonl', (i) => ({ endpoint: `p${i % 2}`, decode_endpoint: 'd' }));
    const { engines } = await shadowed(split, '2P1D', '--shadow', 'least-requests');
    expect(engines.map(({ engine }) => engine)).toEqual(['prefill-0', 'prefill-1']);
  });

  it.each([
    [['--shadow', 'pull'], '--shadow needs a policy that chooses engines, and pull does not.'],
    [
      ['--shadow', 'random', '--placement', 'random'],
      '--shadow and --placement exclude each other',
    ],
  ])('refuses %j', async (flags, complaint) => {
    const { exitCode, stderr } = await baton('replay', '--trace', CROWDED, ...flags);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(complaint)]);
  });
});

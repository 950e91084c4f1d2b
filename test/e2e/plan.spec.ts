import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));
const PLAN = ['plan', '--gpus', '4', '--tp', '1,2', '--slo', 'ttft=5s,tpot=50ms', '--json'];
const TRACE = ['--trace', 'mooncake-synthetic', '--arrivals', 'spread', '--limit', '150'];
/** Steps of many long prompts at once, beyond the range of all measurements. */
const UNMEASURED = [
  ...['--dataset', 'random', '--num-prompts', '200', '--random-input-len', '10000'],
  ...['--max-num-batched-tokens', '100000', '--refuse-extrapolation'],
];

interface Answer {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function plan(...flags: string[]): Promise<Answer> {
  const child = spawn(process.execPath, [BATON, ...PLAN, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (said[name] += text));
  }
  return new Promise((resolve) => child.on('close', (exitCode) => resolve({ exitCode, ...said })));
}

/**
 * The warnings by task. Each thread warns once of a limit, with the value of its first step beyond
 * it. Lines of progress appear in runs of ten seconds and more.
 */
function warningsOf({ stderr }: Answer): string[] {
  const lines = stderr
    .split('\n')
    .filter((line) => !/^baton: .* \d+ %, about/.test(line))
    .map((line) => line.replace(/: [\d,.]+ is outside/, ' is outside'));
  return [...new Set(lines)].sort();
}

describe('baton plan in worker threads', () => {
  it('gives the same result, byte for byte, for any number of threads', async () => {
    const one = await plan(...TRACE, '--threads', '1');
    expect(one.exitCode).toBe(0);
    expect(JSON.parse(one.stdout)).toMatchObject({ gpus: 4 });
    for (const threads of ['2', '3']) {
      const several = await plan(...TRACE, '--threads', threads);
      expect([several.exitCode, several.stdout]).toEqual([0, one.stdout]);
      expect(warningsOf(several)).toEqual(warningsOf(one));
    }
  });

  it('fails with the sentence of the run that was refused', async () => {
    for (const threads of ['1', '2']) {
      const { exitCode, stdout, stderr } = await plan(...UNMEASURED, '--threads', threads);
      expect([exitCode, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^baton: Refused to extrapolate: [^\n]+\n$/);
    }
  });
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The share of the serving points that is replayed here. `npm run test:validation` replays all. */
const EVERY = 12;
/** Where the figures that do not depend on the choice of serving points begin. */
const STEPS = '## Engine steps of PyTorch';

function execute(program: string, ...args: string[]): string {
  const command = [`dist/validation/${program}.js`, ...args];
  return execFileSync(process.execPath, command, { encoding: 'utf8' });
}

describe('npm run validate (npm run validate -- --save after a change)', () => {
  it('prints the figures of docs/validation.md', () => {
    const [, printed] = execute('main', '--every=100000').split(STEPS);
    expect(printed).toContain('vLLM 0.19');
    expect(readFileSync('docs/validation.md', 'utf8')).toContain(printed!.trim());
  });

  it('replays serving points as docs/validation-serving.csv has them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-validation-'));
    const file = join(folder, 'points.csv');
    execute('serving/main', `--every=${EVERY}`, `--csv=${file}`);
    const points = readFileSync(file, 'utf8').trim().split('\n');
    rmSync(folder, { recursive: true });
    const kept = new Set(readFileSync('docs/validation-serving.csv', 'utf8').split('\n'));
    expect(points.length).toBeGreaterThan(80);
    expect(points.filter((point) => !kept.has(point))).toEqual([]);
  });
});

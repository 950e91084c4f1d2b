import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCommand } from '../test/test-command';

const LOAD = ['--dataset', 'random', '--num-prompts', '40', '--request-rate', '20'];
const SLO = ['--slo', 'ttft=5s,tpot=100ms'];
const PLAN = [...LOAD, ...SLO, '--cost', '--threads', '1'];

const folder = mkdtempSync(join(tmpdir(), 'baton-width-'));
const SPACE = join(folder, 'fleet.yaml');
const POLICY = join(folder, 'first.mjs');
writeFileSync(
  SPACE,
  [
    'gpus: { h100: 4, h200: 4 }',
    'tensor_parallel_size: [1]',
    'vary: { placement: [prefix-aware], max_num_batched_tokens: [2048], quantization: [fp8] }',
    'trials: 4\n',
  ].join('\n'),
);
writeFileSync(POLICY, 'export default { create: () => ({ choose: () => 0 }) };\n');
afterAll(() => rmSync(folder, { recursive: true }));

/** Command lines to copy, which must not be broken. */
const COMMAND = /^(start it|look into it): /;

describe('the output of a command', () => {
  it.each([
    ['the help of all', ['--help']],
    ['the help of one', ['plan', '--help']],
    ['a check of the machine', ['doctor']],
    ['the shipped traces', ['replay', '--trace', 'list']],
    ['a replay', ['replay', ...LOAD, ...SLO, '--cost', '--topology', '2P2D']],
    ['a plan', ['plan', ...PLAN, '--gpus', '4', '--tp', '1,2']],
    ['a search for fleets', ['plan', ...PLAN, '--space', SPACE]],
    ['a test of policies', ['policy', 'test', POLICY, ...LOAD, '--topology', '2P2D']],
    ['the profiles', ['profiles', 'list']],
    ['one profile', ['profiles', 'show', '--model', 'llama-3.1-8b', '--gpu', 'h100']],
  ])('fits 100 columns: %s', async (_what, args) => {
    const { exitCode, stdout, stderr } = await runCommand(...args);
    expect([exitCode, stderr.includes('Error')]).toEqual([0, false]);
    expect(stdout.split('\n').length).toBeGreaterThan(3);
    const wide = stdout.split('\n').filter((line) => line.length > 100 && !COMMAND.test(line));
    expect(wide).toEqual([]);
  });

  it('has every column of a plan in one table with --wide', async () => {
    const args = [...PLAN, '--gpus', '2', '--tp', '1'];
    const [narrow, wide] = [
      await runCommand('plan', ...args),
      await runCommand('plan', ...args, '--wide'),
    ];
    expect(narrow.stdout).not.toContain('TTFT p99');
    expect(wide.stdout).toMatch(/^split .* TTFT p99 .* ITL p99 .* front$/m);
  });
});

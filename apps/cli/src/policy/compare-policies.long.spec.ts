import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../test/test-command';

const folder = mkdtempSync(join(tmpdir(), 'baton-compare-'));
afterAll(() => rmSync(folder, { recursive: true }));

const LOAD = ['--dataset', 'random', '--num-prompts', '200', '--request-rate', '40'];

interface Row {
  readonly policy: string;
  readonly rejected: number;
  readonly policy_faults: number;
  readonly decisions_per_second: number | null;
  readonly gpu_hours?: number;
}

async function rows(kind: string, module: string, ...flags: string[]): Promise<readonly Row[]> {
  const args = ['policy', 'test', module, '--kind', kind, ...LOAD, ...flags, '--json'];
  const { exitCode, stdout, stderr } = await runCommand(...args);
  expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('such choices')]);
  return (JSON.parse(stdout) as { policies: Row[] }).policies;
}

/** A row without its name and the figures of the wall clock. */
function figuresOf(row: Row | undefined): object {
  return { ...row, policy: '', decisions_per_second: 0, requests_per_wall_second: 0 };
}

function moduleOf(name: string, policy: string): string {
  const path = join(folder, name);
  writeFileSync(path, `export default { create: () => (${policy}) };\n`);
  return path;
}

/** A module with the rule of a built-in policy of the same kind. */
const SAME_RULE = {
  'decode-placement': {
    policy:
      '{ choose: ({ engines }) => engines.reduce((b, e, i) => ' +
      '(e.requests < engines[b].requests ? i : b), 0) }',
    rule: 'least-requests',
    flags: ['--topology', '1P3D'],
  },
  admission: {
    policy: '{ admit: ({ predictedTtftUs }) => predictedTtftUs() <= 900_000 }',
    rule: 'slo-ttft',
    flags: ['--topology', '1P1D', '--admission-slo-ttft', '900'],
  },
  scheduling: {
    policy: '{ key: ({ targetTokens, computed }) => targetTokens - computed }',
    rule: 'sjf',
    flags: ['--topology', '1A', '--max-num-seqs', '8'],
  },
  scaling: {
    policy: '{ decide: ({ counts }) => ({ counts: { ...counts, prefill: 2, decode: 2 } }) }',
    rule: 'static 2P2D',
    flags: ['--topology', '2P2D', '--min', '1P1D', '--max', '2P2D', '--scale-interval', '1'],
  },
} as const;

describe('baton policy test', () => {
  it.each(Object.entries(SAME_RULE))(
    'gives a module for %s the figures of the built-in policy with the same rule',
    async (kind, { policy, rule, flags }) => {
      const path = moduleOf(`${kind}.mjs`, policy);
      const all = await rows(kind, path, ...flags, '--slo', 'ttft=1s');
      const [own, built] = [all[0]!, all.find((row) => row.policy === rule)];
      expect(own).toMatchObject({ policy: `${kind}.mjs`, policy_faults: 0 });
      expect(figuresOf(own)).toEqual(figuresOf(built));
      expect(own.decisions_per_second).toBeGreaterThan(0);
      expect(built!.decisions_per_second).toBeGreaterThan(0);
    },
  );

  it('admits all requests under admission "all", and fewer under a module that refuses', async () => {
    const path = moduleOf('half.mjs', '{ n: 0, admit() { return this.n++ % 2 === 0; } }');
    const [own, all, ...others] = await rows('admission', path, '--topology', '1P1D');
    expect(all).toMatchObject({ policy: 'all', rejected: 0, decisions_per_second: null });
    expect(own!.rejected).toBe(100);
    // Without a target, slo-ttft cannot decide.
    expect(others).toEqual([]);
  });

  it('compares an autoscaler with both bounds and the built-in ones in GPU-hours', async () => {
    const path = moduleOf('least.mjs', '{ decide: ({ bounds }) => ({ counts: bounds.min }) }');
    const all = await rows('scaling', path, '--max', '2P2D', '--scale-interval', '1');
    expect(all.map(({ policy }) => policy)).toEqual([
      ...['least.mjs', 'static 1P1D', 'static 2P2D'],
      ...['hpa:ttft', 'keda', 'wva', 'wva-tokens', 'sla', 'sla-load'],
    ]);
    const hours = new Map(all.map((row) => [row.policy, row.gpu_hours!]));
    expect(hours.get('least.mjs')).toBe(hours.get('static 1P1D'));
    expect(hours.get('static 2P2D')).toBeGreaterThan(hours.get('static 1P1D')!);
  });

  it('names file and line of a module of any kind that throws, and counts the faults', async () => {
    const path = moduleOf('tired.mjs', '{ key: () => {\n throw new Error("tired"); } }');
    const args = ['policy', 'test', path, '--kind', 'scheduling', ...LOAD, '--topology', '1A'];
    const { stderr, stdout } = await runCommand(...args, '--json');
    expect(stderr).toContain('key (aggregated) threw Error: tired (tired.mjs:2:');
    const { policies } = JSON.parse(stdout) as { policies: Row[] };
    expect(policies[0]!.policy_faults).toBeGreaterThanOrEqual(200);
    expect(policies[1]).toMatchObject({ policy: 'fcfs', policy_faults: 0 });
  });

  it.each(['decode-placement', 'admission', 'scheduling'])(
    'has for %s an example that runs without a fault, with a test that passes',
    async (kind) => {
      const name = join(folder, `example-${kind}`);
      expect(await runCommand('policy', 'new', name, '--kind', kind)).toMatchObject({
        exitCode: 0,
      });
      const tested = spawnSync(process.execPath, ['--test', `${name}.test.mjs`], {
        encoding: 'utf8',
        env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      });
      expect(tested.stdout + tested.stderr).toContain('pass 2');
      const [own] = await rows(kind, `${name}.mjs`, '--topology', '2P2D');
      expect(own).toMatchObject({ policy_faults: 0 });
    },
  );
});

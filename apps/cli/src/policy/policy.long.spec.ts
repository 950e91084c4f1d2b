import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { runProgram } from '../program';

const folder = mkdtempSync(join(tmpdir(), 'baton-policy-'));
const WORKLOAD = ['--dataset', 'random', '--num-prompts', '200', '--request-rate', '40'];

async function baton(...args: string[]) {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => stdout.push(String(text)) > 0);
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => stderr.push(String(text)) > 0);
  const exitCode = await runProgram(args);
  return { exitCode, stdout: stdout.join(''), stderr: stderr.join('') };
}

function moduleOf(name: string, choose: string): string {
  const path = join(folder, name);
  writeFileSync(
    path,
    `export default { create: () => ({ choose: ({ engines }) => ${choose} }) };\n`,
  );
  return path;
}

async function replayed(placement: string): Promise<Record<string, unknown>> {
  const { stdout } = await baton('replay', ...WORKLOAD, '--placement', placement, '--json');
  const { config, wall_seconds, requests_per_wall_second, ...figures } = JSON.parse(
    stdout,
  ) as Record<string, unknown>;
  expect([config, wall_seconds, requests_per_wall_second]).not.toContain(undefined);
  return figures;
}

afterEach(() => vi.restoreAllMocks());
afterAll(() => rmSync(folder, { recursive: true }));

describe('a replay with LoRA adapters', () => {
  it('shows a policy the adapters, and repeats its result', async () => {
    const choice =
      'engines.findIndex(({ adapters }) => adapters.waiting.length === 0) + engines.length';
    const path = moduleOf('adapters.mjs', `(${choice}) % engines.length`);
    const args = ['--adapter-mix', 'sql=1,chat=1,base=1', '--topology', '3A', '--json'];
    const run = (): ReturnType<typeof baton> =>
      baton('replay', ...WORKLOAD, ...args, '--placement', path);
    const { stdout, stderr, exitCode } = await run();
    expect(stderr).not.toContain('built-in policy');
    expect(exitCode).toBe(0);
    const timeless = (text: string): string => text.replaceAll(/"[a-z_]*wall[a-z_]*": .*/g, '');
    expect(timeless((await run()).stdout)).toBe(timeless(stdout));
  });
});

describe('a replay with a policy that does not return', () => {
  it('ends, names file and line, and repeats its result', async () => {
    const path = join(folder, 'endless.mjs');
    const choose =
      '({ engines, request }) {\n if (n++ === 90) for (;;); return n % engines.length; }';
    writeFileSync(
      path,
      `export default { create() { let n = 0; return { choose${choose} }; } };\n`,
    );
    const args = ['replay', ...WORKLOAD, '--placement', path];
    const { exitCode, stderr } = await baton(...args);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('did not return within 1000 ms (endless.mjs:1).');
    expect(stderr).toContain('A built-in policy made 2 such choices');
    expect(await replayed(path)).toEqual(await replayed(path));
  });
});

describe('baton policy', () => {
  it('writes a policy that runs, with a test that passes, and overwrites no file', async () => {
    const name = join(folder, 'out', 'scores');
    expect(await baton('policy', 'new', name)).toMatchObject({ exitCode: 0 });
    const tested = spawnSync(process.execPath, ['--test', `${name}.test.mjs`], {
      encoding: 'utf8',
      // A nested test runner would take over the output of this one.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    });
    expect(tested.stdout + tested.stderr).toContain('pass 2');
    expect(tested.status).toBe(0);
    expect(readFileSync(`${name}.mjs`, 'utf8')).toContain('baton up 2P2D --placement ./scores.mjs');
    const again = await baton('policy', 'new', name);
    expect(again).toMatchObject({ exitCode: 2 });
    expect(again.stderr).toContain('scores.mjs exists; choose another name.');
  });

  it('writes an autoscaler that runs, with a test that passes', async () => {
    const name = join(folder, 'scaler');
    expect(await baton('policy', 'new', name, '--kind', 'scaling')).toMatchObject({ exitCode: 0 });
    const tested = spawnSync(process.execPath, ['--test', `${name}.test.mjs`], {
      encoding: 'utf8',
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    });
    expect(tested.stdout + tested.stderr).toContain('pass 3');
    const flags = ['--scale-policy', `${name}.mjs`, '--max', '2P3D', '--json'];
    const { stdout, stderr } = await baton('replay', ...WORKLOAD, ...flags);
    expect(JSON.parse(stdout)).toMatchObject({ autoscaling: { autoscaler: 'scaler.mjs' } });
    expect(stderr).not.toContain('such choices');
  });

  it('writes a flow control policy, and compares it with every built-in one by class', async () => {
    const name = join(folder, 'gate');
    const kind = ['--kind', 'flow-control'];
    expect(await baton('policy', 'new', name, ...kind)).toMatchObject({ exitCode: 0 });
    const tested = spawnSync(process.execPath, ['--test', `${name}.test.mjs`], {
      encoding: 'utf8',
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    });
    expect(tested.stdout + tested.stderr).toContain('pass 2');
    const classes = JSON.stringify({ quick: { ttft: 500 }, slow: { ttft: 60_000, priority: 1 } });
    const mix = ['--slo-classes', classes, '--slo-mix', 'quick=0.5,slow=0.5'];
    const gate = ['--flow-control-concurrency', '4', '--topology', '1A', ...mix];
    const args = ['policy', 'test', `${name}.mjs`, ...kind, ...WORKLOAD, ...gate];
    const { stdout } = await baton(...args, '--json');
    type Row = { policy: string; slo_classes: object[]; policy_faults: number };
    const { policies } = JSON.parse(stdout) as { policies: Row[] };
    const of = (policy: string): Row => policies.find((each) => each.policy === policy)!;
    expect(policies.map(({ policy }) => policy)).toEqual([
      ...['gate.mjs', 'none', 'fcfs', 'priority', 'wfq', 'edf'],
    ]);
    // The example has the rule of a built-in policy.
    const timeless = { decisions_per_second: 0, requests_per_wall_second: 0 };
    const edf = { ...of('edf'), ...timeless, policy: 'gate.mjs' };
    expect({ ...of('gate.mjs'), ...timeless }).toEqual(edf);
    expect(of('gate.mjs').slo_classes).not.toEqual(of('fcfs').slo_classes);
    expect((await baton(...args)).stdout).toMatch(/^gate\.mjs +quick +/m);
  });

  it('compares a policy with every built-in one', async () => {
    const path = moduleOf('last.mjs', 'engines.length - 1');
    const args = ['policy', 'test', path, ...WORKLOAD, '--topology', '3P3D', '--json'];
    const { exitCode, stdout } = await baton(...args);
    expect(exitCode).toBe(0);
    const { policies } = JSON.parse(stdout) as {
      policies: { policy: string; imbalance: number; policy_faults: number }[];
    };
    expect(policies.map(({ policy }) => policy)).toEqual([
      ...['last.mjs', 'pull', 'round-robin', 'random', 'least-requests', 'least-tokens'],
      ...['power-of-two', 'prefix-aware', 'session-sticky'],
    ]);
    // One of three engines does all the work.
    expect(policies[0]).toMatchObject({ imbalance: 3, policy_faults: 0 });
    expect(policies[2]!.imbalance).toBeLessThan(1.5);
  });

  it.each([
    [['policy', 'tests', 'x.mjs'], "<action> must be new, test or ask; 'tests' is not."],
    [['policy', 'test', 'absent.mjs', ...WORKLOAD], 'The policy absent.mjs does not exist.'],
    [
      ['policy', 'new', 'x', '--kind', 'router'],
      '--kind must be one of placement, decode-placement, admission, flow-control, scheduling, ' +
        "scaling, not 'router'.",
    ],
    [['policy', 'test', 'x.mjs', '--kind', 'scaling'], 'autoscaler needs a maximum of engines'],
    [
      ['policy', 'test', 'x.mjs', '--kind', 'flow-control', '--flow-control', 'edf'],
      'policy test sets the policy itself. Remove --flow-control.',
    ],
    [
      ['policy', 'test', 'x.mjs', '--placement', 'random', '--decode-placement', 'random'],
      'policy test sets the policy itself. Remove --placement and --decode-placement.',
    ],
    [
      ['policy', 'test', 'x.mjs', '--kind', 'scaling', '--autoscaler', 'wva', '--max', '2P2D'],
      'policy test sets the policy itself. Remove --autoscaler.',
    ],
  ])('refuses %j', async (args, complaint) => {
    const { exitCode, stderr } = await baton(...args);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(complaint)]);
  });
});

describe("a replay with a policy of the user's own", () => {
  it('gives the figures of the built-in policy with the same rule', async () => {
    const fewest = 'engines.reduce((b, e, i) => (e.requests < engines[b].requests ? i : b), 0)';
    const path = moduleOf('fewest.mjs', fewest);
    expect(await replayed(path)).toEqual(await replayed('least-requests'));
  });

  it('continues with the built-in autoscaler when the module fails', async () => {
    const decide = '{ throw new Error("tired"); }';
    const path = join(folder, 'tired.mjs');
    writeFileSync(path, `export default { create: () => ({ decide() ${decide} }) };\n`);
    const flags = ['--autoscaler', 'hpa:rps=10', '--max', '2P3D', '--scale-interval', '1'];
    const both = ['replay', ...WORKLOAD, ...flags, '--json'];
    const changesOf = ({ stdout }: { stdout: string }): unknown =>
      (JSON.parse(stdout) as { autoscaling: { events: unknown[] } }).autoscaling.events;
    const built = changesOf(await baton(...both));
    const own = await baton(...both, '--scale-policy', path);
    expect(changesOf(own)).toEqual(built);
    expect(built).not.toEqual([]);
    expect(own.stderr).toContain('decide (cluster) threw Error: tired (tired.mjs:1:');
  });

  it('continues with the fallback, and reports it once, when a policy has no choice', async () => {
    const path = moduleOf('none.mjs', 'undefined');
    const args = [...WORKLOAD, '--placement', path, '--placement-fallback', 'round-robin'];
    const { exitCode, stderr } = await baton('replay', ...args);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('returned undefined; expected an integer from 0 to 1 (none.mjs:1).');
    expect(stderr.match(/returned undefined/g)).toHaveLength(1);
    expect(stderr).toContain('400 such choices; the result is not that of your policy');
  });
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClassSummary, Summary } from '@baton/analysis';
import { afterAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../test/test-command';

const CLASSES = JSON.stringify({
  interactive: { ttft: 300, weight: 4, priority: 1 },
  batch: { priority: 2 },
});
const CLUSTER = [
  ...['--topology', '1A', '--step-time', 'constant', '--time-to-first-token', '20'],
  ...['--inter-token-latency', '10', '--frontend', 'none'],
];
const LOAD = [
  ...['--dataset', 'random', '--num-prompts', '300', '--request-rate', '60'],
  ...['--random-input-len', '50', '--random-output-len', '20'],
];
const MIX = ['--slo-classes', CLASSES, '--slo-mix', 'interactive=0.4,batch=0.6'];
const GATE = ['--flow-control-concurrency', '4', '--flow-control'];

const folder = mkdtempSync(join(tmpdir(), 'baton-classes-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function replay(...args: string[]): Promise<Summary> {
  const { stdout, stderr } = await runCommand('replay', ...CLUSTER, ...args, '--json');
  expect(stdout, stderr).toMatch(/^\{/);
  return JSON.parse(stdout) as Summary;
}

function byName({ slo_classes = [] }: Summary): Record<string, ClassSummary> {
  return Object.fromEntries(slo_classes.map((each) => [each.name, each]));
}

describe('the SLO classes of a replay', () => {
  it('have rows of their own, and flow control serves them by its policy', async () => {
    const first = byName(await replay(...LOAD, ...MIX, ...GATE, 'fcfs'));
    const strict = byName(await replay(...LOAD, ...MIX, ...GATE, 'priority'));
    const { interactive, batch } = strict;
    expect(interactive!.requests + batch!.requests).toBe(300);
    expect(interactive!.requests).toBeGreaterThan(80);
    expect(interactive).toMatchObject({ slo: 'ttft=300ms', rejected: 0 });
    expect(batch).toMatchObject({ slo: null, slo_attainment: 1 });
    expect(interactive!.slo_attainment).toBeGreaterThan(first['interactive']!.slo_attainment!);
    expect(interactive!.flow_wait_ms!.p99).toBeLessThan(batch!.flow_wait_ms!.p50!);
  });

  it('may come from a trace, and are in the table and the page', async () => {
    const trace = join(folder, 'trace.jsonl');
    const line = (i: number, more: object) =>
      JSON.stringify({ arrival_ms: i * 50, prompt_tokens: 9, output_tokens: 2, ...more });
    const rows = [{ slo_class: 'batch', tenant: 'a' }, { slo_class: 'interactive' }, {}];
    writeFileSync(trace, rows.map((more, i) => line(i, more)).join('\n'));
    const flags = ['--trace', trace, '--slo-classes', CLASSES, '--slo-default-class', 'batch'];
    const { interactive, batch } = byName(await replay(...flags));
    expect([interactive?.requests, batch?.requests]).toEqual([1, 2]);
    expect(interactive).not.toHaveProperty('flow_wait_ms');
    const { stdout } = await runCommand('replay', ...CLUSTER, ...flags, '--out', folder);
    expect(stdout).toContain('interactive (ttft=300ms)');
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('SLO classes');
  });

  it('accept a flow control policy of the user', async () => {
    const own = './examples/policies/small-prompts-first.mjs';
    const { interactive, batch } = byName(await replay(...LOAD, ...MIX, ...GATE, own));
    expect(interactive!.ttft_ms.p50).toBeLessThan(batch!.ttft_ms.p50!);
  });

  it('have no effect without a limit or a target', async () => {
    const { wall_seconds, requests_per_wall_second, config, ...plain } = await replay(...LOAD);
    const { slo_classes, ...classed } = await replay(...LOAD, ...MIX);
    expect(classed).toMatchObject(plain);
    expect(plain).not.toHaveProperty('slo_classes');
    expect(slo_classes).toHaveLength(2);
    expect([wall_seconds, requests_per_wall_second, config]).not.toContain(undefined);
  });

  it.each([
    [['--slo-mix', 'a=1'], 'The workload has SLO classes, such as a. Set slo_classes.'],
    [
      ['--slo-mix', 'gold=1', '--slo-classes', CLASSES],
      "The workload has the SLO class 'gold'; slo_classes has interactive, batch.",
    ],
    [['--slo-mix', 'a=0'], '--slo-mix must be names with shares above 0'],
    [['--slo-mix', 'a=1,a=2'], '--slo-mix must be names with shares above 0'],
    [
      ['--slo-classes', CLASSES, '--slo-default-class', 'gold'],
      "slo_default_class 'gold' is none of slo_classes: interactive, batch.",
    ],
    [['--flow-control', 'absent.mjs'], 'The policy absent.mjs does not exist.'],
    [['--flow-control', 'lifo'], 'fcfs, priority, wfq, edf'],
    [['--slo-classes', '{"a":{"speed":1}}'], 'with any of ttft, tpot, weight, priority'],
  ])('refuses %j with one sentence', async (flags, message) => {
    const { exitCode, stderr } = await runCommand('replay', ...CLUSTER, ...LOAD, ...flags);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(2);
  });
});

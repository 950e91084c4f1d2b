import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { runCommand } from '../../test/test-command';
import type { quietBench } from '../bench/bench';
import { EXIT_CODES } from '../exit-codes';

const loaded = vi.hoisted(() => vi.fn<typeof quietBench>());
vi.mock('../bench/bench', () => ({ quietBench: loaded }));
vi.mock('../bench/demo-cluster', () => ({
  DemoCluster: class {
    readyUnless = (): Promise<string> => Promise.resolve('http://127.0.0.1:1');
    stop = (): Promise<void> => Promise.resolve();
  },
}));
vi.stubGlobal('fetch', () => Promise.resolve(new Response('')));

const folder = mkdtempSync(join(tmpdir(), 'baton-live-'));
const POLICY = join(folder, 'first.mjs');
writeFileSync(POLICY, 'export default { create: () => ({ choose: () => 0 }) };\n');
const LOAD = ['--dataset', 'random', '--num-prompts', '4', '--request-rate', '10'];
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => loaded.mockReset());

function documentOf(reason: string | null, wasInterrupted = false): object {
  return {
    ...{ mean_ttft_ms: 1, p99_ttft_ms: 2, mean_tpot_ms: 3, completed: 4 },
    ...{ was_interrupted: wasInterrupted, load_generator: { void: reason } },
  };
}

/** Answers with these documents in turn, then with the last one. */
function answerWith(...documents: object[]): void {
  loaded.mockImplementation(() => {
    const document = documents.length > 1 ? documents.shift()! : documents[0]!;
    return Promise.resolve({ exitCode: 0, document: document as Record<string, unknown> });
  });
}

const test = (...more: string[]) =>
  runCommand('policy', 'test', POLICY, '--live', ...LOAD, '--topology', '1P1D', ...more);

describe('baton policy test --live', () => {
  it('ends with 0 when every row is valid', async () => {
    answerWith(documentOf(null));
    const answer = await test();
    expect(answer).toMatchObject({ exitCode: EXIT_CODES.done });
    expect(answer.stdout).not.toContain('VOID');
  });

  it('marks a void row, and ends with the exit code of a void bench', async () => {
    answerWith(documentOf('the load was late'), documentOf(null));
    const { exitCode, stdout, stderr } = await test();
    expect(exitCode).toBe(EXIT_CODES.void);
    expect(stdout.match(/^first\.mjs \(VOID\)/gm)).toHaveLength(2);
    expect(stdout.match(/VOID/g)).toHaveLength(2);
    expect(stderr).toContain('the live figures of first.mjs are void: the load was late');
  });

  it('names the policies without figures after Ctrl-C, and ends like a stopped bench', async () => {
    answerWith(documentOf(null), documentOf(null, true));
    const { exitCode, stdout, stderr } = await test('--json');
    expect(exitCode).toBe(EXIT_CODES.incomplete);
    const { policies } = JSON.parse(stdout) as { policies: { policy: string; live?: object }[] };
    const missing = policies.filter(({ live }) => live === undefined);
    expect(missing).toHaveLength(policies.length - 1);
    const names = missing.map(({ policy }) => policy).join(', ');
    expect(stderr).toContain(`interrupted: no live figures of ${names}`);
  });
});

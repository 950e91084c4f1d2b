import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'baton-shadow-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Line {
  readonly id: string;
  readonly arrival_us: number;
  readonly prompt_tokens: number;
  readonly output_tokens: number;
  readonly block_hashes: readonly number[];
  readonly measured: { readonly prefill_engine: string };
}

/** While the cluster runs; `more` sends one more request that the router has placed. */
type Then = (more: () => Promise<void>) => Promise<void>;

/** The lines of `shadow.csv` for the decisions in a trace. */
async function shadowOf(trace: string, name: string): Promise<string[]> {
  const out = join(folder, name);
  const flags = [...PLAIN_STEPS, '--topology', '2A', '--shadow', 'least-requests', '--out', out];
  await promisify(execFile)(process.execPath, [BATON, 'replay', '--trace', trace, ...flags]);
  return readFileSync(join(out, 'shadow.csv'), 'utf8').trimEnd().split('\n');
}

describe('a cluster that gets the mirrored requests of a router', () => {
  /** The router sends two of three requests to one engine, and names it in a header. */
  async function mirror(record: string, then?: Then): Promise<void> {
    const flags = [...PLAIN_STEPS, '--record', record, '--record-endpoint-header', 'X-Chosen'];
    const cluster = await TestCluster.start({ topology: '1A', flags });
    try {
      const post = async (body: object, headers: Record<string, string> = {}): Promise<void> => {
        const answer = await fetch(`${cluster.baseUrl}/v1/completions`, {
          method: 'POST',
          body: JSON.stringify({ ...body, ignore_eos: true }),
          headers: { 'content-type': 'application/json', ...headers },
        });
        await answer.text();
        expect(answer.status).toBe(200);
      };
      const sent = Array.from({ length: 12 }, (_none, i) => {
        const chosen = i % 3 === 0 ? '10.0.0.2:8000' : '10.0.0.1:8000';
        return post(
          { prompt: 'word '.repeat(100 + 50 * i), max_tokens: 4 },
          { 'x-chosen': chosen },
        );
      });
      await Promise.all(sent);
      // A request that the router has not placed is no decision.
      await post({ prompt: 'one', max_tokens: 1 });
      await then?.(() => post({ prompt: 'two', max_tokens: 1 }, { 'x-chosen': '10.0.0.1:8000' }));
    } finally {
      await cluster.stop();
    }
  }

  it('records its decisions, which shadow mode reads as those of an access log', async () => {
    const record = join(folder, 'run.jsonl');
    await mirror(record);
    const lines = readFileSync(record, 'utf8').trimEnd().split('\n').slice(1);
    const rows = lines.map((line) => JSON.parse(line) as Line);
    const log = rows.slice(0, -1).map((row) =>
      JSON.stringify({
        time: row.arrival_us / 1e6,
        request_id: row.id,
        endpoint: row.measured.prefill_engine,
        prompt_tokens: row.prompt_tokens,
        output_tokens: row.output_tokens,
        block_hashes: row.block_hashes,
        block_size: 16,
      }),
    );
    const access = join(folder, 'access.jsonl');
    writeFileSync(access, `${log.join('\n')}\n`);
    const decisions = await shadowOf(record, 'by-header');
    expect(decisions).toHaveLength(1 + 12);
    expect(decisions).toEqual(await shadowOf(access, 'by-log'));
  });

  it('reports the decisions while they are recorded, until Ctrl-C', async () => {
    const record = join(folder, 'live.jsonl');
    const counts: number[] = [];
    await mirror(record, async (more) => {
      const flags = [...PLAIN_STEPS, '--topology', '2A', '--shadow', 'least-requests', '--json'];
      const args = [BATON, 'replay', '--trace', record, ...flags, '--follow', '0.2'];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      const decisions = async (): Promise<number> => {
        const { value } = (await lines.next()) as { value: string };
        return (JSON.parse(value) as { decisions: number }).decisions;
      };
      try {
        do counts.push(await decisions());
        while (counts.at(-1)! < 12);
        await more();
        counts.push(await decisions());
      } finally {
        child.kill('SIGINT');
      }
      expect(await once(child, 'exit')).toEqual([0, null]);
    });
    expect(counts.slice(-2)).toEqual([12, 13]);
  });
});

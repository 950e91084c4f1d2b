import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashString } from '@baton/kernel';
import { isRecordingHeader, type MeasuredRequest, parseMeasured, readTrace } from '@baton/workload';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { until } from '../../../test/until';

const SECRET = 'A secret that nobody may find in a file.';
const BODY = { prompt: SECRET.repeat(4), max_tokens: 6, ignore_eos: true };

let folder = '';
let record = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-recording-'));
  record = join(folder, 'run.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function linesOf(path = record): string[] {
  return readFileSync(path, 'utf8').trimEnd().split('\n');
}

/** The lines of requests, without the header. */
function requestsOf(path = record): { row: Record<string, unknown>; measured: MeasuredRequest }[] {
  return linesOf(path)
    .slice(1)
    .map((line, i) => ({
      row: JSON.parse(line) as Record<string, unknown>,
      measured: parseMeasured(line, path, i + 2)!.measured,
    }));
}

describe('a recording cluster', () => {
  let cluster: ClusterFixture;

  async function recorded(roles: Parameters<typeof ClusterFixture.start>[0]): Promise<void> {
    cluster = await ClusterFixture.start(roles, { record });
    for (let i = 0; i < 4; i++) {
      const headers = { 'x-session-id': 'ann' };
      const answers = [cluster.post({ ...BODY, priority: i }, headers), cluster.post(BODY)];
      for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
    }
    await cluster.stop();
  }

  it('writes a trace of all requests, with the configuration before it', async () => {
    await recorded({ prefill: 2, decode: 2 });
    const [header = ''] = linesOf();
    expect(isRecordingHeader(header)).toBe(true);
    expect(JSON.parse(header)).toMatchObject({ config: { step_time: 'constant', speedup: 10 } });
    const { workload } = readTrace(linesOf(), { file: record });
    expect(workload.count).toBe(8);
    expect(new Set(workload.outputTokens)).toEqual(new Set([6]));
    expect(workload.contentCount).toBeGreaterThan(0);
    expect(readFileSync(record, 'utf8')).not.toMatch(/secret/);
    const sessions = requestsOf().flatMap(({ row }) => row['session'] ?? []);
    expect(sessions).toEqual(Array(4).fill(hashString('ann')));
  });

  it('notes the instants of each request, in simulated time since its arrival', async () => {
    await recorded({ prefill: 1, decode: 1 });
    for (const { measured } of requestsOf()) {
      const { stamped, seen, flow, tokens, outcome, endpoint } = measured;
      expect({ flow, tokens, outcome, endpoint }).toEqual({
        flow: 'route',
        tokens: 6,
        outcome: 'completed',
        endpoint: '/v1/completions',
      });
      const {
        scheduledUs = -1,
        heldUs = -1,
        decodeUs = -1,
        firstTokenUs = -1,
        finishUs = -1,
      } = stamped;
      expect(scheduledUs).toBeGreaterThanOrEqual(0);
      // 20 ms a prompt, 1 ms a token.
      expect(heldUs - scheduledUs).toBeGreaterThanOrEqual(19_900);
      expect(decodeUs).toBeGreaterThanOrEqual(heldUs);
      expect(firstTokenUs).toBeGreaterThan(decodeUs);
      expect(Math.abs(finishUs - firstTokenUs - 5_000)).toBeLessThanOrEqual(10);
      expect(seen.firstTokenUs).toBeGreaterThanOrEqual(firstTokenUs);
      expect(seen.finishUs).toBeGreaterThanOrEqual(finishUs);
      const gaps = measured.gapsUs.reduce((sum, [, times]) => sum + times, 0);
      expect(gaps).toBe(5);
      const spanUs = measured.gapsUs.reduce((sum, [us, times]) => sum + us * times, 0);
      const seenUs = (seen.finishUs ?? 0) - (seen.firstTokenUs ?? 0);
      expect(Math.abs(spanUs - seenUs)).toBeLessThanOrEqual(50 + seenUs / 128);
      expect(measured.prefillEngine).not.toBe(measured.decodeEngine);
      expect(measured.transferredTokens + measured.cachedTokens).toBeGreaterThan(0);
    }
  });

  it('names the same engine twice when one engine does both stages', async () => {
    await recorded({ aggregated: 1 });
    for (const { measured } of requestsOf()) {
      expect(measured.prefillEngine).toBe(measured.decodeEngine);
      expect(measured.stamped.heldUs).toBeUndefined();
      expect(measured.flow).toBe('local');
    }
  });
});

describe('a recording front', () => {
  let fixture: ApiFixture;

  it('writes each choice of a request as one of its own', async () => {
    fixture = await ApiFixture.start({ config: { record }, engines: [{ isEager: true }] });
    await (await fixture.post('/v1/completions', { ...BODY, n: 3 })).text();
    await fixture.stop();
    const ids = requestsOf().map(({ row }) => String(row['id']));
    expect(new Set(ids.map((id) => id.replace(/-\d$/, ''))).size).toBe(1);
    expect(ids.map((id) => id.at(-1)).sort()).toEqual(['0', '1', '2']);
  });

  it('names the SLO class of each request, however the request names it', async () => {
    const sloClasses = { interactive: { ttft: 500 }, batch: { priority: 7 } };
    const engines = [{ isEager: true }];
    fixture = await ApiFixture.start({ config: { record, sloClasses }, engines });
    const calls = [{ headers: { 'x-slo-class': 'batch' } }, { body: { ...BODY, priority: 7 } }, {}];
    for (const { body = BODY, headers = {} } of calls) {
      await (await fixture.post('/v1/completions', body, { headers })).text();
    }
    await fixture.stop();
    expect(requestsOf().map(({ row }) => row['slo_class'])).toEqual([
      ...['batch', 'batch', 'interactive'],
    ]);
    const { workload } = readTrace(linesOf(), { file: record });
    expect(workload.sloClass?.names).toEqual(['batch', 'interactive']);
    expect(JSON.parse(linesOf()[0]!)).toMatchObject({ config: { slo_classes: sloClasses } });
  });

  it('writes a request that its client abandoned with the tokens it got', async () => {
    fixture = await ApiFixture.start({ config: { record } });
    const leave = new AbortController();
    const answer = fixture.post(
      '/v1/completions',
      { ...BODY, stream: true },
      { signal: leave.signal },
    );
    const run = await fixture.engine.next();
    run.token(0, 2);
    await (await answer).body!.getReader().read();
    leave.abort();
    await until(() => fixture.engine.abortedIds.length === 1);
    await fixture.stop();
    const [{ row, measured } = { row: {}, measured: undefined }] = requestsOf();
    expect(row).toMatchObject({ output_tokens: 2, max_tokens: 6 });
    expect(measured).toMatchObject({ outcome: 'aborted', finishReason: 'abort', tokens: 2 });
    expect(measured?.gapsUs).toEqual([]);
  });

  it('writes a request that failed with the code of its error', async () => {
    fixture = await ApiFixture.start({ config: { record } });
    const answer = fixture.post('/v1/completions', BODY);
    (await fixture.engine.next()).endSequence({
      reason: 'error',
      tail: 'worker_lost',
      first: 0,
      count: 0,
    });
    await (await answer).text();
    await fixture.stop();
    const { row, measured } = requestsOf()[0]!;
    expect(row['output_tokens']).toBe(0);
    expect(measured).toMatchObject({ outcome: 'failed', error: 'worker_lost' });
  });

  it('writes the requests that it ends itself when it is stopped', async () => {
    const config = { record, shutdownTimeout: 0 };
    fixture = await ApiFixture.start({ config });
    const answer = fixture.post('/v1/completions', BODY);
    await fixture.engine.next();
    await fixture.stop();
    expect((await answer).status).toBe(503);
    const { measured } = requestsOf()[0]!;
    expect(measured).toMatchObject({ outcome: 'failed', error: 'shutting_down', tokens: 0 });
  });

  it('does not touch the file of another process, and writes beside it', async () => {
    const options = { config: { record }, engines: [{ isEager: true }] };
    const fixtures = [await ApiFixture.start(options), await ApiFixture.start(options)];
    for (const each of fixtures) await (await each.post('/v1/completions', BODY)).text();
    for (const each of fixtures) await each.stop();
    const names = readdirSync(folder).sort();
    expect(names).toEqual([expect.stringMatching(/^run\.api-[\w-]+\.jsonl$/), 'run.jsonl']);
    for (const name of names) expect(requestsOf(join(folder, name))).toHaveLength(1);
  });

  it('does not start when it cannot write', async () => {
    writeFileSync(join(folder, 'file'), '');
    const config = { record: join(folder, 'file', 'run.jsonl') };
    await expect(ApiFixture.start({ config })).rejects.toThrow(
      /run\.jsonl cannot be written: E(NOTDIR|EXIST)/,
    );
  });

  it('writes nothing by default', async () => {
    fixture = await ApiFixture.start({ engines: [{ isEager: true }] });
    await (await fixture.post('/v1/completions', BODY)).text();
    await fixture.stop();
    expect(existsSync(record)).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { requestIdOf } from '../workload';
import { readTrace } from './open-trace';
import { parseRouterLine } from './router-log';

function line(fields: object): string {
  const usual = { endpoint: '10.0.0.3:8000', prompt_tokens: 40, output_tokens: 8 };
  return JSON.stringify({ time: '2026-11-23T10:00:00.5Z', request_id: 'a', ...usual, ...fields });
}

function read(...lines: string[]) {
  return readTrace(lines, { file: 'access.jsonl' });
}

describe('the access log of a router', () => {
  it('gives arrivals, lengths, ids and shared blocks', () => {
    const { workload, report } = read(
      line({ request_id: 'late', time: '2026-11-23T10:00:02Z', block_hashes: ['x', 'y'] }),
      line({ request_id: 'early', block_hashes: ['x'], status: 200 }),
    );
    expect(report).toMatchObject({ format: 'router', requests: 2, outOfOrder: 0 });
    expect([0, 1].map((row) => requestIdOf(workload, row))).toEqual(['early', 'late']);
    expect([...workload.arrivalUs]).toEqual([0, 1_500_000]);
    expect(workload.contentIds[0]).toBe(workload.contentIds[1]);
  });

  it('accepts times in seconds', () => {
    const { workload } = read(line({ time: 5 }), line({ time: 7.25 }));
    expect([...workload.arrivalUs]).toEqual([0, 2_250_000]);
  });

  it('gives the engine and the TTFT of a request', () => {
    const { id, measured } = parseRouterLine(line({ ttft_ms: 12.5 }), 'f', 1);
    expect(id).toBe('a');
    expect(measured).toMatchObject({
      prefillEngine: '10.0.0.3:8000',
      decodeEngine: '10.0.0.3:8000',
      seen: { firstTokenUs: 12_500 },
    });
    const split = parseRouterLine(line({ decode_endpoint: 'd' }), 'f', 1).measured;
    expect(split.decodeEngine).toBe('d');
  });

  it.each([
    [line({ time: 'today' }), 'access.jsonl:1: time "today" is not a time like'],
    [line({ prompt_tokens: -1 }), 'access.jsonl:1: prompt_tokens'],
    [line({ block_size: 0 }), 'access.jsonl:1: block_size'],
  ])('refuses %s', (text, complaint) => {
    expect(() => read(text)).toThrow(complaint);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { traceLine } from './baton-trace';
import { readTrace } from './open-trace';
import {
  type MeasuredRequest,
  parseMeasured,
  parseRecordingHeader,
  RECORDED_OUTCOMES,
  recordingHeaderLine,
} from './recording';
import type { Trace } from './trace-reader';

const HEADER = {
  version: '0.1.0',
  startedUs: 1_700_000_000_000_000,
  host: 'here',
  pid: 42,
  config: { topology: '2P2D', speedup: 4 },
};
const MEASURED: MeasuredRequest = {
  outcome: 'completed',
  finishReason: 'stop',
  tokens: 5,
  cachedTokens: 16,
  transferredTokens: 24,
  stamped: { scheduledUs: 10, heldUs: 20, decodeUs: 30, firstTokenUs: 40, finishUs: 80 },
  seen: { firstTokenUs: 41, finishUs: 82 },
  gapsUs: [[10, 4]],
};

const read = (...lines: string[]): Trace => readTrace(lines, { file: 'run.jsonl' });
const request = (arrivalUs: number): string =>
  traceLine({ arrivalUs, promptTokens: 40, outputTokens: 5, measured: MEASURED });

describe('a recording', () => {
  it(
    'is a trace whose arrivals count from its earliest request, in any order in which requests ' +
      'ended',
    () => {
      const { workload, report } = read(
        recordingHeaderLine(HEADER),
        request(9_000),
        request(7_500),
      );
      expect(Array.from(workload.arrivalUs)).toEqual([0, 1_500]);
      expect(report).toMatchObject({ format: 'baton', requests: 2, outOfOrder: 0 });
    },
  );

  it('without requests is a trace without requests', () => {
    expect(read(recordingHeaderLine(HEADER)).workload.count).toBe(0);
  });

  it('is refused when another one follows in its file', () => {
    const lines = [recordingHeaderLine(HEADER), request(1), recordingHeaderLine(HEADER)];
    expect(() => read(...lines)).toThrow('run.jsonl:3: another recording begins here');
  });

  it('has its configuration in its first line', () => {
    expect(parseRecordingHeader(recordingHeaderLine(HEADER), 'run.jsonl')).toEqual(HEADER);
  });

  it.each([
    ['{"baton_recording":2}', 'run.jsonl:1: baton_recording "2" is not a whole number from 1 to 1'],
    ['{"baton_recording":1', 'is broken JSON'],
    ['{"baton_recording":1,"started_us":0,"pid":1,"config":[]}', 'config "[]" is not an object'],
  ])('of another kind, %s, is refused', (line, reason) => {
    expect(() => read(line)).toThrow(reason);
  });
});

describe('the measurements of a request', () => {
  it('round-trip', () => {
    const us = fc.option(fc.nat(1e12), { nil: undefined });
    const text = fc.option(fc.string({ minLength: 1, maxLength: 20 }), { nil: undefined });
    const seen = { firstTokenUs: us, finishUs: us };
    const tokens = fc.nat(100_000);
    const measured: fc.Arbitrary<MeasuredRequest> = fc.record({
      outcome: fc.constantFrom(...RECORDED_OUTCOMES),
      finishReason: fc.string({ minLength: 1, maxLength: 20 }),
      error: text,
      endpoint: text,
      arrivalWallUs: us,
      flow: text,
      prefillEngine: text,
      decodeEngine: text,
      tokens,
      cachedTokens: tokens,
      transferredTokens: tokens,
      stamped: fc.record({ ...seen, scheduledUs: us, heldUs: us, decodeUs: us }),
      seen: fc.record(seen),
      gapsUs: fc.array(fc.tuple(fc.nat(1e6), fc.nat(100))),
    });
    fc.assert(
      fc.property(measured, (given) => {
        const line = traceLine({
          id: 'a',
          arrivalUs: 0,
          promptTokens: 1,
          outputTokens: 1,
          measured: given,
        });
        expect(parseMeasured(line, 'run.jsonl', 1)).toEqual({ id: 'a', measured: given });
      }),
    );
  });

  it('are absent from the first line and from lines without them', () => {
    const plain = traceLine({ arrivalUs: 0, promptTokens: 1, outputTokens: 1 });
    for (const line of [recordingHeaderLine(HEADER), plain]) {
      expect(parseMeasured(line, 'run.jsonl', 1)).toBeUndefined();
    }
  });

  it.each([
    [{ outcome: 'fine' }, 'outcome "fine" is none of completed, failed, aborted'],
    [{ tokens: -1 }, 'tokens "-1" is not a whole number'],
    [{ seen: 7 }, 'seen "7" is not an object'],
    [{ gaps_us: [[1]] }, 'gaps_us holds [1], which is not a pair of length and count'],
  ])('are refused with file and line when they have %j', (part, reason) => {
    const fields = JSON.parse(request(0)) as { measured: object };
    const line = JSON.stringify({ ...fields, measured: { ...fields.measured, ...part } });
    expect(() => parseMeasured(line, 'run.jsonl', 9)).toThrow(`run.jsonl:9: ${reason}`);
  });
});

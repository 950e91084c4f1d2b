import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAzureTrace } from './azure-trace';
import { parseTimestamp } from './timestamp';

const HEADER = 'TIMESTAMP,ContextTokens,GeneratedTokens';
const read = (...rows: string[]): ReturnType<typeof readAzureTrace> =>
  readAzureTrace('conv.csv', [HEADER, ...rows]);

describe('readAzureTrace', () => {
  it('reads requests with arrivals since the first, to the microsecond', () => {
    expect(
      read('2023-11-16 18:15:46.6805900,374,44', '2023-11-16 18:15:50.9951690,396,109', ''),
    ).toEqual({
      kind: 'requests',
      requests: [
        { arrivalUs: 0, promptTokens: 374, outputTokens: 44 },
        { arrivalUs: 4_314_579, promptTokens: 396, outputTokens: 109 },
      ],
    });
  });

  it('reads files with carriage returns, a byte order mark and offsets', () => {
    const lines = [
      `\uFEFF${HEADER}\r`,
      '2024-05-10 23:59:59.999999+00:00,1,1\r',
      '2024-05-11 00:00:00.5+00:00,2,2\r',
    ];
    expect(readAzureTrace('week.csv', lines)).toMatchObject({
      requests: [{ arrivalUs: 0 }, { arrivalUs: 500_001 }],
    });
  });

  const GOOD = '2023-11-16 18:15:46.68,374,44';
  it.each([
    ['2023-11-16 18:15:46.68,374', '2 fields instead of 3'],
    ['2023-11-16 18:15:46.68,374,44,1', '4 fields instead of 3'],
    ['2023-13-16 18:15:46.68,374,44', 'TIMESTAMP "2023-13-16 18:15:46.68" is no time'],
    ['2023-02-29 18:15:46.68,374,44', 'is no time'],
    ['yesterday,374,44', 'TIMESTAMP "yesterday" is no time'],
    ['2023-11-16 18:15:47.68,0,44', 'ContextTokens "0" is no whole number from 1'],
    ['2023-11-16 18:15:47.68,3.5,44', 'ContextTokens "3.5" is no'],
    ['2023-11-16 18:15:47.68,374,-1', 'GeneratedTokens "-1" is no'],
    ['2023-11-16 18:15:47.68,374,', 'GeneratedTokens "" is no'],
    ['2023-11-16 18:15:46.67,374,44', 'TIMESTAMP lies before that of the line above'],
  ])('refuses %j with file, line and reason', (row, reason) => {
    const result = read(GOOD, row);
    expect(result).toMatchObject({ kind: 'malformed', file: 'conv.csv', line: 3 });
    expect(result).toHaveProperty('reason', expect.stringContaining(reason));
  });

  it('refuses a file with another header', () => {
    expect(readAzureTrace('x.csv', ['a,b,c'])).toMatchObject({ kind: 'malformed', line: 1 });
  });

  it('reads back any trace', () => {
    const row = fc.record({
      gapUs: fc.nat(100_000_000),
      promptTokens: fc.integer({ min: 1, max: 200_000 }),
      outputTokens: fc.integer({ min: 1, max: 20_000 }),
    });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1 }), (rows) => {
        const startMs = Date.UTC(2023, 11, 31, 23, 59, 0);
        let sinceUs = 0;
        const requests = rows.map(({ gapUs, ...counts }, i) => {
          sinceUs += i === 0 ? 0 : gapUs;
          return { arrivalUs: sinceUs, ...counts };
        });
        const lines = requests.map(({ arrivalUs, promptTokens, outputTokens }) => {
          const time = new Date(startMs + Math.floor(arrivalUs / 1_000)).toISOString();
          const micros = String(arrivalUs % 1_000).padStart(3, '0');
          return `${time.slice(0, -1).replace('T', ' ')}${micros},${promptTokens},${outputTokens}`;
        });
        expect(read(...lines)).toEqual({ kind: 'requests', requests });
      }),
    );
  });
});

describe('parseTimestamp', () => {
  it('agrees with the platform on every date', () => {
    const date = fc.date({
      min: new Date('1900-01-01T00:00:00Z'),
      max: new Date('2199-12-31T23:59:59Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(date, (when) => {
        const expected = Math.floor(when.getTime() / 1_000);
        expect(parseTimestamp(when.toISOString())?.seconds).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it('honours an offset', () => {
    expect(parseTimestamp('1970-01-01 02:00:00+02:00')).toEqual({ seconds: 0, nanos: 0 });
  });
});

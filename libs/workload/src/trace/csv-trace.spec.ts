import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Workload } from '../workload';
import { readTrace } from './open-trace';
import { parseTimestamp } from './timestamp';
import { type Trace, TraceError, type TraceFormat } from './trace-reader';

const AZURE = 'TIMESTAMP,ContextTokens,GeneratedTokens';
const BURST = 'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type';
const BURST_3 =
  'Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type';
const VIDUR = 'arrived_at,num_prefill_tokens,num_decode_tokens';
const SPLITWISE =
  'request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size';

const read = (...lines: string[]): Trace => readTrace(lines, { file: 'trace.csv' });
const rowsOf = ({ workload }: { workload: Workload }): number[][] =>
  Array.from({ length: workload.count }, (_none, row) => [
    workload.arrivalUs[row]!,
    workload.promptTokens[row]!,
    workload.outputTokens[row]!,
  ]);

function refusalOf(lines: readonly string[], format?: TraceFormat): TraceError {
  try {
    readTrace(lines, { file: 'trace.csv', ...(format === undefined ? {} : { format }) });
  } catch (error) {
    if (error instanceof TraceError) return error;
    throw error;
  }
  throw new TraceError('trace.csv', 0, 'the trace was accepted');
}

describe('Azure traces', () => {
  it('are read with arrivals since the first request, to the microsecond', () => {
    const rows = [
      '2023-11-16 18:15:46.6805900,374,44',
      '2023-11-16 18:15:50.9951690,396,109',
      '2023-11-16 18:16:50,1,2',
    ];
    expect(rowsOf(read(AZURE, ...rows, ''))).toEqual([
      [0, 374, 44],
      [4_314_579, 396, 109],
      [63_319_410, 1, 2],
    ]);
  });

  it('are read with carriage returns, a byte order mark and offsets', () => {
    const rows = [
      '2024-05-10 23:59:59.999999+00:00,1,1\r',
      '2024-05-11 00:00:00.5+00:00,2,2\r',
      '2024-05-11 02:00:00.6+02:00,3,3\r',
      '2024-05-11 00:00:00.7+00:00,4,4\r',
    ];
    expect(rowsOf(read(`\uFEFF${AZURE}\r`, ...rows)).map(([at]) => at)).toEqual([
      0, 500_001, 600_001, 700_001,
    ]);
  });

  const GOOD = '2023-11-16 18:15:46.68,374,44';
  it.each([
    ['2023-11-16 18:15:46.68,374', '2 fields instead of 3'],
    ['2023-11-16 18:15:46.68,374,44,1', '4 fields instead of 3'],
    ['2023-13-16 18:15:46.68,374,44', 'TIMESTAMP "2023-13-16 18:15:46.68" is not a time like'],
    ['2023-02-29 18:15:46.68,374,44', 'is not a time'],
    ['2023-11-16 18:15:60.68,374,44', 'is not a time'],
    ['2023-11-16 18:15:4x.68,374,44', 'is not a time'],
    ['2023-11-16 18:15:46.,374,44', 'is not a time'],
    ['2023-11-16 18:15:46.1234567890,374,44', 'is not a time'],
    ['2023-11-16 18:15:46.6+0,374,44', 'is not a time'],
    ['2023-11-16 18:15,374,44', 'is not a time'],
    ['yesterday,374,44', 'TIMESTAMP "yesterday" is not a time'],
    [
      '2023-11-16 18:15:47.68,3.5,44',
      'ContextTokens "3.5" is not a whole number from 0 to 1000000000',
    ],
    ['2023-11-16 18:15:47.68,NaN,44', 'ContextTokens "NaN" is not a whole number'],
    ['2023-11-16 18:15:47.68,1000000001,44', 'ContextTokens "1000000001" is not a whole number'],
    ['2023-11-16 18:15:47.68,374,-1', 'GeneratedTokens "-1" is not'],
    ['2023-11-16 18:15:47.68,374,', 'GeneratedTokens "" is not'],
  ])('refuse %j with file, line and reason', (row, reason) => {
    const error = refusalOf([AZURE, GOOD, row]);
    expect(error).toMatchObject({ file: 'trace.csv', line: 3 });
    expect(error.message).toBe(`trace.csv:3: ${error.reason}`);
    expect(error.reason).toContain(reason);
  });

  it('may have quotes around any field, with commas in them', () => {
    const quoted = read(
      '"TIMESTAMP","ContextTokens","a, b",GeneratedTokens',
      '"2024-05-10 00:00:00.5+00:00","100","1,024","3"',
      '"2024-05-10 02:00:00.507+02:00",100,"",4',
      '2024-05-10 00:00:01,200,x,5',
    );
    expect(rowsOf(quoted)).toEqual([
      [0, 100, 3],
      [7_000, 100, 4],
      [500_000, 200, 5],
    ]);
    const refused = refusalOf([AZURE, '"2024-05-10 00:00:00","many","3"']);
    expect(refused.reason).toContain('ContextTokens "many" is not');
  });

  it('round-trip with any content', () => {
    const row = fc.record({
      gapUs: fc.nat(100_000_000),
      promptTokens: fc.integer({ min: 1, max: 200_000 }),
      outputTokens: fc.integer({ min: 1, max: 20_000 }),
    });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1 }), (rows) => {
        const startMs = Date.UTC(2023, 11, 31, 23, 59, 0);
        let sinceUs = 0;
        const requests = rows.map(({ gapUs, promptTokens, outputTokens }, i) => {
          sinceUs += i === 0 ? 0 : gapUs;
          return [sinceUs, promptTokens, outputTokens] as const;
        });
        const lines = requests.map(([arrivalUs, promptTokens, outputTokens]) => {
          const time = new Date(startMs + Math.floor(arrivalUs / 1_000)).toISOString();
          const micros = String(arrivalUs % 1_000).padStart(3, '0');
          return `${time.slice(0, -1).replace('T', ' ')}${micros},${promptTokens},${outputTokens}`;
        });
        expect(rowsOf(read(AZURE, ...lines))).toEqual(requests);
      }),
    );
  });
});

describe('BurstGPT traces', () => {
  it('start at the earliest request, and count failures without keeping them', () => {
    const trace = read(
      BURST,
      '45,ChatGPT,1087,230,1317,Conversation log',
      '118,GPT-4,417,0,417,API log',
      '121.5,GPT-4,417,276,693,API log',
    );
    expect(rowsOf(trace)).toEqual([
      [0, 1087, 230],
      [76_500_000, 417, 276],
    ]);
    expect(trace.report).toMatchObject({ format: 'burstgpt', requests: 2, failed: 1 });
  });

  it('have conversations where the file names them', () => {
    const { workload } = read(
      BURST_3,
      '19440110.0,1722ac82,43,GPT-4,906,446,1352,Conversation log',
      '19440161.0,,2,ChatGPT,36,29,65,API log',
      '19440192.0,1722ac82,2,ChatGPT,36,29,65,Conversation log',
    );
    expect(workload.session[0]).toBeGreaterThan(0);
    expect(workload.session[1]).toBe(0);
    expect(workload.session[2]).toBe(workload.session[0]);
  });
});

describe('Vidur and splitwise-sim traces', () => {
  it('are read to the nearest microsecond', () => {
    const stamps = ['0.0', '5.8926549999999995', '11.886634', '12', '1.3e1', '14.0000005'];
    const trace = read(VIDUR, ...stamps.map((stamp) => `${stamp},91,16`));
    expect(trace.report.format).toBe('vidur');
    expect(rowsOf(trace).map(([at]) => at)).toEqual([
      0, 5_892_655, 11_886_634, 12_000_000, 13_000_000, 14_000_001,
    ]);
  });

  it('may have more columns, in any order', () => {
    const header = ',num_decode_tokens,extra,arrived_at,num_prefill_tokens';
    expect(rowsOf(read(header, '0,7,x,2.5,9', '1,8,y,3,9'))).toEqual([
      [0, 9, 7],
      [500_000, 9, 8],
    ]);
  });

  it('of splitwise-sim have batches of one', () => {
    const trace = read(SPLITWISE, '0,2,0,0.5,1,1024,128', '1,2,0,0.75,1,10,20');
    expect(trace.report.format).toBe('splitwise');
    expect(rowsOf(trace)).toEqual([
      [0, 1024, 128],
      [250_000, 10, 20],
    ]);
    expect(refusalOf([SPLITWISE, '0,2,0,0.5,2,1024,128']).reason).toBe('batch_size "2" is not 1');
  });

  it.each(['-1', 'NaN', 'Infinity', '', '4000000001', '1e300', '0x10', '1.2.3', '.5.'])(
    'refuse %j seconds',
    (stamp) => {
      expect(refusalOf([VIDUR, `${stamp},91,16`])).toMatchObject({
        line: 2,
        reason: expect.stringContaining(
          `arrived_at "${stamp}" is not a number of seconds`,
        ) as string,
      });
    },
  );
});

describe('any trace in comma-separated values', () => {
  it('is sorted, and reports how many requests were out of order', () => {
    const trace = read(VIDUR, '3,1,1', '1,2,1', '2,3,1', '4,4,1', '1,5,1');
    expect(rowsOf(trace).map(([at, prompt]) => [at, prompt])).toEqual([
      [0, 2],
      [0, 5],
      [1_000_000, 3],
      [2_000_000, 1],
      [3_000_000, 4],
    ]);
    expect(trace.report.outOfOrder).toBe(3);
  });

  it('gives a request without prompt or output one token, and reports it', () => {
    const trace = read(VIDUR, '0,0,5', '1,5,0', '2,0,0');
    expect(rowsOf(trace).map(([, ...tokens]) => tokens)).toEqual([
      [1, 5],
      [5, 1],
      [1, 1],
    ]);
    expect(trace.report).toMatchObject({ emptyPrompts: 2, emptyOutputs: 2 });
  });

  it('may have no rows, and is read only up to the limit', () => {
    expect(read(VIDUR).workload.count).toBe(0);
    const lines = [VIDUR, '0,1,1', '1,1,1', 'not read'];
    expect(readTrace(lines, { file: 'x', limit: 2 }).workload.count).toBe(2);
    expect(readTrace(lines, { file: 'x', limit: 0 }).workload.count).toBe(0);
  });

  it('is refused with a header of another format', () => {
    const { line, reason } = refusalOf(['', VIDUR, '0,1,1'], 'azure');
    expect(line).toBe(2);
    expect(reason).toContain('lacks TIMESTAMP, ContextTokens, GeneratedTokens');
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

  it.each([
    '1970-01-01 02:00:00.25+02:00',
    '1970-01-01 02:00:00.250 +0200',
    '1970-01-01T02:00:00.25+02',
    '1970-01-01 00:00:00.250000 UTC',
    '1970/1/1 0:00:00,25',
    '1970-01-01T00:00:00.25z',
  ])('reads %s as data frames and spreadsheets write it', (text) => {
    expect(parseTimestamp(text)).toEqual({ seconds: 0, nanos: 250_000_000 });
  });

  it.each(['1/2/1970 0:00:00', '1970-01-01', '1970-01-01 00:00:00 CET', '1970-01-01 00:00:00+2'])(
    'refuses %s, which has no one meaning',
    (text) => {
      expect(parseTimestamp(text)).toBeUndefined();
    },
  );
});

import { describe, expect, it } from 'vitest';
import { readTrace } from './open-trace';
import { type Trace, TraceError } from './trace-reader';

const line = (fields: Record<string, unknown>): string =>
  JSON.stringify({ timestamp: 0, input_length: 1000, output_length: 5, ...fields });
const read = (...lines: string[]): Trace => readTrace(lines, { file: 'm.jsonl' });

describe('Mooncake traces', () => {
  it('are read with their blocks of 512 tokens', () => {
    const { workload, report } = read(
      line({ timestamp: 3000, hash_ids: [0, 7] }),
      '',
      line({ timestamp: 4500, input_length: 1500, hash_ids: [0, 7, 9] }),
    );
    expect(report).toMatchObject({ format: 'mooncake', requests: 2, outOfOrder: 0 });
    expect(workload).toMatchObject({ contentBlockTokens: 512, contentCount: 3 });
    expect(Array.from(workload.arrivalUs)).toEqual([0, 1_500_000]);
    expect(Array.from(workload.contentStart)).toEqual([0, 2, 5]);
    expect(Array.from(workload.contentIds)).toEqual([1, 2, 1, 2, 3]);
    expect(workload.contentSpan).toBe('prompt');
  });

  it('may have blocks of another size, or none', () => {
    const options = { file: 'm', blockTokens: 64 };
    const lines = [line({ input_length: 100, hash_ids: [1, 2] }), line({})];
    const { workload } = readTrace(lines, options);
    expect(workload.contentBlockTokens).toBe(64);
    expect(Array.from(workload.contentStart)).toEqual([0, 2, 2]);
  });

  it('follow the previous row of the session, where Dynamo wrote a delay', () => {
    const { workload } = read(
      line({ timestamp: 500, session_id: 'a' }),
      line({ timestamp: 100, session_id: 'b' }),
      JSON.stringify({ delay: 20, session_id: 'a', input_length: 2000, output_length: 5 }),
      JSON.stringify({ delay_ms: 30, session_id: 'a', input_length: 3000, output_length: 5 }),
    );
    expect(Array.from(workload.promptTokens)).toEqual([1000, 1000, 2000, 3000]);
    expect(Array.from(workload.after)).toEqual([-1, -1, 1, 2]);
    expect(Array.from(workload.arrivalUs)).toEqual([0, 400_000, 20_000, 30_000]);
    expect(workload.session[1]).toBe(workload.session[3]);
  });

  it('take integers of any size and sign as ids, and merge only equal ones', () => {
    const big = (...ids: string[]): string =>
      line({}).replace('}', `,"hash_ids":[${ids.join(',')}]}`);
    const read2 = (one: string, other: string): boolean => {
      const { workload } = read(big('7', one), big('7', other));
      const [, first, , second] = workload.contentIds;
      return first === second;
    };
    expect(read2('9007199254740992', '9007199254740993')).toBe(false);
    expect(read2('18446744073709551615', '18446744073709551614')).toBe(false);
    expect(read2('-1', '-2')).toBe(false);
    expect(read2('-1', '18446744073709551615')).toBe(false);
    expect(read2('2487146581271002166', '2487146581271002166')).toBe(true);
    expect(read2('-9223372036854775808', '-9223372036854775808')).toBe(true);
    expect(read2('4503599627370496', '9007199254740993')).toBe(false);
  });

  it.each([
    ['{"timestamp": 0, "input_length": 10', /broken JSON/],
    ['[1]', /not a JSON object/],
    [line({ timestamp: -1 }), /timestamp "-1" is not a number from 0/],
    [line({ timestamp: '0' }), /timestamp ".*" is not a number/],
    [line({ timestamp: undefined }), /timestamp is missing/],
    [line({ timestamp: 1e300 }), /timestamp "1e\+300" is not a number/],
    [line({ input_length: 1.5 }), /input_length "1.5" is not a whole number/],
    [line({ input_length: -1 }), /input_length "-1" is not a whole number/],
    [line({ output_length: null }), /output_length is missing/],
    [line({ output_length: 2e9 }), /output_length "2000000000" is not a whole number/],
    [line({ hash_ids: 5 }), /hash_ids "5" is not a list/],
    [line({ hash_ids: [1.5] }), /hash_ids holds "1.5"/],
    [line({ hash_ids: ['a'] }), /hash_ids holds "a"/],
    [line({ hash_ids: [1, null] }), /hash_ids holds "null"/],
    [line({ hash_ids: [1, 2, 3] }), /3 hash_ids are too many for 1000 tokens in blocks of 512/],
    [line({ output_length: 1 }).replace(':1}', ':99999999999999999999}'), /length "9{20}" is not/],
    [line({ wait_for: ['x'] }), /wait_for .* not supported/],
    [line({ session_id: {} }), /session_id .* is neither text nor/],
  ])('refuse %s', (bad, reason) => {
    const attempt = (): Trace => read(line({ hash_ids: [1] }), bad);
    expect(attempt).toThrow(TraceError);
    expect(attempt).toThrow(/^m\.jsonl:2: /);
    expect(attempt).toThrow(reason);
  });
});

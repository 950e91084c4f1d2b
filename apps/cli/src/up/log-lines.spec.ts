import { describe, expect, it } from 'vitest';
import { formatLine } from './log-lines';

describe('a line of a child', () => {
  it('shows name, level, message and further fields of a JSON log line', () => {
    const json =
      '{"level":40,"time":"t","pid":1,"name":"decode-1","msg":"late","lagMs":7,"of":{"a":1}}';
    expect(formatLine('decode-1', json)).toBe('decode-1     | warn  late lagMs=7 of={"a":1}\n');
  });

  it.each(['plain text', '{ not json', '{}x'])('leaves %j unchanged', (line) => {
    expect(formatLine('api', line)).toBe(`api          | ${line}\n`);
  });
});

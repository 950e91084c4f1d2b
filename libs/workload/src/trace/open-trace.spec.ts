import { describe, expect, it } from 'vitest';
import { detectTraceFormat, openAnyTrace, readTrace } from './open-trace';
import { TraceError } from './trace-reader';

describe('detectTraceFormat', () => {
  it.each([
    ['\uFEFFTIMESTAMP,ContextTokens,GeneratedTokens\r', 'azure'],
    ['Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type', 'burstgpt'],
    ['arrived_at,num_prefill_tokens,num_decode_tokens', 'vidur'],
    ['request_id,arrival_timestamp,batch_size,prompt_size,token_size', 'splitwise'],
    ['{"timestamp": 0, "input_length": 6758, "output_length": 500}', 'mooncake'],
    ['{"arrival_ms":0,"prompt_tokens":1,"output_tokens":1}', 'baton'],
    ['{"prompt":"hello"}', undefined],
    ['a,b,c', undefined],
    ['PK\u0003\u0004', undefined],
  ])('detects from %j the format %s', (line, format) => {
    expect(detectTraceFormat(line)).toBe(format);
  });
});

describe('openAnyTrace', () => {
  it('finds the format behind blank lines', () => {
    const trace = readTrace(
      ['', '  ', 'arrived_at,num_prefill_tokens,num_decode_tokens', '0,1,1'],
      {
        file: 'x',
      },
    );
    expect(trace.report).toMatchObject({ format: 'vidur', requests: 1 });
  });

  it('reads an empty file as a trace without requests', () => {
    expect(readTrace([], { file: 'x' }).workload.count).toBe(0);
    expect(readTrace([''], { file: 'x' }).report.requests).toBe(0);
  });

  it('refuses an unknown format, and names the line', () => {
    const reader = openAnyTrace({ file: 'x.bin' });
    reader.push('', 1);
    expect(() => reader.push('what is this', 2)).toThrow(TraceError);
    expect(() => reader.push('what is this', 2)).toThrow(
      /^x\.bin:2: "what is this" does not begin/,
    );
  });
});

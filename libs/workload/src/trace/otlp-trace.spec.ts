import { describe, expect, it } from 'vitest';
import { detectTraceFormat, readTrace } from './open-trace';

const T0 = 1_700_000_000_123_456_789n;

function span(afterMs: number, attributes: Record<string, unknown>, more: object = {}): object {
  return {
    name: 'chat',
    startTimeUnixNano: String(T0 + BigInt(afterMs) * 1_000_000n),
    attributes: Object.entries(attributes).map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
    })),
    ...more,
  };
}

function line(...spans: object[]): string {
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
}

const USAGE = { 'gen_ai.usage.input_tokens': 120, 'gen_ai.usage.output_tokens': 30 };

describe('spans of OpenTelemetry', () => {
  it('become requests that arrive at their start, with their tokens and conversations', () => {
    const talk = { ...USAGE, 'gen_ai.conversation.id': 'a', 'gen_ai.request.max_tokens': 64 };
    const old = { 'gen_ai.usage.prompt_tokens': 7, 'gen_ai.usage.completion_tokens': 2 };
    const { workload, report } = readTrace(
      [line(span(0, talk), span(5, { 'http.route': '/' })), line(span(250, old))],
      { file: 'spans.json' },
    );
    expect(report).toMatchObject({ format: 'otlp', requests: 2, failed: 0 });
    expect([...workload.arrivalUs]).toEqual([0, 250_000]);
    expect([...workload.promptTokens]).toEqual([120, 7]);
    expect([...workload.outputTokens]).toEqual([30, 2]);
    expect(workload.session[0]).toBeGreaterThan(0);
  });

  it('of failed calls are counted and left out', () => {
    const failed = span(1, USAGE, { status: { code: 2 } });
    const { report } = readTrace([line(span(0, USAGE), failed)], { file: 'x' });
    expect(report).toMatchObject({ requests: 1, failed: 1 });
  });

  it('stop at the limit within a line', () => {
    const many = line(span(0, USAGE), span(1, USAGE), span(2, USAGE));
    expect(readTrace([many], { file: 'x', limit: 2 }).report.requests).toBe(2);
  });

  it('are detected in the first line', () => {
    expect(detectTraceFormat(line(span(0, USAGE)))).toBe('otlp');
  });

  it.each([
    [span(0, { ...USAGE, 'gen_ai.usage.input_tokens': -1 }), 'gen_ai.usage.input_tokens'],
    [span(0, USAGE, { startTimeUnixNano: 'soon' }), 'startTimeUnixNano ""soon"" is not a time'],
  ])('are refused with file and line (%#)', (bad, reason) => {
    expect(() => readTrace([line(bad)], { file: 'x.json' })).toThrow(`x.json:1: ${reason}`);
  });
});

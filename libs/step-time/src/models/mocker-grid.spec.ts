import { findGpu, findModel, HardwareError } from '@baton/hardware';
import { describe, expect, it } from 'vitest';
import { buildStepTimeModel } from '..';
import { EMPTY } from '../../test/test-batches';

const PLACEMENT = { model: findModel('llama-3.1-8b'), gpu: findGpu('h100'), tp: 1 };
const HEADER =
  'prefill_isl,prefill_ttft_ms,decode_active_kv_tokens,decode_context_length,decode_itl';
const ROWS = [
  '100,10,1000,500,6',
  '1100,30,9000,500,10',
  ',,1000,1500,5',
  ',,9000,1500,9',
  '2100,70,,,',
];
const prompt = (prefillTokens: number) => ({ ...EMPTY, prefillSeqs: 1, prefillTokens });
const decode = (decodeSeqs: number, decodeContext: number) => ({
  ...EMPTY,
  decodeSeqs,
  decodeContext,
});
const build = (rows: readonly string[] = ROWS) =>
  buildStepTimeModel({ kind: 'table', csv: [HEADER, ...rows].join('\n') }, PLACEMENT);

describe("the Dynamo mocker's planner profile as CSV", () => {
  const model = build();

  it('is linear between the points of prefill, and of decode over active KV and context', () => {
    expect(model.stepUs(prompt(600))).toBe(20_000);
    expect(model.stepUs(prompt(1600))).toBe(50_000);
    expect(model.stepUs(decode(10, 5000))).toBe(8000);
    expect(model.stepUs(decode(5, 5000))).toBe(7500);
  });

  it('adds prefill and decode up, and follows no decode law', () => {
    const both = { ...prompt(600), decodeSeqs: 10, decodeContext: 5000 };
    expect(model.stepUs(both)).toBe(28_000);
    expect(model.decodeLaw).toBeUndefined();
  });

  it('reports batches outside of its range', () => {
    expect(model.outsideRange!(prompt(2100))).toBeUndefined();
    expect(model.outsideRange!(prompt(2101))).toMatchObject({ what: 'prompt tokens per step' });
    expect(model.outsideRange!(decode(6, 9000))).toBeUndefined();
    expect(model.outsideRange!(decode(5, 9000))).toMatchObject({ value: 1800, range: [0, 1500] });
    expect(model.outsideRange!(decode(18, 9001))).toMatchObject({ value: 9001, range: [0, 9000] });
  });

  it.each([
    [
      'a time that is no number',
      ['100,ten,,,'],
      "line 2: prefill_ttft_ms must be a number from 0, not 'ten'",
    ],
    ['half of a decode point', ['100,1,500,,'], 'line 2: decode_context_length must be'],
    ['no decode point', ['100,1,,,'], 'it needs rows with prefill_isl'],
  ])('refuses %s', (_, rows, sentence) => {
    expect(() => build(rows)).toThrow(HardwareError);
    expect(() => build(rows)).toThrow(sentence);
  });

  it('refuses a table that lacks columns', () => {
    const csv = 'prefill_isl,prefill_ttft_ms\n1,2';
    expect(() => buildStepTimeModel({ kind: 'table', csv }, PLACEMENT)).toThrow(
      'line 1 lacks the columns decode_active_kv_tokens',
    );
  });
});

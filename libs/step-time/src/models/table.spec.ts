import { findGpu, findModel, HardwareError } from '@baton/hardware';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { buildStepTimeModel } from '..';
import { decoding, prompts } from '../../test/test-batches';

const PLACEMENT = { model: findModel('llama-3.1-8b'), gpu: findGpu('h100'), tp: 1 };
const HEADER = 'gpu,model,tp,phase,batch_size,tokens_or_context,cached_prefix,latency_ms';
const build = (lines: readonly string[]) =>
  buildStepTimeModel({ kind: 'table', csv: [HEADER, ...lines].join('\n') }, PLACEMENT);

const LINES = [
  'h100,llama-3.1-8b,1,decode,1,100,0,5',
  'h100,llama-3.1-8b,1,decode,1,300,0,7',
  'h100,llama-3.1-8b,1,decode,3,100,0,9',
  'h100,llama-3.1-8b,1,decode,3,300,0,13',
  'H100-SXM-80GB,Llama-3.1-8B,1,prefill,1,100,0,10',
  'h100,llama-3.1-8b,1,prefill,1,200,0,20',
  'h100,llama-3.1-8b,1,prefill,1,100,1000,14',
  'l40s,llama-3.1-8b,1,prefill,1,100,0,99',
];

describe('table', () => {
  const model = build(LINES);

  it('is bilinear between measured steps', () => {
    expect(model.stepUs(decoding(1, 100))).toBeCloseTo(5000, 6);
    expect(model.stepUs(decoding(2, 200))).toBeCloseTo(8500, 6);
    expect(model.stepUs(prompts(1, 150))).toBeCloseTo(15_000, 6);
  });

  it('adds the cost of a cached prefix in proportion', () => {
    expect(model.stepUs(prompts(1, 100, 1000))).toBeCloseTo(14_000, 6);
    expect(model.stepUs(prompts(1, 100, 500))).toBeCloseTo(12_000, 6);
    expect(model.stepUs(prompts(1, 50, 1000)) - model.stepUs(prompts(1, 50))).toBeCloseTo(2000, 6);
  });

  it('charges a mixed step its prefill and the time of decode beyond the shortest one', () => {
    const mixed = { ...prompts(1, 100), decodeSeqs: 3, decodeContext: 300 };
    expect(model.stepUs(mixed)).toBeCloseTo(10_000 + 9000 - 5000, 6);
  });

  it('gives a decode law for each cell', () => {
    expect(model.decodeLaw!(1)).toEqual({ baseUs: 5000, perContextUs: 0, contextLimit: 100 });
    const second = model.decodeLaw!(3, 310)!;
    expect(second.perContextUs).toBeCloseTo(20 / 3, 9);
    expect(second.contextLimit).toBe(900);
    expect(model.decodeLaw!(3, 1200)!.contextLimit).toBe(Infinity);
  });

  it('continues a batch size measured at one context with the slope of the smaller one, scaled', () => {
    const sparse = build([...LINES, 'h100,llama-3.1-8b,1,decode,6,100,0,20']);
    const slopeMs = ((13 - 9) / 200) * 2;
    expect(sparse.stepUs(decoding(6, 250)) / 1000).toBeCloseTo(20 + 150 * slopeMs, 6);
  });

  it('gives no law where noise makes longer contexts faster', () => {
    const noisy = build([...LINES, 'h100,llama-3.1-8b,1,decode,1,400,0,6']);
    expect(noisy.decodeLaw!(1, 350)).toBeUndefined();
  });

  it('reports batches outside of its range', () => {
    expect(model.outsideRange!(decoding(2, 250))).toBeUndefined();
    expect(model.outsideRange!(decoding(4, 250))).toBeDefined();
    expect(model.outsideRange!(decoding(2, 301))).toBeDefined();
    expect(model.outsideRange!(prompts(2, 100))).toBeDefined();
    expect(model.outsideRange!(prompts(1, 100, 1000))).toBeUndefined();
    expect(model.outsideRange!(prompts(1, 100, 1001))).toBeDefined();
  });

  it.each([
    ['a missing column', 'gpu,model\nh100,x', 'line 1 lacks the columns tp, phase'],
    ['a wrong number', `${HEADER}\n${LINES[0]!.replace(',5', ',five')}`, 'line 2: latency_ms must'],
    ['an unknown phase', `${HEADER}\nh100,llama-3.1-8b,1,both,1,1,0,1`, "not 'both'"],
    ['another GPU only', `${HEADER}\n${LINES[7]}`, 'only for: llama-3.1-8b on l40s TP1'],
    ['decode rows only', [HEADER, ...LINES.slice(0, 4)].join('\n'), 'it needs decode rows'],
  ])('refuses %s with one clear sentence', (_, csv, sentence) => {
    const failure = () => buildStepTimeModel({ kind: 'table', csv }, PLACEMENT);
    expect(failure).toThrow(HardwareError);
    expect(failure).toThrow(sentence);
  });

  it('returns the measured times of the shipped grid', () => {
    const csv = readFileSync(
      new URL('../../../../data/profiles/calibration_grid.csv', import.meta.url),
      'utf8',
    );
    const shipped = buildStepTimeModel({ kind: 'table', csv }, PLACEMENT);
    expect(shipped.stepUs(decoding(64, 1024)) / 1000).toBeCloseTo(10.5434, 6);
    expect(shipped.stepUs(prompts(4, 512)) / 1000).toBeCloseTo(42.766, 6);
    expect(shipped.stepUs(prompts(1, 2048, 8192)) / 1000).toBeCloseTo(55.7587, 6);
  });
});

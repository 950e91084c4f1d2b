import { describe, expect, it } from 'vitest';
import { decodeStep } from '../fits/measured-step';
import { fitSteps } from './fit-steps';

const OPTIONS = {
  fit: 'calibrated',
  holdOutEvery: 5,
  seed: 0,
  overheadMs: 0,
  placement: { model: 'acme', gpu: 'h100', tp: 1 },
} as const;
/** Decode steps of two engines, one of them `factor` times slower. */
const mixed = (factor: number) =>
  Array.from({ length: 60 }, (_, i) => {
    const count = 1 + (i % 20);
    const ms = 5 + count * 0.1;
    return decodeStep(count, count * 1_000, i % 2 === 0 ? ms : ms * factor);
  });

describe('a fit', () => {
  it('is refused when it is wrong on held-out steps, with the reason', () => {
    expect(() => fitSteps(mixed(8), { options: OPTIONS })).toThrow(
      /on \d+ held-out decode steps it is wrong by \d+ % on average \(limit 50 %\)/,
    );
  });

  it('is kept when it holds there', () => {
    expect(fitSteps(mixed(1.05), { options: OPTIONS }).heldOut).toHaveLength(1);
  });
});

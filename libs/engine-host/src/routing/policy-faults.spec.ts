import type { PolicyFault } from '@baton/policies';
import { describe, expect, it } from 'vitest';
import { PolicyFaultBook } from './policy-faults';

const FAULT: PolicyFault = { path: 'a.mjs', stage: 'decode', kind: 'threw', message: 'It threw.' };

describe('PolicyFaultBook', () => {
  it('counts by file, stage and kind', () => {
    const book = new PolicyFaultBook(() => undefined);
    for (const kind of ['slow', 'threw', 'slow'] as const) book.add({ ...FAULT, kind });
    book.add({ ...FAULT, stage: 'prefill' });
    expect(book.counts).toEqual([
      { policy: 'a.mjs', stage: 'decode', kind: 'slow', count: 2 },
      { policy: 'a.mjs', stage: 'decode', kind: 'threw', count: 1 },
      { policy: 'a.mjs', stage: 'prefill', kind: 'threw', count: 1 },
    ]);
  });

  it('reports the first, the tenth and the hundredth of a kind', () => {
    const reports: string[] = [];
    const book = new PolicyFaultBook((message) => reports.push(message));
    for (let i = 0; i < 150; i += 1) book.add(FAULT);
    expect(reports).toEqual([
      'It threw.',
      'It threw. This is fault 10 of its kind.',
      'It threw. This is fault 100 of its kind.',
    ]);
  });
});

import type { Summary } from '@baton/analysis';
import { describe, expect, it } from 'vitest';
import { besideTwin } from './virtual-twin';

const TWIN = {
  ttft_ms: { p50: 5 },
  tpot_ms: { p50: 5 },
  e2el_ms: { p50: 5 },
  output_tokens_per_second: 7,
} as Summary;

describe('a demonstration beside the virtual clock', () => {
  it('marks the measured column when the run is void', () => {
    const headOf = (reason: string | null): string =>
      besideTwin({ load_generator: { void: reason } }, TWIN).split('\n')[0]!;
    expect(headOf('the load was late')).toMatch(/measured \(VOID\) +virtual clock/);
    expect(headOf(null)).not.toContain('VOID');
  });
});

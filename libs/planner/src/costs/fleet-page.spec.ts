import { GPU_POWER, GPU_PRICES } from '@baton/hardware';
import { describe, expect, it } from 'vitest';
import { pageText } from '../../../../test/support/page';

const PAGE = pageText('docs/planning.md');

describe('docs/planning.md', () => {
  it('has every price with its date and its source', () => {
    for (const { gpu, usdPerHour, asOf, source } of GPU_PRICES) {
      expect(PAGE).toContain(`| ${gpu} | ${usdPerHour} | ${asOf} | ${source} |`);
    }
  });

  it('has the watts of every measured GPU', () => {
    const measured = GPU_POWER.filter(({ source }) => source.includes('measured'));
    expect(measured.length).toBeGreaterThan(1);
    for (const { gpu, idleWatts, decodeWatts, prefillWatts } of measured) {
      expect(PAGE).toContain(`| ${gpu} | ${idleWatts} | ${decodeWatts} | ${prefillWatts} |`);
    }
  });
});

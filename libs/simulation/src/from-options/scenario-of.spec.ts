import { defaultConfig } from '@baton/config';
import { WorkloadBuilder } from '@baton/workload';
import { describe, expect, it } from 'vitest';
import { scenarioOf } from './scenario-of';

describe('ends_by', () => {
  const endsByEos = (config: Parameters<typeof defaultConfig>[0]) => {
    const workload = new WorkloadBuilder({ contentBlockTokens: 16 }).build();
    return scenarioOf(defaultConfig({ topology: '1A', ...config }), workload).endsByEos;
  };

  it('lets EOS end the requests of a scenario, which by default end at their limit', () => {
    expect(endsByEos({ endsBy: 'eos' })).toBe(true);
    expect(endsByEos({})).toBeUndefined();
  });
});

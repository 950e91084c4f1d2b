import { defaultConfig, UsageError } from '@baton/config';
import { describe, expect, it } from 'vitest';
import { CallClasses } from './call-classes';

const CONFIG = defaultConfig({
  sloClasses: { standard: { priority: 2 }, interactive: { priority: 1 } },
  sloObjectives: ['chat-premium=interactive'],
});

function classOf(headers: Record<string, string>, body: object = {}): string {
  return new CallClasses(CONFIG).of({ message: { headers }, body, tenant: undefined }).name;
}

describe('the class of a call', () => {
  it('is that of the InferenceObjective in the header of the gateway', () => {
    const header = 'x-gateway-inference-objective';
    expect(classOf({ [header]: 'chat-premium' })).toBe('interactive');
    expect(classOf({ [header]: 'interactive' })).toBe('interactive');
    expect(classOf({ [header]: 'other' })).toBe('standard');
    expect(classOf({ [header]: 'chat-premium', 'x-slo-class': 'standard' })).toBe('standard');
  });

  it('is the one that service_tier names, after the objective', () => {
    expect(classOf({}, { service_tier: 'interactive' })).toBe('interactive');
    expect(classOf({}, { service_tier: 'auto' })).toBe('standard');
    const objective = { 'x-gateway-inference-objective': 'chat-premium' };
    expect(classOf(objective, { service_tier: 'standard' })).toBe('interactive');
  });

  it('needs a class for every objective', () => {
    for (const wrong of ['chat-premium', 'chat-premium=gold', '=standard']) {
      const config = { ...CONFIG, sloObjectives: [wrong] };
      expect(() => new CallClasses(config), wrong).toThrow(UsageError);
    }
  });
});

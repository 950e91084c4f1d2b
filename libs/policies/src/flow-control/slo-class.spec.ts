import { describe, expect, it } from 'vitest';
import { type ClassSigns, type SloClass, SloClasses } from './slo-class';

const GOLD: SloClass = { name: 'gold', priority: 1, weight: 2 };
const FLEX: SloClass = { name: 'flex', priority: 5, weight: 1 };
const CLASSES = new SloClasses([GOLD, FLEX], GOLD, [['night-jobs', FLEX]]);

describe('the SLO class of a request', () => {
  it.each<[string, ClassSigns, string | undefined]>([
    ['the one it names', { name: 'flex', tier: 'gold' }, 'flex'],
    ['none when it names one that does not exist', { name: 'silver' }, undefined],
    ['that of its objective', { objective: 'flex', tier: 'gold' }, 'flex'],
    ['that of which its objective is another name', { objective: 'night-jobs' }, 'flex'],
    ['not that of a tier with the name of an objective', { tier: 'night-jobs' }, 'gold'],
    ['that of its service tier', { tier: 'flex', priority: 1 }, 'flex'],
    ['that of its priority', { priority: 5 }, 'flex'],
    ['the default for others', { objective: 'x', tier: 'auto', priority: 9 }, 'gold'],
    ['the default without a field', {}, 'gold'],
  ])('is %s', (_what, signs, expected) => {
    expect(CLASSES.find(signs)?.name).toBe(expected);
  });
});

import { describe, expect, it } from 'vitest';
import { spreadLists } from './spread-lists';

const spread = (line: string): string =>
  spreadLists(line.split(' '), ['--served-model-name', '--api-key']).join(' ');

describe('a flag with a list', () => {
  it.each([
    ['up --api-key k l --port 1', 'up --api-key=k --api-key=l --port 1'],
    ['up --served-model-name a --api-key k l', 'up --served-model-name=a --api-key=k --api-key=l'],
    ['up 1A --served-model-name a', 'up 1A --served-model-name=a'],
    ['up --model m x', 'up --model m x'],
  ])('has the words up to the next flag: %s', (line, expected) => {
    expect(spread(line)).toBe(expected);
  });

  it.each([
    ['up --served-model-name a b 2P3D', 'up --served-model-name=a --served-model-name=b 2P3D'],
    ['up --served-model-name 4A 1p1d', 'up --served-model-name=4A 1p1d'],
  ])('leaves the topology to the command: %s', (line, expected) => {
    expect(spread(line)).toBe(expected);
  });

  it.each([
    'up --served-model-name=a b',
    'up --served-model-name',
    'up --served-model-name --port 1',
    'up -- --served-model-name a b',
  ])('leaves %s unchanged', (line) => {
    expect(spread(line)).toBe(line);
  });
});

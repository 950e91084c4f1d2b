import { describe, expect, it } from 'vitest';
import { PrefixDirectory } from './prefix-directory';
import { placementRequest } from '../../test/test-context';

const request = placementRequest({ promptTokens: 70, blockHashes: [1, 2, 3, 4], blockCount: 4 });

describe('PrefixDirectory', () => {
  it('expects on an engine the prompts sent there, up to the size of its cache', () => {
    const directory = new PrefixDirectory(16);
    directory.join('a', 1_000);
    directory.join('b', 40);
    directory.record('a', request);
    directory.record('b', request);
    expect(directory.cachedTokens('a', request)).toBe(64);
    expect(directory.cachedTokens('b', request)).toBe(32);
    expect(directory.cachedTokens('c', request)).toBe(0);
  });

  it('leaves the last token of a prompt, and its block, to be computed', () => {
    const directory = new PrefixDirectory(16);
    directory.join('a', 1_000);
    directory.record('a', request);
    expect(directory.cachedTokens('a', { ...request, promptTokens: 64 })).toBe(48);
    expect(directory.cachedTokens('a', { ...request, promptTokens: 65 })).toBe(64);
  });

  it('expects nothing of an engine that went, came back, or never was', () => {
    const directory = new PrefixDirectory(16);
    directory.record('a', request);
    expect(directory.cachedTokens('a', request)).toBe(0);
    directory.join('a', 1_000);
    directory.record('a', request);
    directory.leave('a');
    expect(directory.cachedTokens('a', request)).toBe(0);
    directory.join('a', 1_000);
    expect(directory.cachedTokens('a', request)).toBe(0);
  });
});

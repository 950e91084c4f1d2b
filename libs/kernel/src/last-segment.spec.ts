import { describe, expect, it } from 'vitest';
import { lastSegment } from './last-segment';

describe('the last segment of a path', () => {
  it.each([
    ['meta-llama/llama-3.1-8b', 'llama-3.1-8b'],
    ['#/components/schemas/Chat', 'Chat'],
    ['llama-3.1-8b', 'llama-3.1-8b'],
    ['folder/', ''],
    ['', ''],
  ])('of %j is %j', (path, segment) => {
    expect(lastSegment(path)).toBe(segment);
  });
});

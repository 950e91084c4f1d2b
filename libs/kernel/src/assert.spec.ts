import { describe, expect, it } from 'vitest';
import { assert, InvariantError, unreachable } from './assert';

describe('assert', () => {
  it('lets what holds pass and stops what does not, with its message', () => {
    expect(() => assert(1 + 1 === 2, 'sum')).not.toThrow();
    expect(() => assert(undefined, 'no value')).toThrow(new InvariantError('no value'));
  });
});

describe('unreachable', () => {
  it('stops when the data lied to the compiler', () => {
    expect(() => unreachable('seven' as never)).toThrow('"seven"');
  });
});

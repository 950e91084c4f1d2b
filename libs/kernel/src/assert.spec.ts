import { describe, expect, it } from 'vitest';
import { assert, InvariantError, unreachable } from './assert';

describe('assert', () => {
  it('passes a true condition and throws for a false one, with its message', () => {
    expect(() => assert(1 + 1 === 2, 'sum')).not.toThrow();
    expect(() => assert(undefined, 'no value')).toThrow(new InvariantError('no value'));
  });
});

describe('unreachable', () => {
  it('throws when the data does not match its type', () => {
    expect(() => unreachable('seven' as never)).toThrow('"seven"');
  });
});

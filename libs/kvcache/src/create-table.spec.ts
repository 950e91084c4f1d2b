import { describe, expect, it } from 'vitest';
import { createTable } from './create-table';
import { DENSE_CONTENTS_MAX, DenseTable } from './dense-table';

describe('dense content ids', () => {
  it('number the rows of blocks up to a bound of memory, and are hashed beyond', () => {
    expect(createTable(4, DENSE_CONTENTS_MAX)).toBeInstanceOf(DenseTable);
    expect(createTable(4, DENSE_CONTENTS_MAX + 1)).not.toBeInstanceOf(DenseTable);
    expect(createTable(4)).not.toBeInstanceOf(DenseTable);
  });

  it('must not be larger than was announced', () => {
    const table = createTable(4, 5);
    expect(table.enter(5, -1)).toBe(5);
    expect(() => table.enter(6, -1)).toThrow(/beyond the number announced/);
  });
});

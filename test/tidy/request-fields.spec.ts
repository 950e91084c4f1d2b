import { describe, expect, it } from 'vitest';
import { filesBelow, read } from './repository';

/** A field of a request that reaches the engine, in the spellings of the wire and of the code. */
const FIELD = /cache_?hit_?threshold/i;
/** The server's own default is an option of the configuration, not a field of a request. */
const OPTION = /global_?cache_?hit_?threshold/gi;
const MOST_FILES = 4;

function namesField(path: string): boolean {
  return FIELD.test(read(path).replace(OPTION, ''));
}

describe('a request field that reaches the engine', () => {
  it(`is named in at most ${MOST_FILES} code files`, () => {
    const code = [...filesBelow('apps'), ...filesBelow('libs')].filter(
      (path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'),
    );
    const files = code.filter(namesField);
    expect(files.length).toBeGreaterThan(0);
    expect(files.length, files.join(', ')).toBeLessThanOrEqual(MOST_FILES);
  });
});

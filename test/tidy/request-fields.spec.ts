import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** A field of a request that reaches the engine, in the spellings of the wire and of the code. */
const FIELD = 'cache_?hit_?threshold';
/** The server's own default is an option of the configuration, not a field of a request. */
const OPTION = /global_?cache_?hit_?threshold/gi;
const MOST_FILES = 4;

function linesThatName(pattern: string): string[] {
  const options = ['grep', '-iE', pattern, '--', 'apps/*.ts', 'libs/*.ts', ':!*.spec.ts'];
  return execFileSync('git', options, { encoding: 'utf8' }).trim().split('\n');
}

describe('a request field that reaches the engine', () => {
  it(`is named in at most ${MOST_FILES} code files`, () => {
    const isField = new RegExp(FIELD, 'i');
    const lines = linesThatName(FIELD).filter((line) => isField.test(line.replace(OPTION, '')));
    const files = new Set(lines.map((line) => line.split(':', 1)[0]));
    expect(files.size).toBeGreaterThan(0);
    expect([...files].length, [...files].join(', ')).toBeLessThanOrEqual(MOST_FILES);
  });
});

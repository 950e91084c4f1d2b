import { describe, expect, it } from 'vitest';
import { allFiles, foldersIn, isCode, occurrences, read } from './repository';

const files = allFiles();
const code = files.filter(isCode);
const prose = files.filter((path) => path.endsWith('.md') || /\.ya?ml$|Dockerfile$/.test(path));
const written = [...code, ...prose].filter((path) => !path.startsWith('test/tidy/'));

describe('every file', () => {
  it('is named after its content', () => {
    const vague = files.filter((path) => /(^|\/)(utils?|helpers?|common|misc)\.[^/]+$/.test(path));
    expect(vague).toEqual([]);
  });

  it('is named in kebab case', () => {
    const other = code.filter((path) => !/(^|\/)\.?[a-z0-9]+([-.][a-z0-9]+)*\.[a-z]+$/.test(path));
    expect(other).toEqual([]);
  });

  it('has no path of a single machine', () => {
    expect(occurrences(written, /(^|[^\w.$}])\/(home|root|Users|work|mnt)\//)).toEqual([]);
  });

  it('has no open marks', () => {
    expect(occurrences(written, /\b(TODO|FIXME|XXX|HACK)\b/)).toEqual([]);
  });

  it('names the rule wherever it switches off compiler or linter', () => {
    expect(
      occurrences(code, /@ts-(ignore|nocheck)|eslint-disable(-next-line|-line)?\s*(\*\/)?$/),
    ).toEqual([]);
  });
});

describe('every test', () => {
  it('runs: none is skipped, postponed or run exclusively', () => {
    const specs = written.filter((path) => path.endsWith('.spec.ts'));
    expect(occurrences(specs, /\b(it|test|describe)\.(skip|only|todo|skipIf|runIf)\b/)).toEqual([]);
  });
});

describe('the house', () => {
  it('has libs with one door and a README each', () => {
    const needed = foldersIn('libs').flatMap((lib) => [
      `libs/${lib}/src/index.ts`,
      `libs/${lib}/README.md`,
    ]);
    expect(needed.filter((path) => !files.includes(path))).toEqual([]);
  });

  it('keeps download addresses out of the lock file', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved"/);
  });
});

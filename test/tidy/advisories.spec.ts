import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { check } from '../../scripts/advisories/check.mjs';
import { isIn } from '../../scripts/advisories/ranges.mjs';
import { ROOT } from './repository';

describe('the check of locked packages', () => {
  it('finds no known advisory, and prints the date of its list', () => {
    const script = join(ROOT, 'scripts', 'advisories', 'check.mjs');
    const { status, stdout } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    expect(stdout).toMatch(
      /known advisories as of \d{4}-\d\d-\d\d: 0 apply\. Later and other ones/,
    );
    expect(status, stdout).toBe(0);
  });

  it('refuses a package with an advisory, unless it has a reason', () => {
    const locked = [{ lock: 'package-lock.json', name: 'ws', version: '8.17.0' }];
    const known = { id: 'GHSA-1', name: 'ws', severity: 'high', title: 't', range: '<8.17.1' };
    const of = (...advisories: object[]) => ({ asOf: '2026-01-01', advisories });
    expect(check(locked, of(known))).toBe(1);
    expect(check(locked, of({ ...known, accepted: 'only in tests' }))).toBe(0);
    expect(check(locked, of({ ...known, name: 'other' }))).toBe(0);
  });

  it.each([
    ['8.17.0', '>=8.0.0 <8.17.1', true],
    ['8.17.1', '>=8.0.0 <8.17.1', false],
    ['7.0.0', '>=8.0.0 <8.17.1 || <=7.0.0', true],
    ['1.0.0-rc.2', '<1.0.0', true],
    ['1.0.0', '<=1.0.0-rc.2', false],
    ['1.0.0-rc.10', '>1.0.0-rc.9', true],
    ['10.0.0', '<9.0.0', false],
    ['3.1.2', '=3.1.2', true],
    ['0.0.1', '*', true],
  ])('places %s in %s: %s', (version, range, expected) => {
    expect(isIn(version, range)).toBe(expected);
  });

  it('refuses a range of unknown form', () => {
    expect(() => isIn('1.0.0', '1.x')).toThrow('unknown form');
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Policy } from '@baton/policies';
import { defaultConfig } from './config';
import { ownPolicy } from './own-policy-file';
import { placerSpec } from './placement-spec';
import { readChanges } from './settings/changeable';

const folder = mkdtempSync(join(tmpdir(), 'baton-policies-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const FIRST = file('first.mjs', 'export default { create: () => ({ choose: () => 0 }) };\n');

describe("a file with a policy of the user's own", () => {
  it('is loaded for the stages that use it', () => {
    const { prefill, decode, fallback } = placerSpec({
      ...defaultConfig(),
      placement: FIRST as `${string}.mjs`,
      decodePlacement: 'random',
    });
    expect(prefill).toMatchObject({ kind: 'own', path: FIRST });
    expect(decode).toEqual({ kind: 'random' });
    expect(fallback).toEqual({ kind: 'least-requests' });
  });

  it.each([
    ['absent.mjs', undefined, 'does not exist'],
    ['broken.mjs', 'const a = 1;\nconst b = );\n', 'in line 2'],
    ['waits.mjs', 'await 1;\nexport default {};\n', 'it uses await outside of a function'],
    ['needs.mjs', "import './gone.mjs';\n", 'gone.mjs'],
    ['empty.mjs', 'export const a = 1;\n', 'has no default export with a function create'],
    ['throws.mjs', 'export default { create() { throw Error("no"); } };\n', 'threw Error: no'],
    ['wrong.mjs', 'export default { create: () => 3 };\n', 'returned no object with choose'],
  ])('is refused with one sentence: %s', (name, text, complaint) => {
    const path = text === undefined ? join(folder, name) : file(name, text);
    expect(() => ownPolicy<Policy>(path, 'choose')).toThrow(complaint);
    expect(() => ownPolicy<Policy>(path, 'choose')).toThrow(path);
  });

  it('cannot be set over the network, unless the cluster started with it', () => {
    const now = defaultConfig();
    expect(() => readChanges({ placement: FIRST }, now)).toThrow('give it when the cluster starts');
    const begun = { ...now, placement: FIRST as `${string}.mjs` };
    expect(readChanges({ decode_placement: FIRST }, begun)).toEqual({ decodePlacement: FIRST });
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ownPolicy } from './own-policy-file';

const folder = mkdtempSync(join(tmpdir(), 'baton-places-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Names the place of the method `choose` of a policy in this module. */
function placeOfChoose(name: string, ...lines: readonly string[]): string | undefined {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join('\n')}\n`);
  const { module, placeOf } = ownPolicy<{ choose(): unknown }>(path, 'choose');
  return placeOf?.(module.create({} as never).choose);
}

describe("the line of a user's policy", () => {
  it('is that of the method in an object', () => {
    const create = [
      '  create() {',
      '    return {',
      '      choose() { return 7; },',
      '    };',
      '  },',
    ];
    expect(placeOfChoose('object.mjs', 'export default {', ...create, '};')).toBe('object.mjs:4');
  });

  it('is that of the method in a class, after Windows line ends too', () => {
    const lines = ['class Mine {\r', '  choose() {\r', '    return 7;\r', '  }\r', '}\r'];
    const last = 'export default { create: () => new Mine() };';
    expect(placeOfChoose('class.mjs', ...lines, last)).toBe('class.mjs:2');
  });

  it('is that of create when the method comes from another file or stands there twice', () => {
    writeFileSync(join(folder, 'part.mjs'), 'export const choose = () => 7;\n');
    const imported = ["import { choose } from './part.mjs';", '', 'export default {'];
    const made = ['  create: () => ({ choose }),', '};'];
    expect(placeOfChoose('imports.mjs', ...imported, ...made)).toBe('imports.mjs:4');
    const twice = ['const other = () => 7;', 'export default {'];
    const create = ['  create: () => ({ choose: () => 7 }),', '};'];
    expect(placeOfChoose('twice.mjs', ...twice, ...create)).toBe('twice.mjs:3');
  });

  it('is unknown when the file has changed since it was loaded', () => {
    const path = join(folder, 'changed.mjs');
    writeFileSync(path, 'export default { create: () => ({ choose: () => 7 }) };\n');
    const { module, placeOf } = ownPolicy<{ choose(): unknown }>(path, 'choose');
    rmSync(path);
    expect(placeOf?.(module.create({} as never).choose)).toBeUndefined();
  });
});

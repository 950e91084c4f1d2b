import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultConfig } from '../config';
import { needsApiKey, readApiKeys, unnamedTenant } from './api-keys';

describe('API keys', () => {
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'baton-keys-'))));
  afterAll(() => rmSync(folder, { recursive: true }));
  const fileOf = (text: string): string => {
    const path = join(folder, 'keys');
    writeFileSync(path, text);
    return path;
  };
  const named = (text: string) => readApiKeys(defaultConfig({ apiKeysFile: fileOf(text) }));

  it('are separate tenants without a file of names', () => {
    const keys = readApiKeys(defaultConfig({ apiKey: ['sk-a', 'sk-b', 'sk-a'] }));
    expect(keys.map(({ key }) => key)).toEqual(['sk-a', 'sk-b']);
    expect(new Set(keys.map(({ tenant }) => tenant)).size).toBe(2);
    expect(keys.some(({ key, tenant }) => tenant.includes(key))).toBe(false);
  });

  it.each([
    ['lines', 'alice: sk-1\nbob: 0017\nalice: sk-3 # the new one\n'],
    ['YAML', 'alice: [sk-1, sk-3]\nbob: "0017"\n'],
    ['JSON', '{"alice": ["sk-1", "sk-3"], "bob": "0017"}'],
  ])('are read by name from %s', (_form, text) => {
    const sorted = named(text).toSorted((a, b) => a.key.localeCompare(b.key));
    expect(sorted).toEqual([
      { key: '0017', tenant: 'bob' },
      { key: 'sk-1', tenant: 'alice' },
      { key: 'sk-3', tenant: 'alice' },
    ]);
  });

  it('belong to the name in the file even if they are also given elsewhere', () => {
    const keys = readApiKeys(
      defaultConfig({
        apiKey: ['sk-1', 'sk-2'],
        apiKeyLimits: { alice: { limit_requests_per_minute: 1 }, 'sk-4': {} },
        apiKeysFile: fileOf('alice: sk-1'),
        apiKeyFile: join(folder, 'single'),
      }),
    );
    expect(Object.fromEntries(keys.map(({ key, tenant }) => [key, tenant]))).toEqual({
      'sk-1': 'alice',
      'sk-2': unnamedTenant('sk-2'),
      'sk-4': unnamedTenant('sk-4'),
      'sk-single': unnamedTenant('sk-single'),
    });
  });
  beforeAll(() => writeFileSync(join(folder, 'single'), 'sk-single\n'));

  it('of the same tenant have one row of limits', () => {
    const apiKeyLimits = { alice: {}, 'sk-1': {} };
    const twice = defaultConfig({ apiKeysFile: fileOf('alice: sk-1'), apiKeyLimits });
    expect(() => readApiKeys(twice)).toThrow("two rows are for the tenant 'alice'");
  });

  it('are needed as soon as one is given in any way', () => {
    expect(needsApiKey(defaultConfig())).toBe(false);
    for (const given of [
      { apiKey: ['a'] },
      { apiKeyFile: 'x' },
      { apiKeysFile: 'x' },
      { apiKeyLimits: { a: {} } },
    ]) {
      expect(needsApiKey(defaultConfig(given))).toBe(true);
    }
  });

  it.each([
    ['- sk-1', /keys:1:1: write one `name: key` per line/],
    ['', /write one `name: key` per line/],
    ['alice:', /a key of 'alice' is empty/],
    ['alice: a b', /a key of 'alice' is empty or has spaces/],
    ['a: x\n"b c": y', /keys:2:1: 'b c' cannot be a name/],
    ['key-1: x', /'key-1' cannot be a name/],
    ['anyone: x', /'anyone' cannot be a name/],
    ['a: x\nb: x', /keys:2:1: a key of 'b' is also a key of 'a'/],
    ['a: [', /keys:/],
  ])('of a faulty file %j are refused with its place', (text, complaint) => {
    expect(() => named(text)).toThrow(complaint);
    expect(() => named(text)).toThrow(/^api_keys_file: /);
  });

  it('in a file of one key are one line', () => {
    const of = (text: string) => readApiKeys(defaultConfig({ apiKeyFile: fileOf(text) }));
    expect(of('  sk-1 \n')).toEqual([{ key: 'sk-1', tenant: unnamedTenant('sk-1') }]);
    for (const text of ['', '\n', 'a\nb', 'a b']) expect(() => of(text)).toThrow(/api_key_file: /);
    const missing = defaultConfig({ apiKeysFile: join(folder, 'nowhere') });
    expect(() => readApiKeys(missing)).toThrow(/api_keys_file: .*nowhere cannot be read/);
  });
});

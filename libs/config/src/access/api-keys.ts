import { createHash } from 'node:crypto';
import { isMap, isScalar, isSeq, LineCounter, type Pair, parseDocument } from 'yaml';
import type { BatonConfig } from '../config';
import { readOptionFile } from '../option-file';
import { UsageError } from '../usage-error';

/** A key of the API, and its tenant. */
export interface ApiKey {
  readonly key: string;
  /** Owner of everything stored and counted for this key; never the key itself. */
  readonly tenant: string;
}

/** Refuses the content at an offset of the file. */
type Refuse = (offset: number, complaint: string) => never;

type KeyConfig = Pick<BatonConfig, 'apiKey' | 'apiKeyFile' | 'apiKeysFile' | 'apiKeyLimits'>;

/** Names become labels of metrics and parts of names in the broker. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** Prefix of the tenants of keys without a name. */
const UNNAMED = 'key-';
/** The budget of callers without a key has this name. */
const RESERVED = 'anyone';
const SHOWN_DIGITS = 16;
/** A key travels in a header: printable, without spaces. */
const KEY = /^[\x21-\x7e]+$/;

/** Whether the API requires a key. */
export function needsApiKey({ apiKey, apiKeyFile, apiKeysFile, apiKeyLimits }: KeyConfig): boolean {
  const isListed = apiKey.length > 0 || Object.keys(apiKeyLimits ?? {}).length > 0;
  return isListed || apiKeyFile !== undefined || apiKeysFile !== undefined;
}

/**
 * Every key that opens the API. A key of `api_keys_file` belongs to the tenant named there; any
 * other key is a separate tenant. A row of `api_key_limits` is a tenant's name or a key.
 *
 * @throws UsageError, one sentence that names option and file
 */
export function readApiKeys(config: KeyConfig): readonly ApiKey[] {
  const named = config.apiKeysFile === undefined ? [] : readNamedKeys(config.apiKeysFile);
  const names = new Set(named.map(({ tenant }) => tenant));
  const limited = Object.keys(config.apiKeyLimits ?? {}).filter((row) => !names.has(row));
  const single =
    config.apiKeyFile === undefined ? [] : [readSecret('api_key_file', config.apiKeyFile)];
  const byKey = new Map<string, ApiKey>();
  for (const key of [...config.apiKey, ...single, ...limited]) {
    byKey.set(key, { key, tenant: unnamedTenant(key) });
  }
  for (const each of named) byKey.set(each.key, each);
  refuseTwice(Object.keys(config.apiKeyLimits ?? {}).map((row) => byKey.get(row)?.tenant ?? row));
  return [...byKey.values()];
}

/** @throws UsageError when two rows of limits are for one tenant */
function refuseTwice(tenants: readonly string[]): void {
  const twice = tenants.find((tenant, i) => tenants.indexOf(tenant) !== i);
  if (twice === undefined) return;
  throw new UsageError(`api_key_limits: two rows are for the tenant '${twice}'.`);
}

/**
 * The configured key of administration and development mode.
 *
 * @throws UsageError, one sentence
 */
export function readAdminKey({
  adminApiKey,
  adminApiKeyFile,
}: Pick<BatonConfig, 'adminApiKey' | 'adminApiKeyFile'>): string | undefined {
  if (adminApiKeyFile === undefined) return adminApiKey;
  const key = readSecret('admin_api_key_file', adminApiKeyFile);
  if (adminApiKey === undefined || adminApiKey === key) return key;
  throw new UsageError('admin_api_key and admin_api_key_file name different keys: set one.');
}

/**
 * The one line of a file that holds a secret.
 *
 * @throws UsageError, one sentence that names option and file
 */
function readSecret(option: string, path: string): string {
  const secret = readOptionFile(option, path).trim();
  if (KEY.test(secret)) return secret;
  throw new UsageError(`${option}: ${path} must hold one line with one key, without spaces.`);
}

/** The tenant of a key that has no name. */
export function unnamedTenant(key: string): string {
  const digest = createHash('sha256').update(key).digest('hex');
  return `${UNNAMED}${digest.slice(0, SHOWN_DIGITS)}`;
}

/** A map of names to keys or to lists of keys; a name can occur several times. */
function readNamedKeys(path: string): ApiKey[] {
  const lines = new LineCounter();
  const refuse: Refuse = (offset, complaint) => {
    const { line, col } = lines.linePos(offset);
    throw new UsageError(`api_keys_file: ${path}:${line}:${col}: ${complaint}`);
  };
  const text = readOptionFile('api_keys_file', path);
  // Every scalar is read as text, because a key can look like a number. A name with several keys is
  // valid.
  const options = { schema: 'failsafe', uniqueKeys: false, prettyErrors: false } as const;
  const document = parseDocument(text, { ...options, lineCounter: lines });
  const [syntaxError] = document.errors;
  if (syntaxError) return refuse(syntaxError.pos[0], syntaxError.message);
  const { contents } = document;
  if (!isMap(contents)) return refuse(0, 'write one `name: key` per line, or a map of names.');
  const owners = new Map<string, string>();
  for (const pair of contents.items) noteKeys(pair, owners, refuse);
  return [...owners].map(([key, tenant]) => ({ key, tenant }));
}

function noteKeys({ key: node, value }: Pair, owners: Map<string, string>, refuse: Refuse): void {
  const tenant = scalarOf(node);
  const at = offsetOf(node);
  if (!NAME.test(tenant) || tenant.startsWith(UNNAMED) || tenant === RESERVED) {
    refuse(at, nameRule(tenant));
  }
  for (const key of (isSeq(value) ? value.items : [value]).map(scalarOf)) {
    if (!KEY.test(key)) refuse(at, `a key of '${tenant}' is empty or has spaces.`);
    const owner = owners.get(key) ?? tenant;
    if (owner !== tenant) refuse(at, `a key of '${tenant}' is also a key of '${owner}'.`);
    owners.set(key, tenant);
  }
}

function nameRule(name: string): string {
  return (
    `'${name.slice(0, 80)}' cannot be a name: letters, digits, '.', '_' and '-', at most 64, not ` +
    `'${RESERVED}' and not beginning with '${UNNAMED}'.`
  );
}

function scalarOf(node: unknown): string {
  return isScalar(node) && typeof node.value === 'string' ? node.value : '';
}

function offsetOf(node: unknown): number {
  return isScalar(node) ? (node.range?.[0] ?? 0) : 0;
}

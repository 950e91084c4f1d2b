import { randomBytes } from 'node:crypto';
import { type BatonConfig, needsApiKey, readAdminKey } from '@baton/config';
import { ApiKeys } from './api-keys';

const MADE_KEY_BYTES = 24;
const OPERATOR = 'operator';

/** The key of administration and development mode: the configured one, or one made for this run. */
export class AdminKey {
  /** True when endpoints that require it are served. */
  readonly isNeeded: boolean;
  /** The generated key; undefined when one is configured or none is needed. */
  readonly generated: string | undefined;
  /** True when requests from this machine need no key, because none of any kind is configured. */
  readonly isOpenHere: boolean;
  private readonly keys: ApiKeys;

  /**
   * @param shared the key made for all API processes of one port; unset: one is made here
   * @throws UsageError when the configured key cannot be read
   */
  constructor(config: BatonConfig, shared?: string) {
    this.isNeeded = config.enableAdmin || config.enableDevMode;
    const given = readAdminKey(config);
    const needsGenerated = this.isNeeded && given === undefined;
    this.generated = needsGenerated ? (shared ?? makeKey()) : undefined;
    this.isOpenHere = given === undefined && !needsApiKey(config);
    const key = given ?? this.generated;
    this.keys = new ApiKeys(key === undefined ? [] : [{ key, tenant: OPERATOR }]);
  }

  isIt(shown: string): boolean {
    return this.keys.find(shown) !== undefined;
  }
}

export function makeKey(): string {
  return randomBytes(MADE_KEY_BYTES).toString('base64url');
}

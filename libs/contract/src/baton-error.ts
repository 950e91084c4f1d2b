import { type CatalogueEntry, type ErrorCode, ERRORS } from './errors';

/**
 * A failure from the catalogue on its way to the user. `param` names the field, `detail` replaces
 * the catalogue's sentence.
 */
export class BatonError extends Error {
  constructor(
    readonly code: ErrorCode,
    detail?: string,
    readonly param: string | null = null,
    /** Seconds for `Retry-After`. Undefined: those of the catalogue. */
    readonly retryAfterSeconds?: number,
  ) {
    super(detail ?? ERRORS[code].message);
    this.name = 'BatonError';
  }

  get entry(): CatalogueEntry {
    return ERRORS[this.code];
  }
}

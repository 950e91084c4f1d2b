/** Baton's own version. `npm version` writes it (scripts/write-version.mjs). */
export const VERSION = '0.1.0';

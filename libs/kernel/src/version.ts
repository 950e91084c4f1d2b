/** Baton's own version, as the root manifest has it. */
export const VERSION = '0.1.0';

/**
 * The Chromium on PATH.
 *
 * @throws Error where there is none.
 */
export function findChromium(): string;

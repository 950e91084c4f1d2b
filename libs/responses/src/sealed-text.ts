/**
 * A text that a client keeps without reading it: reasoning, or a compacted conversation. Any
 * process can open it; it hides nothing.
 */
export function sealText(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

/** The text that was sealed; what was sealed elsewhere is taken as it is. */
export function openText(sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes.toString('base64') !== sealed) return sealed;
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : sealed;
}

/**
 * A text in a form that a client stores without reading: reasoning, or a compacted conversation.
 * Every process can open it; the form is not secret.
 */
export function sealText(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

/** The sealed text. A text sealed elsewhere is returned unchanged. */
export function openText(sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes.toString('base64') !== sealed) return sealed;
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : sealed;
}

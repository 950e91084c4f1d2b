/** The document with its paragraphs and list items wrapped at 100 characters. */
export function wrap(text: string): string;

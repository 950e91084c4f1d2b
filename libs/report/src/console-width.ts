/** Columns that every table and sentence for people keeps within. */
export const CONSOLE_WIDTH = 100;

/**
 * Text in lines of at most `width` columns, broken between words; a longer word stands alone. Each
 * line ends with a line break.
 *
 * @param indent  of every line but the first, spaces
 */
export function wrapWords(text: string, width = CONSOLE_WIDTH, indent = 0): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || longer.length <= width) line = longer;
    else {
      lines.push(line);
      line = `${' '.repeat(indent)}${word}`;
    }
  }
  return `${[...lines, line].join('\n')}\n`;
}

/** Most columns of all tables and sentences on the console. */
export const CONSOLE_WIDTH = 100;

/**
 * Text in lines of at most `width` columns, broken between words. A longer word has a line of its
 * own. Each line ends with a line break.
 *
 * @param indent spaces before every line but the first
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

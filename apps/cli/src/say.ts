/** Prints a message on stderr; stdout is for results. */
export function say(sentence: string): void {
  process.stderr.write(`baton: ${sentence}\n`);
}

/** Prints a message on stderr; stdout has only results. */
export function say(sentence: string): void {
  process.stderr.write(`baton: ${sentence}\n`);
}

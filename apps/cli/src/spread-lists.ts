import { isTopology } from './is-topology';

/**
 * Rewrites `--served-model-name a b` as `--served-model-name=a --served-model-name=b`: a flag with
 * a list has all words up to the next flag, as on vLLM's command line. The topology of `baton up`
 * may follow the list, so a word in that form is not a value.
 *
 * @param listFlags the flags with a list, including their dashes
 */
export function spreadLists(args: readonly string[], listFlags: readonly string[]): string[] {
  const spread: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const argument = args[at]!;
    const first = args[at + 1];
    if (argument === '--') return [...spread, ...args.slice(at)];
    if (!listFlags.includes(argument) || first === undefined || isFlag(first)) {
      spread.push(argument);
      continue;
    }
    const others = args.slice(at + 2);
    const end = others.findIndex((word) => isFlag(word) || isTopology(word));
    const values = [first, ...(end < 0 ? others : others.slice(0, end))];
    spread.push(...values.map((value) => `${argument}=${value}`));
    at += values.length;
  }
  return spread;
}

function isFlag(word: string): boolean {
  return word.length > 1 && word.startsWith('-');
}

/** A step of a tutorial, in the order of the page. */
export type Step =
  | { readonly kind: 'save'; readonly path: string; readonly text: string }
  | { readonly kind: 'run'; readonly script: string }
  | {
      readonly kind: 'output';
      readonly lines: readonly string[];
      readonly varies: RegExp | undefined;
    }
  /** The reader presses Ctrl-C: the cluster of the page ends. */
  | { readonly kind: 'stop' };

export interface Tutorial {
  readonly steps: readonly Step[];
  /** What the commands need that are marked as not run. */
  readonly needs: ReadonlySet<string>;
}

const BLOCK = /^```(\w+)\n([\s\S]*?)^```/gm;
const NOT_RUN = /^.*# not run here: needs (.*)\n/gm;
/** Before a block of output: what the machine, the time or chance decides in its lines. */
const VARIES = /<!-- varies: (.*) -->/g;

/** Reads the commands, the files to save and the quoted outputs of a page. */
export function readTutorial(page: string): Tutorial {
  const steps: Step[] = [];
  const needs = new Set<string>();
  let end = 0;
  for (const block of page.matchAll(BLOCK)) {
    const [all, language = '', text = ''] = block;
    const prose = page.slice(end, block.index);
    end = block.index + all.length;
    if (prose.includes('Ctrl-C')) steps.push({ kind: 'stop' });
    const [, path] = /Save this as `([^`]+)`/.exec(prose) ?? [];
    if (language === 'sh') {
      for (const [, what = ''] of text.matchAll(NOT_RUN)) needs.add(what);
      steps.push({ kind: 'run', script: text.replaceAll(NOT_RUN, '') });
    } else if (language === 'text') {
      const patterns = [...prose.matchAll(VARIES)].map(([, pattern = '']) => pattern);
      for (const pattern of patterns) refuseUnused(pattern, text);
      const varies = patterns.length === 0 ? undefined : new RegExp(patterns.join('|'), 'g');
      steps.push({ kind: 'output', lines: linesOf(text, varies), varies });
    } else if (path !== undefined) steps.push({ kind: 'save', path, text });
  }
  return { steps, needs };
}

function refuseUnused(pattern: string, text: string): void {
  if (new RegExp(pattern, 'm').test(text)) return;
  throw new Error(`Nothing in this output varies as ${pattern} says:\n${text}`);
}

/**
 * Lines of an output that are to be as quoted: without empty ones, each with `#` in place of what
 * varies, and without those that vary as a whole. A figure of another width moves the columns, so
 * spaces count once where something varies.
 */
export function linesOf(output: string, varies: RegExp | undefined): string[] {
  const lines = output.split('\n').map((line) => {
    if (varies === undefined) return line.trimEnd();
    return line.replaceAll(varies, '#').trimEnd().replaceAll(/ +/g, ' ');
  });
  return lines.filter((line) => line !== '' && line !== '#');
}

/**
 * The quoted lines, each replaced by the line of the output in its place when that differs. `…`
 * stands for any lines, or inside of a line for any text.
 */
export function asPrinted(quoted: readonly string[], printed: readonly string[]): string[] {
  const found: string[] = [];
  let at = 0;
  let isCut = false;
  for (const line of quoted) {
    if (line === '…') {
      found.push(line);
    } else {
      if (isCut) at = indexOfLine(printed, line, at);
      const actual = printed[at] ?? '(no line)';
      found.push(isSame(line, actual) ? line : actual);
      at += 1;
    }
    isCut = line === '…';
  }
  return isCut ? found : [...found, ...printed.slice(at)];
}

/** Where a line is, or the most similar one: that of the same first word. */
function indexOfLine(printed: readonly string[], line: string, from: number): number {
  const [word = ''] = line.split(/\s/);
  const tests = [(other: string) => isSame(line, other), (other: string) => other.startsWith(word)];
  for (const test of tests) {
    const at = printed.findIndex((other, index) => index >= from && test(other));
    if (at >= 0) return at;
  }
  return printed.length;
}

function isSame(quoted: string, printed: string): boolean {
  const parts = quoted.split(/ ?… ?/).map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(printed);
}

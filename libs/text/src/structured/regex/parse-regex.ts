import { spendWork } from '@baton/kernel';
import { ANY, type CharSet, charOf, differenceOf, ignoringCase, LINE_BREAK } from './char-set';
import { ClassParser, escapedSet } from './parse-class';
import { NOTHING_MORE, type Regex, RegexError, type RegexNode } from './regex-node';
import { Scanner } from './scanner';

const MAX_LENGTH = 20_000;
const MAX_DEPTH = 100;
const DOT = differenceOf(ANY, LINE_BREAK);
const QUANTIFIER = /^(?:[*+?]|\{(?=,?\d)(\d*)(,?)(\d*)\})/;

/**
 * Reads a pattern in the common part of ECMAScript's, Python's and Rust's syntax. Throws
 * `RegexError`, with the name of the construct, for backreferences, lookbehinds, and lookaheads
 * beyond the start of the pattern: they are not regular or too costly.
 */
export function parseRegex(pattern: string): Regex {
  if (pattern.length > MAX_LENGTH) {
    throw new RegexError(`the pattern is longer than ${MAX_LENGTH} characters`);
  }
  spendWork(pattern.length);
  const scanner = new Scanner(pattern);
  const node = new RegexParser(scanner).parse();
  if (!scanner.isAtEnd) throw scanner.fault("unmatched ')'");
  return splitLookaheads(node);
}

class RegexParser {
  private depth = 0;
  private ignoresCase = false;
  private dot = DOT;

  constructor(private readonly scanner: Scanner) {}

  parse(): RegexNode {
    const options: RegexNode[] = [];
    do options.push(this.sequence());
    while (this.scanner.take('|'));
    return options.length === 1 ? options[0]! : { kind: 'choice', options };
  }

  private sequence(): RegexNode {
    const parts: RegexNode[] = [];
    const { scanner } = this;
    while (!scanner.isAtEnd && !scanner.sees('|') && !scanner.sees(')')) {
      const atom = this.atom();
      parts.push(this.quantified(atom));
    }
    return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
  }

  private quantified(atom: RegexNode): RegexNode {
    const { scanner } = this;
    const found = scanner.match(QUANTIFIER);
    if (found === undefined) return atom;
    const [text, low = '', comma = '', high = ''] = found;
    const { min, max } = boundsOf(text, { low, comma, high });
    if (min > max) throw scanner.fault('numbers out of order in a quantifier');
    if (atom.kind === 'place' || atom.kind === 'look') throw scanner.fault('nothing to repeat');
    // A lazy or possessive quantifier has the same language or a part of it, so its mark is
    // skipped.
    if (!scanner.take('?')) scanner.take('+');
    if (scanner.match(QUANTIFIER) !== undefined) throw scanner.fault('multiple repeat');
    return { kind: 'repeat', body: atom, min, max };
  }

  private atom(): RegexNode {
    const { scanner } = this;
    const next = scanner.next();
    switch (next) {
      case '(':
        return this.group();
      case '[':
        return this.set(new ClassParser(scanner).parse());
      case '.':
        return this.set(this.dot);
      case '^':
        return { kind: 'place', place: 'start' };
      case '$':
        return { kind: 'place', place: 'end' };
      case '\\':
        return this.escape();
      case '*':
      case '+':
      case '?':
        throw scanner.fault('nothing to repeat');
      default:
        if (next === '{' && QUANTIFIER.test(scanner.rest(-1))) {
          throw scanner.fault('nothing to repeat');
        }
        return this.set(charOf(next.codePointAt(0)!));
    }
  }

  private escape(): RegexNode {
    const { scanner } = this;
    if (scanner.take('b')) return { kind: 'place', place: 'word-edge' };
    if (scanner.take('B')) return { kind: 'place', place: 'word-inside' };
    if (scanner.take('A')) return { kind: 'place', place: 'start' };
    if (scanner.take('z') || scanner.take('Z')) return { kind: 'place', place: 'end' };
    if (scanner.match(/^(?:[1-9]|k<)/) !== undefined) {
      throw scanner.fault('backreferences are not supported');
    }
    return this.set(escapedSet(scanner));
  }

  private group(): RegexNode {
    const { scanner } = this;
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw new RegexError('the pattern is nested too deeply');
    const before = { ignoresCase: this.ignoresCase, dot: this.dot };
    const node = this.groupBody();
    const isFlags = node === undefined;
    if (!scanner.take(')')) throw scanner.fault("missing ')'");
    this.depth -= 1;
    // Flags without a body apply to the rest of the group around them.
    if (isFlags) return NOTHING_MORE;
    Object.assign(this, before);
    // A place alone cannot be repeated; a group with a place can.
    return node.kind === 'place' ? { kind: 'sequence', parts: [node] } : node;
  }

  private groupBody(): RegexNode | undefined {
    const { scanner } = this;
    if (!scanner.take('?')) return this.parse();
    if (scanner.match(/^<[=!]/) !== undefined) {
      throw scanner.fault('lookbehinds are not supported');
    }
    if (scanner.match(/^(?::|>|P?<\w+>)/) !== undefined) return this.parse();
    if (scanner.take('=')) return { kind: 'look', isNegated: false, body: this.parse() };
    if (scanner.take('!')) return { kind: 'look', isNegated: true, body: this.parse() };
    const flags = scanner.match(/^([ims]*)(?:-([ims]+))?(?=[:)])/);
    if (flags === undefined) throw scanner.fault('unknown kind of group');
    const [, on = '', off = ''] = flags;
    if (on.includes('m')) throw scanner.fault('the flag m is not supported');
    if (on.includes('i')) this.ignoresCase = true;
    if (on.includes('s')) this.dot = ANY;
    if (off.includes('i')) this.ignoresCase = false;
    if (off.includes('s')) this.dot = DOT;
    return scanner.take(':') ? this.parse() : undefined;
  }

  private set(set: CharSet): RegexNode {
    return { kind: 'set', set: this.ignoresCase ? ignoringCase(set) : set };
  }
}

function boundsOf(
  text: string,
  { low, comma, high }: { readonly low: string; readonly comma: string; readonly high: string },
): { readonly min: number; readonly max: number } {
  if (text === '*') return { min: 0, max: Infinity };
  if (text === '+') return { min: 1, max: Infinity };
  if (text === '?') return { min: 0, max: 1 };
  const min = low === '' ? 0 : Number(low);
  if (comma === '') return { min, max: low === '' ? 0 : min };
  return { min, max: high === '' ? Infinity : Number(high) };
}

/** Removes the lookaheads from the start. Throws for a lookahead elsewhere. */
function splitLookaheads(root: RegexNode): Regex {
  const parts = root.kind === 'sequence' ? root.parts : [root];
  const ahead: Regex['ahead'][number][] = [];
  const rest: RegexNode[] = [];
  let at = 0;
  for (; at < parts.length; at++) {
    const part = parts[at]!;
    if (part.kind === 'look') ahead.push({ isNegated: part.isNegated, body: part.body });
    else if (part.kind === 'place' && part.place === 'start') rest.push(part);
    else if (part !== NOTHING_MORE) break;
  }
  rest.push(...parts.slice(at));
  const body: RegexNode = { kind: 'sequence', parts: rest };
  if ([body, ...ahead.map((one) => one.body)].some(hasLook)) {
    throw new RegexError('lookaheads are supported at the start of a pattern only');
  }
  return { body, ahead };
}

function hasLook(node: RegexNode): boolean {
  switch (node.kind) {
    case 'look':
      return true;
    case 'sequence':
      return node.parts.some(hasLook);
    case 'choice':
      return node.options.some(hasLook);
    case 'repeat':
      return hasLook(node.body);
    case 'set':
    case 'place':
      return false;
  }
}

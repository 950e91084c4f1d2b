import { checkRules, choiceOf, type Grammar, type GrammarNode, sequenceOf } from './grammar';
import { GrammarScanner, unquoted } from './grammar-scanner';

const BLANKS = /(?:\s|#[^\n]*)*/y;
const RULE_START = /([A-Za-z_][\w.-]*)\s*::=/y;
const NAME = /[A-Za-z_][\w.-]*/y;
const LITERAL = /"((?:[^"\\\n]|\\[^])*)"|'((?:[^'\\\n]|\\[^])*)'/y;
const CLASS = /\[(?:[^\]\\]|\\[^])*\]/y;
const REGEX = /\/((?:[^/\\\n]|\\[^])+)\//y;
const ANY_CHAR = /\.(?!\w)/y;
const MARK = /[*+?]/y;
const COUNTS = /\{\s*(\d+)\s*(,?)\s*(\d*)\s*\}/y;
const BAR = /\|/y;
const OPEN = /\(/y;
const CLOSE = /\)/y;

/**
 * Reads llama.cpp's GBNF and xgrammar's EBNF: `root ::= "a" [b-z]* (rule | "c"){2,3}`. Throws
 * `ConstraintError`.
 */
export function parseGbnf(text: string): Grammar {
  const scanner = new GrammarScanner(text, BLANKS);
  const rules = new Map<string, GrammarNode>();
  while (!scanner.isAtEnd) {
    const head = scanner.take(RULE_START);
    if (head === undefined) throw scanner.fault('a rule was expected');
    rules.set(head[1]!, expression(scanner));
  }
  const grammar = { rules, start: 'root', separator: '' };
  checkRules(grammar);
  return grammar;
}

function expression(scanner: GrammarScanner): GrammarNode {
  return scanner.nested(() => {
    const options: GrammarNode[] = [];
    do options.push(sequence(scanner));
    while (scanner.take(BAR) !== undefined);
    return choiceOf(options);
  });
}

function sequence(scanner: GrammarScanner): GrammarNode {
  const parts: GrammarNode[] = [];
  for (;;) {
    const atom = atomOf(scanner);
    if (atom === undefined) return sequenceOf(parts);
    parts.push(repeated(scanner, atom));
  }
}

function atomOf(scanner: GrammarScanner): GrammarNode | undefined {
  if (scanner.peek(RULE_START) !== undefined) return undefined;
  const literal = scanner.take(LITERAL);
  if (literal !== undefined) {
    return { kind: 'literal', text: unquoted(literal[1] ?? literal[2] ?? '') };
  }
  const set = scanner.take(CLASS);
  if (set !== undefined) return scanner.pattern(set[0]);
  const regex = scanner.take(REGEX);
  if (regex !== undefined) return scanner.pattern(regex[1]!);
  if (scanner.take(ANY_CHAR) !== undefined) return scanner.pattern('[^]');
  const name = scanner.take(NAME);
  if (name !== undefined) return { kind: 'rule', name: name[0] };
  if (scanner.take(OPEN) === undefined) return undefined;
  const inner = expression(scanner);
  if (scanner.take(CLOSE) === undefined) throw scanner.fault("')' was expected");
  return inner;
}

function repeated(scanner: GrammarScanner, body: GrammarNode): GrammarNode {
  let node = body;
  for (;;) {
    const mark = scanner.take(MARK)?.[0];
    if (mark !== undefined) {
      const max = mark === '?' ? 1 : Infinity;
      node = { kind: 'repeat', body: node, min: mark === '+' ? 1 : 0, max };
      continue;
    }
    const counts = scanner.take(COUNTS);
    if (counts === undefined) return node;
    const min = Number(counts[1]);
    const open = counts[2] === '' ? min : Infinity;
    const max = counts[3] === '' ? open : Number(counts[3]);
    if (max < min) throw scanner.fault('numbers out of order in a repetition');
    node = { kind: 'repeat', body: node, min, max };
  }
}

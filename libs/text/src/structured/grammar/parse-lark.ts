import { ConstraintError } from '../constraint-error';
import { checkRules, choiceOf, type Grammar, type GrammarNode, sequenceOf } from './grammar';
import { GrammarScanner, unquoted } from './grammar-scanner';
import { COMMON_TERMINALS } from './lark-terminals';

/** Line breaks are not blanks: they end a rule, except when the next line begins with `|`. */
const BLANKS = /(?:[ \t\r\f]|\/\/[^\n]*|\n\s*(?:\/\/[^\n]*\n\s*)*(?=\|))*/y;
const LINE_BREAK = /(?:[ \t\r]*\n)+/y;
const HEAD = /([?!]?)([A-Za-z_]\w*)(?:\.-?\d+)?[ \t]*:/y;
const IGNORE = /%ignore\b/y;
const IMPORT = /%import[ \t]+common(?:\.(\w+)(?:[ \t]*->[ \t]*(\w+))?|[ \t]*\(([^)]*)\))/y;
const OTHER_DIRECTIVE = /%\w+/y;
const RANGE = /"((?:[^"\\]|\\[^])+)"[ \t]*\.\.[ \t]*"((?:[^"\\]|\\[^])+)"/y;
const LITERAL = /"((?:[^"\\\n]|\\[^])*)"(i?)/y;
const REGEX = /\/((?:[^/\\\n]|\\[^])+)\/([a-z]*)/y;
const NAME = /[A-Za-z_]\w*/y;
const ALIAS = /->[ \t]*\w+/y;
const TIMES = /~[ \t]*(\d+)(?:[ \t]*\.\.[ \t]*(\d+))?/y;
const MARK = /[*+?]/y;
const BAR = /\|/y;
const OPEN = /[([]/y;
const CLOSE = /[)\]]/y;

/**
 * Reads the context-free part of Lark's notation: `start: NAME ("," NAME)*`, terminals, `%import
 * common`, `%ignore`. Throws `ConstraintError`.
 */
export function parseLark(text: string): Grammar {
  return new LarkParser(new GrammarScanner(text, BLANKS)).parse();
}

class LarkParser {
  private readonly rules = new Map<string, GrammarNode>();
  private ignoresBlanks = false;

  constructor(private readonly scanner: GrammarScanner) {}

  parse(): Grammar {
    const { scanner, rules } = this;
    for (;;) {
      while (scanner.take(LINE_BREAK) !== undefined);
      if (scanner.isAtEnd) break;
      if (!this.directive()) this.rule();
      if (!scanner.isAtEnd && scanner.take(LINE_BREAK) === undefined) {
        throw scanner.fault('the end of a rule was expected');
      }
    }
    const separator = this.ignoresBlanks ? ' ' : '';
    const grammar = { rules, start: 'start', separator };
    checkRules(grammar);
    return grammar;
  }

  private directive(): boolean {
    const { scanner } = this;
    if (scanner.take(IGNORE) !== undefined) {
      const ignored = this.expression();
      this.ignoresBlanks ||= this.canBeBlank(ignored, 0);
      return true;
    }
    const found = scanner.take(IMPORT);
    if (found === undefined) {
      const other = scanner.take(OTHER_DIRECTIVE);
      if (other === undefined) return false;
      throw scanner.fault(`${other[0]} is not supported`);
    }
    const [, single, alias, list] = found;
    const names = single === undefined ? (list ?? '').split(',').map((n) => n.trim()) : [single];
    for (const name of names) this.import(name, alias ?? name);
    return true;
  }

  private import(name: string, as: string): void {
    const source = COMMON_TERMINALS[name];
    if (source === undefined) throw new ConstraintError(`common.${name} is not supported`);
    this.rules.set(as, this.scanner.pattern(source));
  }

  private rule(): void {
    const { scanner } = this;
    const head = scanner.take(HEAD);
    if (head === undefined) throw scanner.fault('a rule was expected');
    const name = head[2]!;
    const body = this.expression();
    const isTerminal = /^_?[A-Z]/.test(name);
    this.rules.set(name, isTerminal ? { kind: 'token', body } : body);
  }

  private expression(): GrammarNode {
    const { scanner } = this;
    return scanner.nested(() => {
      const options: GrammarNode[] = [];
      do options.push(this.sequence());
      while (scanner.take(BAR) !== undefined);
      return choiceOf(options);
    });
  }

  private sequence(): GrammarNode {
    const parts: GrammarNode[] = [];
    for (let atom = this.atom(); atom !== undefined; atom = this.atom()) {
      parts.push(this.repeated(atom));
    }
    this.scanner.take(ALIAS);
    return sequenceOf(parts);
  }

  private atom(): GrammarNode | undefined {
    const { scanner } = this;
    const range = scanner.take(RANGE);
    if (range !== undefined) {
      const [from, to] = [range[1]!, range[2]!].map((end) => escaped(unquoted(end)));
      return scanner.pattern(`[${from}-${to}]`);
    }
    const literal = scanner.take(LITERAL);
    if (literal !== undefined) return { kind: 'literal', text: unquoted(literal[1]!) };
    const regex = scanner.take(REGEX);
    if (regex !== undefined) {
      const flags = regex[2]!.replace(/[^ims]/g, '');
      return scanner.pattern((flags === '' ? '' : `(?${flags})`) + regex[1]!);
    }
    const name = scanner.take(NAME);
    if (name !== undefined) return { kind: 'rule', name: name[0] };
    const open = scanner.take(OPEN);
    if (open === undefined) return undefined;
    const body = this.expression();
    const close = scanner.take(CLOSE)?.[0];
    if (close !== (open[0] === '(' ? ')' : ']')) throw scanner.fault(`'${open[0]}' is not closed`);
    return open[0] === '(' ? body : { kind: 'repeat', body, min: 0, max: 1 };
  }

  private repeated(body: GrammarNode): GrammarNode {
    const mark = this.scanner.take(MARK)?.[0];
    if (mark !== undefined) {
      return { kind: 'repeat', body, min: mark === '+' ? 1 : 0, max: mark === '?' ? 1 : Infinity };
    }
    const times = this.scanner.take(TIMES);
    if (times === undefined) return body;
    const min = Number(times[1]);
    const max = times[2] === undefined ? min : Number(times[2]);
    if (max < min) throw this.scanner.fault('numbers out of order in a repetition');
    return { kind: 'repeat', body, min, max };
  }

  private canBeBlank(node: GrammarNode, depth: number): boolean {
    if (depth > 5) return false;
    if (node.kind === 'literal') return node.text === ' ';
    if (node.kind === 'pattern') return node.pattern.matches(' ', 'whole');
    if (node.kind === 'token' || node.kind === 'repeat')
      return this.canBeBlank(node.body, depth + 1);
    if (node.kind === 'choice') return node.options.some((one) => this.canBeBlank(one, depth + 1));
    const rule = node.kind === 'rule' ? this.rules.get(node.name) : undefined;
    return rule !== undefined && this.canBeBlank(rule, depth + 1);
  }
}

/** A character as written inside a class. */
function escaped(character: string): string {
  return /[\]\\^-]/.test(character) ? `\\${character}` : character;
}

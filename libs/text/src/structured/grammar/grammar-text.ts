import { RandomStream, spendWork } from '@baton/kernel';
import { ConstraintError } from '../constraint-error';
import { RegexError } from '../regex/regex-error';
import { everything } from '../regex/automaton';
import { StringLanguage } from '../regex/string-language';
import type { StructuredText, WriteOptions } from '../structured-text';
import type { Grammar, GrammarNode } from './grammar';
import { parseGbnf } from './parse-gbnf';
import { parseLark } from './parse-lark';

/**
 * Depth at which every choice becomes the cheapest one, plus the additional depth per degree of
 * ease.
 */
const LEAN_DEPTH = 4;
const DEPTH_PER_EASE = 6;
/** Number of pieces after which a text makes only the cheapest choices. */
const MANY_PIECES = 300;
const MAX_PIECES = 100_000;
const MAX_DEPTH = 1000;
/** Limit of rules measured in the search for cheaper ways. */
const MAX_LOOKS = 200_000;

/** Texts of a grammar in GBNF (`::=`) or Lark notation. */
export class GrammarText implements StructuredText {
  private readonly grammar: Grammar;
  private readonly costs: ReadonlyMap<string, number>;
  private readonly languages = new Map<GrammarNode, StringLanguage>();

  /** Throws `ConstraintError` when the grammar cannot be read or has no finite text. */
  constructor(source: string) {
    this.grammar = source.includes('::=') ? parseGbnf(source) : parseLark(source);
    this.costs = ruleCosts(this.grammar);
    const { start } = this.grammar;
    if (this.costs.get(start) === Infinity) {
      throw new ConstraintError(`rule '${start}' of the grammar has no finite text`);
    }
    this.write(0, { ease: 0 });
  }

  write(seed: number, { ease }: WriteOptions): string {
    const random = RandomStream.root(seed).stream('grammar');
    const { separator } = this.grammar;
    const writer = new Writer(random, ease, {
      grammar: this.grammar,
      costs: this.costs,
      sample: (node) => this.sample(node, random, ease),
    });
    const root: GrammarNode = { kind: 'rule', name: this.grammar.start };
    return writer
      .pieces(root, 0)
      .filter((piece) => piece !== '')
      .join(separator);
  }

  private sample(node: PatternNode, random: RandomStream, ease: number): string {
    try {
      let language = this.languages.get(node);
      if (language === undefined) {
        const { must, mustNot } = node.pattern.demands('whole');
        const all = must.length === 0 ? [everything()] : must;
        language = new StringLanguage({ must: all, mustNot, minLength: 0, maxLength: Infinity });
        this.languages.set(node, language);
      }
      const text = language.sample(random, 2 * ease);
      if (text !== undefined) return text;
      throw new ConstraintError(`no text matches /${node.pattern.source}/`);
    } catch (error) {
      if (!(error instanceof RegexError)) throw error;
      throw new ConstraintError(`${error.message} (/${node.pattern.source.slice(0, 100)}/)`);
    }
  }
}

type PatternNode = Extract<GrammarNode, { kind: 'pattern' }>;

interface WriterTools {
  readonly grammar: Grammar;
  readonly costs: ReadonlyMap<string, number>;
  readonly sample: (node: PatternNode) => string;
}

class Writer {
  private written = 0;

  constructor(
    private readonly random: RandomStream,
    private readonly ease: number,
    private readonly tools: WriterTools,
  ) {}

  /** The pieces of a text, without separators. */
  pieces(node: GrammarNode, depth: number): string[] {
    spendWork(1);
    if (depth > MAX_DEPTH)
      throw new ConstraintError('the texts of the grammar are nested too deeply');
    if (++this.written > MAX_PIECES)
      throw new ConstraintError('the texts of the grammar are too long');
    switch (node.kind) {
      case 'literal':
        return [node.text];
      case 'pattern':
        return [this.tools.sample(node)];
      case 'token':
        return [this.pieces(node.body, depth + 1).join('')];
      case 'rule':
        return this.pieces(this.tools.grammar.rules.get(node.name)!, depth + 1);
      case 'sequence':
        return node.parts.flatMap((part) => this.pieces(part, depth + 1));
      case 'choice':
        return this.pieces(this.chosen(node.options, depth), depth + 1);
      case 'repeat':
        return Array.from({ length: this.count(node, depth) }, () => node.body).flatMap((body) =>
          this.pieces(body, depth + 1),
        );
    }
  }

  private chosen(options: readonly GrammarNode[], depth: number): GrammarNode {
    const { costs } = this.tools;
    spendWork(options.length);
    const possible = options.filter((option) => costOf(option, costs) < Infinity);
    if (!this.isLean(depth)) return possible[this.random.integer(possible.length)]!;
    return possible.reduce((best, one) => (costOf(one, costs) < costOf(best, costs) ? one : best));
  }

  private count(
    { body, min, max }: Extract<GrammarNode, { kind: 'repeat' }>,
    depth: number,
  ): number {
    if (min > MAX_PIECES) throw new ConstraintError('the texts of the grammar are too long');
    if (this.isLean(depth) || costOf(body, this.tools.costs) === Infinity) return min;
    return Math.min(max, min + this.random.integer(this.ease + 2));
  }

  private isLean(depth: number): boolean {
    const isDeep = depth > LEAN_DEPTH + this.ease * DEPTH_PER_EASE;
    return this.ease === 0 || isDeep || this.written > MANY_PIECES;
  }
}

/**
 * Approximate characters of the shortest text of each rule. Infinity: the rule has no finite text.
 */
function ruleCosts({ rules }: Grammar): ReadonlyMap<string, number> {
  const costs = new Map([...rules.keys()].map((name) => [name, Infinity]));
  for (let looks = 0; looks < MAX_LOOKS; looks += rules.size) {
    let isStable = true;
    spendWork(rules.size);
    for (const [name, node] of rules) {
      const cost = costOf(node, costs);
      if (cost === costs.get(name)) continue;
      costs.set(name, cost);
      isStable = false;
    }
    if (isStable) break;
  }
  return costs;
}

/** Each step has a cost, so that the cheapest way is also a short one. */
function costOf(node: GrammarNode, costs: ReadonlyMap<string, number>): number {
  switch (node.kind) {
    case 'literal':
      return 1 + node.text.length;
    case 'pattern':
      return 2;
    case 'token':
      return costOf(node.body, costs);
    case 'rule':
      return 1 + (costs.get(node.name) ?? Infinity);
    case 'sequence':
      return node.parts.reduce((sum, part) => sum + costOf(part, costs), 1);
    case 'choice':
      return 1 + Math.min(...node.options.map((option) => costOf(option, costs)));
    case 'repeat':
      return node.min === 0 ? 1 : 1 + node.min * costOf(node.body, costs);
  }
}

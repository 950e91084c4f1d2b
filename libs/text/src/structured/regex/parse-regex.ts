import { type AST, RegExpParser } from '@eslint-community/regexpp';
import { type CharSet, type Concatenation, type Element, JS, type NoParent } from 'refa';
import { spendWork } from '@baton/kernel';
import { characterSets, type Place } from './character-sets';
import { type EcmaSource, ecmaSource } from './ecma-source';
import { RegexError } from './regex-error';

const MAX_LENGTH = 20_000;
/** Cost of reading one character, in steps of a search. */
const CHARACTER_WORK = 10;
/**
 * Number of optional copies at which a repetition counts as endless. No generated text is that
 * long.
 */
const MAX_COPIES = 2000;

export type Alternatives = readonly NoParent<Concatenation>[];

/** A pattern as conditions on the text from its first character: all of `ahead`, and the body. */
export interface Regex {
  readonly body: Alternatives;
  /** Lookaheads at the start. */
  readonly ahead: readonly { readonly isNegated: boolean; readonly body: Alternatives }[];
}

/**
 * Reads a pattern in the common part of ECMAScript's, Python's and Rust's syntax. Throws
 * `RegexError`, with the name of the construct, for backreferences, lookbehinds, and lookaheads
 * beyond the start of the pattern: they are not regular or too costly.
 */
export function parseRegex(pattern: string): Regex {
  if (pattern.length > MAX_LENGTH) {
    throw new RegexError(`the pattern is longer than ${MAX_LENGTH} characters`);
  }
  spendWork(pattern.length * CHARACTER_WORK);
  const source = ecmaSource(pattern);
  const { alternatives } = parsed(source);
  const [first] = alternatives;
  const scope: Scope = { source, sets: new Map() };
  if (alternatives.length > 1 || first === undefined) {
    return { body: concatenations(alternatives, scope), ahead: [] };
  }
  const elements = flattened(first.elements);
  const end = elements.findIndex((one) => !isAhead(one) && !isStart(one));
  const opening = end === -1 ? elements : elements.slice(0, end);
  const rest = [...opening.filter(isStart), ...elements.slice(opening.length)];
  return {
    body: [concatenation(rest, scope)],
    ahead: opening.filter(isAhead).map(({ negate, alternatives: body }) => ({
      isNegated: negate,
      body: concatenations(body, scope),
    })),
  };
}

function parsed(source: EcmaSource): AST.Pattern {
  const { text } = source;
  try {
    return new RegExpParser().parsePattern(text, 0, text.length, { unicode: true });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const reason = error.message.slice(error.message.lastIndexOf(': ') + 2);
    const { index } = error as SyntaxError & { readonly index: number };
    throw source.fault(reason.charAt(0).toLowerCase() + reason.slice(1), index);
  }
}

/** Elements without the groups around sequences of them. */
function flattened(elements: readonly AST.Element[]): AST.Element[] {
  return elements.flatMap((element) => {
    if (element.type !== 'Group' && element.type !== 'CapturingGroup') return element;
    const [only, other] = element.alternatives;
    return only === undefined || other !== undefined ? element : flattened(only.elements);
  });
}

function isAhead(element: AST.Element): element is AST.LookaheadAssertion {
  return element.type === 'Assertion' && element.kind === 'lookahead';
}

function isStart(element: AST.Element): boolean {
  return element.type === 'Assertion' && element.kind === 'start';
}

/** What the parts of a pattern share. */
interface Scope {
  readonly source: EcmaSource;
  /** Sets of the whole pattern, by their text and flags. */
  readonly sets: Map<string, CharSet>;
}

function concatenations(alternatives: readonly AST.Alternative[], scope: Scope): Alternatives {
  return alternatives.map(({ elements }) => concatenation(elements, scope));
}

function concatenation(elements: readonly AST.Element[], scope: Scope): NoParent<Concatenation> {
  return { type: 'Concatenation', elements: elements.map((one) => elementOf(one, scope)) };
}

function elementOf(element: AST.Element, scope: Scope): NoParent<Element> {
  switch (element.type) {
    case 'Assertion':
      return { type: 'CharacterClass', characters: characterSets().marks.get(placeOf(element))! };
    case 'Quantifier': {
      const { min, max } = element;
      return {
        type: 'Quantifier',
        alternatives: [concatenation([element.element], scope)],
        lazy: false,
        min,
        max: max - min > MAX_COPIES ? Infinity : max,
      };
    }
    case 'Group':
    case 'CapturingGroup':
      return {
        type: 'Alternation',
        alternatives: [...concatenations(element.alternatives, scope)],
      };
    case 'Character':
    case 'CharacterSet':
    case 'CharacterClass':
      return { type: 'CharacterClass', characters: setOf(element, scope) };
    case 'Backreference':
    case 'ExpressionCharacterClass':
      throw new RegexError(`${element.raw} is not supported`);
  }
}

function placeOf(assertion: AST.Assertion): Place {
  switch (assertion.kind) {
    case 'start':
    case 'end':
      return assertion.kind;
    case 'word':
      return assertion.negate ? 'word-inside' : 'word-edge';
    default:
      throw new RegexError('lookaheads are supported at the start of a pattern only');
  }
}

function setOf(
  element: AST.Character | AST.CharacterSet | AST.CharacterClass,
  { source, sets }: Scope,
): CharSet {
  const flags = { unicode: true, ...source.flagsAt(element.start) } as const;
  const key = `${element.raw} ${flags.ignoreCase} ${flags.dotAll}`;
  let set = sets.get(key);
  if (set === undefined) {
    const isClass = element.type === 'CharacterClass';
    const parts = (isClass ? element.elements : [element]).map(partOf);
    set = JS.createCharSet(parts, flags);
    set = (isClass && element.negate ? set.negate() : set).intersect(characterSets().any);
    sets.set(key, set);
  }
  return set;
}

type ClassPart = Parameters<typeof JS.createCharSet>[0] extends Iterable<infer Part> ? Part : never;

function partOf(element: AST.CharacterClassElement | AST.CharacterSet): ClassPart {
  if (element.type === 'Character') return element.value;
  if (element.type !== 'CharacterClassRange') return element as JS.AnyCharacterSet;
  return { min: element.min.value, max: element.max.value };
}

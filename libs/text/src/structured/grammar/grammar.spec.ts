import { describe, expect, it } from 'vitest';
import { ConstraintError } from '../constraint-error';
import { GrammarText } from './grammar-text';

function texts(grammar: string): string[] {
  const text = new GrammarText(grammar);
  return Array.from({ length: 200 }, (_, i) => text.write(i >> 2, { ease: i & 3 }));
}

const SQL = `
  root ::= select_statement
  select_statement ::= "SELECT " column " from " table " where " condition
  column ::= "col_1 " | "col_2 "
  table ::= "table_1 " | "table_2 "
  condition ::= column "= " number
  number ::= "1 " | "2 "
`;

const LARK_SQL = `
  // from vLLM's example
  start: select_statement
  select_statement: "SELECT" column "from" table "where" condition
  column: "col_1" | "col_2"
  table: "table_1" | "table_2"
  condition: column "=" number
  number: "1" | "2"
  %ignore " "
`;

describe('texts of a GBNF grammar', () => {
  it('belong to the language', () => {
    for (const text of texts(SQL)) {
      expect(text).toMatch(/^SELECT col_[12] {2}from table_[12] {2}where col_[12] = [12] $/);
    }
  });

  it('support repetitions, classes, groups, comments, escapes and recursion', () => {
    const list = String.raw`
      root ::= "[" item ("," item){0,3} "]" # a list
      item ::= [a-z0-9]+ | "\"" [^"\\\n]* "\"" | root | "\u00e9"?
    `;
    for (const text of texts(list)) {
      let reduced = text;
      for (let i = 0; i < 50; i++) {
        reduced = reduced
          .replace(/"[^"\\\n]*"/g, 'x')
          .replace(/\[([a-z0-9]+|é|)(,([a-z0-9]+|é|)){0,3}\]/g, 'x');
      }
      expect(reduced).toBe('x');
    }
  });

  it('differ between seeds, and are equal for equal seeds', () => {
    expect(new Set(texts('root ::= [a-z]{8,12}')).size).toBeGreaterThan(100);
    expect(texts(SQL)).toEqual(texts(SQL));
  });

  it('are finite in a grammar whose rules mostly recurse', () => {
    for (const text of texts('root ::= root root | "(" root ")" | "a"')) {
      expect(text.length).toBeLessThan(20_000);
      expect(text).toMatch(/^[()a]+$/);
    }
  });
});

describe('texts of a Lark grammar', () => {
  it('belong to the language, with blanks where the grammar ignores them', () => {
    for (const text of texts(LARK_SQL)) {
      expect(text).toMatch(/^SELECT col_[12] from table_[12] where col_[12] = [12]$/);
    }
  });

  it('support terminals, imports, options, ranges, counts, aliases and patterns', () => {
    const lark = `
      ?start: pair ("," pair)~1..2 -> pairs
      !pair: KEY ["!"] ":" value
      value: SIGNED_NUMBER | ESCAPED_STRING | "a".."f"
           | /x{2,3}/i
      KEY.2: LETTER (LETTER | "_")*
      %import common (LETTER, ESCAPED_STRING)
      %import common.SIGNED_NUMBER
      %import common.WS -> BLANK
    `;
    const value = String.raw`([+-]?[\d.]+([eE][+-]?\d+)?|"([^"\\]|\\.)*"|[a-f]|[xX]{2,3})`;
    const pair = `[A-Za-z][A-Za-z_]*!?:${value}`;
    for (const text of texts(lark)) expect(text).toMatch(new RegExp(`^${pair}(,${pair}){1,2}$`));
  });
});

describe('a grammar that is refused', () => {
  it.each([
    ['root ::= a', "rule 'root' names 'a', but the grammar has no such rule"],
    ['a ::= "x"', "the grammar has no rule 'root'"],
    ['root ::= "x" root', "rule 'root' of the grammar has no finite text"],
    ['root ::= ("x"', "the grammar cannot be read: ')' was expected in line 1"],
    ['root ::= "x"\n\n)', 'the grammar cannot be read: a rule was expected in line 3'],
    [
      'root ::= [z-a]',
      'the grammar cannot be read: range out of order in character class at offset 0 in line 1',
    ],
    ['item: "x"', "the grammar has no rule 'start'"],
    ['start: "x" )', 'the grammar cannot be read: the end of a rule was expected in line 1'],
    ['%declare X\nstart: X', 'the grammar cannot be read: %declare is not supported in line 1'],
    ['%import common.NOPE\nstart: NOPE', 'common.NOPE is not supported'],
    ['root ::= "x"{99999999}', 'the texts of the grammar are too long'],
  ])('%j gives the reason', (grammar, message) => {
    expect(() => new GrammarText(grammar)).toThrow(new ConstraintError(message));
  });

  it.each(['', '::=', '(((((', `root ::= ${'('.repeat(5000)}`, '|', 'start: [', '"'])(
    'broken grammar %# raises only a ConstraintError',
    (grammar) => {
      expect(() => new GrammarText(grammar)).toThrow(ConstraintError);
    },
  );
});

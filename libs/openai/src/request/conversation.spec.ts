import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChatTurn, joinedContent } from '@baton/text';
import { mergedTurns } from './conversation';

const content = fc.oneof(
  fc.string({ maxLength: 3 }),
  fc.array(fc.oneof(fc.string({ maxLength: 3 }), fc.array(fc.nat(9), { maxLength: 2 })), {
    maxLength: 2,
  }),
);

const turn: fc.Arbitrary<ChatTurn> = fc.record(
  {
    role: fc.constantFrom('user', 'assistant'),
    content,
    name: fc.constantFrom('a', 'b'),
    reasoning: fc.constantFrom('so', 'thus'),
    calls: fc.array(fc.record({ name: fc.constant('f'), arguments: fc.constant('{}') }), {
      minLength: 1,
      maxLength: 2,
    }),
  },
  { requiredKeys: ['role', 'content'] },
);

/** The definition of merging: each turn joins the previous one. */
function oneByOne(turns: readonly ChatTurn[]): ChatTurn[] {
  const result: ChatTurn[] = [];
  for (const next of turns) {
    const last = result.at(-1);
    if (last === undefined || last.role !== next.role || last.name !== next.name) {
      result.push(next);
      continue;
    }
    const contents = [last.content, next.content].filter(({ length }) => length > 0);
    const calls = [...(last.calls ?? []), ...(next.calls ?? [])];
    const reasoning = [last.reasoning, next.reasoning].filter((one) => one !== undefined);
    result[result.length - 1] = {
      ...last,
      content: joinedContent(contents, '\n'),
      ...(calls.length === 0 ? {} : { calls }),
      ...(reasoning.length === 0 ? {} : { reasoning: reasoning.join('\n') }),
    };
  }
  return result;
}

describe('neighbouring turns of one role and name', () => {
  it('become one turn, as if each joined the previous one', () => {
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 8 }), (turns) => {
        expect(mergedTurns(turns)).toEqual(oneByOne(turns));
      }),
    );
  });
});

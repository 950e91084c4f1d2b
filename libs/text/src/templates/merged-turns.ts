import { type ChatTurn, joinedContent } from './chat-template';

/** Each run of turns of one role and name as one turn, in time linear in their number. */
export function mergedTurns(turns: readonly ChatTurn[]): ChatTurn[] {
  const result: ChatTurn[] = [];
  for (let from = 0, to = 0; from < turns.length; from = to) {
    const { role, name } = turns[from]!;
    while (turns[to]?.role === role && turns[to]?.name === name) to += 1;
    result.push(to === from + 1 ? turns[from]! : together(turns.slice(from, to)));
  }
  return result;
}

function together(run: readonly ChatTurn[]): ChatTurn {
  const calls = run.flatMap((turn) => turn.calls ?? []);
  const reasoning = run.flatMap((turn) => turn.reasoning ?? []).join('\n');
  const contents = run.map(({ content }) => content).filter((content) => content.length > 0);
  const texts = contents.findIndex((content) => typeof content !== 'string');
  // Texts before the first content of pieces are one text, whose tokens may span their seams.
  const parts =
    texts > 0 ? [contents.slice(0, texts).join('\n'), ...contents.slice(texts)] : contents;
  return {
    ...run[0]!,
    content: joinedContent(parts, '\n'),
    ...(calls.length === 0 ? {} : { calls }),
    ...(reasoning === '' ? {} : { reasoning }),
  };
}

import { type ChatTemplate, type ChatTurn, customCall, joinedContent } from './chat-template';
import { isResult } from './chatml';
import { mark, type Markup } from './markup';

const START = mark('<|start_header_id|>');
const END = mark('<|end_header_id|>');
const CLOSE: Markup = [mark('<|eot_id|>')];
/**
 * Llama 3.1 and later begin every system turn with these lines, and add such a turn where the
 * request has none.
 */
const DATES = 'Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n';

function header(role: string): Markup {
  return [START, role, END, '\n\n'];
}

/** `<|start_header_id|>role<|end_header_id|>\n\ncontent<|eot_id|>` per turn. */
export const LLAMA_3: ChatTemplate = {
  name: 'llama-3',
  begin: '<|begin_of_text|>',
  end: '<|eot_id|>',
  arrange: (turns) => turns,
  openTurn: (turn) => header(isResult(turn) ? 'ipython' : turn.role),
  closeTurn: () => CLOSE,
  answer: (thinks) => [...header('assistant'), ...(thinks ? ['<think>\n'] : [])],
  reasoning: { opening: ['<think>\n'], closing: ['\n</think>\n\n'] },
  call: (name, kind) =>
    kind === 'custom'
      ? customCall(name)
      : { opening: [`{"name": ${JSON.stringify(name)}, "parameters": `], closing: ['}'] },
  describeTools: (definitions) => {
    const blocks = definitions.map((definition) => JSON.stringify(definition, null, 4));
    return (
      'These functions can be called. To call one, answer with JSON of this form: {"name": ' +
      'function name, "parameters": dictionary of argument name and its value}. Do not use ' +
      `variables.\n\n${blocks.join('\n\n')}\n\n`
    );
  },
};

export const LLAMA_3_1: ChatTemplate = {
  ...LLAMA_3,
  name: 'llama-3.1',
  arrange: (turns) => {
    const [first, ...others] = turns;
    const dated = (turn: ChatTurn): ChatTurn => ({
      ...turn,
      content: joinedContent([DATES, turn.content], ''),
    });
    if (first?.role === 'system') return [dated(first), ...others];
    return [{ role: 'system', content: DATES }, ...turns];
  },
};

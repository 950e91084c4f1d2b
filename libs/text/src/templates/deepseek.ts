import { type ChatTemplate, type ChatTurn, customCall } from './chat-template';
import { isResult } from './chatml';
import { mark, type Markup } from './markup';

const END = mark('<｜end▁of▁sentence｜>');
const USER: Markup = [mark('<｜User｜>')];
const ASSISTANT: Markup = [mark('<｜Assistant｜>')];
const RESULT_OPENING: Markup = [mark('<｜tool▁outputs▁begin｜>'), mark('<｜tool▁output▁begin｜>')];
const RESULT_CLOSING: Markup = [mark('<｜tool▁output▁end｜>'), mark('<｜tool▁outputs▁end｜>')];

/**
 * The template of DeepSeek V3 and R1: the system text bare, then
 * `<｜User｜>…<｜Assistant｜>…<｜end▁of▁sentence｜>`.
 */
export const DEEPSEEK: ChatTemplate = {
  name: 'deepseek',
  begin: '<｜begin▁of▁sentence｜>',
  end: '<｜end▁of▁sentence｜>',
  arrange: (turns) => turns,
  openTurn: open,
  closeTurn: (turn) => {
    if (turn.role === 'assistant') return [END];
    return isResult(turn) ? RESULT_CLOSING : [];
  },
  answer: (thinks) => (thinks ? [...ASSISTANT, mark('<think>'), '\n'] : ASSISTANT),
  reasoning: { opening: [mark('<think>'), '\n'], closing: ['\n', mark('</think>'), '\n\n'] },
  call: (name, kind) =>
    kind === 'custom'
      ? customCall(name)
      : {
          opening: [
            mark('<｜tool▁calls▁begin｜>'),
            mark('<｜tool▁call▁begin｜>'),
            name,
            mark('<｜tool▁sep｜>'),
          ],
          closing: [mark('<｜tool▁call▁end｜>'), mark('<｜tool▁calls▁end｜>')],
        },
  describeTools: (definitions) =>
    ['## Tools', ...definitions.map((one) => `### Tool\n\n${JSON.stringify(one)}`)].join('\n\n'),
};

function open(turn: ChatTurn): Markup {
  if (turn.role === 'assistant') return ASSISTANT;
  if (turn.role === 'system') return [];
  return isResult(turn) ? RESULT_OPENING : USER;
}

import { type ChatTemplate, type ChatTurn, customCall, joinedContent } from './chat-template';
import { mark, type Markup } from './markup';

const START = mark('<start_of_turn>');
const CLOSE: Markup = [mark('<end_of_turn>'), '\n'];

/**
 * The template of Gemma 2 and 3. It has two roles, `user` and `model`; the system text begins the
 * first user turn.
 */
export const GEMMA: ChatTemplate = {
  name: 'gemma',
  begin: '<bos>',
  end: '<end_of_turn>',
  arrange,
  openTurn: ({ role }) => [START, role === 'assistant' ? 'model\n' : 'user\n'],
  closeTurn: () => CLOSE,
  answer: (thinks) => [START, 'model\n', ...(thinks ? ['<think>\n'] : [])],
  reasoning: { opening: ['<think>\n'], closing: ['\n</think>\n\n'] },
  call: (name, kind) =>
    kind === 'custom'
      ? customCall(name)
      : {
          opening: [`\`\`\`json\n{"name": ${JSON.stringify(name)}, "parameters": `],
          closing: ['}\n```\n'],
        },
  describeTools: (definitions) =>
    `Functions that you may call, in JSON:\n\n${JSON.stringify(definitions)}`,
};

function arrange(turns: readonly ChatTurn[]): readonly ChatTurn[] {
  const [system, next, ...others] = turns;
  if (system?.role !== 'system') return turns;
  if (next === undefined || next.role === 'assistant') {
    return [{ ...system, role: 'user' }, ...turns.slice(1)];
  }
  return [{ ...next, content: joinedContent([system.content, next.content], '\n\n') }, ...others];
}

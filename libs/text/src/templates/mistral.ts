import { type ChatTemplate, type ChatTurn, customCall } from './chat-template';
import { isResult } from './chatml';
import type { Marker } from '../tokenizers/markers';
import { mark, type Markup } from './markup';

interface Brackets {
  readonly opening: Markup;
  readonly closing: Markup;
}

const SYSTEM = brackets('[SYSTEM_PROMPT]', '[/SYSTEM_PROMPT]');
const RESULT = brackets('[TOOL_RESULTS]', '[/TOOL_RESULTS]');
const USER = brackets('[INST]', '[/INST]');
const ASSISTANT: Brackets = { opening: [], closing: [mark('</s>')] };

/**
 * Mistral's template since version 7 of its tokenizer: `[INST]…[/INST]` for the user, `…</s>` for
 * the assistant.
 */
export const MISTRAL: ChatTemplate = {
  name: 'mistral',
  begin: '<s>',
  end: '</s>',
  arrange: (turns) => turns,
  openTurn: (turn) => bracketsOf(turn).opening,
  closeTurn: (turn) => bracketsOf(turn).closing,
  answer: (thinks) => (thinks ? ['<think>\n'] : []),
  reasoning: { opening: ['<think>\n'], closing: ['\n</think>\n\n'] },
  call: (name, kind) =>
    kind === 'custom'
      ? customCall(name)
      : { opening: [mark('[TOOL_CALLS]'), name, mark('[ARGS]')], closing: [] },
  describeTools: (definitions) => JSON.stringify(definitions),
};

function brackets(opening: Marker, closing: Marker): Brackets {
  return { opening: [mark(opening)], closing: [mark(closing)] };
}

function bracketsOf(turn: ChatTurn): Brackets {
  if (turn.role === 'assistant') return ASSISTANT;
  if (turn.role === 'system') return SYSTEM;
  return isResult(turn) ? RESULT : USER;
}

import { type CallMarkup, type ChatTemplate, type ChatTurn, customCall } from './chat-template';
import { mark, type Markup } from './markup';

const START = mark('<|im_start|>');
const CLOSE: Markup = [mark('<|im_end|>'), '\n'];

/** `<|im_start|>role content<|im_end|> ` per turn; the template of unknown models. */
export const CHATML: ChatTemplate = {
  name: 'chatml',
  begin: undefined,
  end: '<|im_end|>',
  arrange: (turns) => turns,
  openTurn: (turn) => [START, headerOf(turn)],
  closeTurn: () => CLOSE,
  answer: () => [START, 'assistant\n'],
  reasoning: { opening: [], closing: ['\n</think>\n\n'] },
  call: (name, kind) => (kind === 'custom' ? customCall(name) : CALL(name)),
  describeTools: (definitions) => toolLines(definitions),
};

/**
 * The template of Qwen 2.5 and 3: ChatML, with thinking, calls and tool results in markers of their
 * own.
 */
export const QWEN: ChatTemplate = {
  ...CHATML,
  name: 'qwen',
  openTurn: (turn) =>
    isResult(turn) ? [START, 'user\n', mark('<tool_response>'), '\n'] : [START, headerOf(turn)],
  closeTurn: (turn) => (isResult(turn) ? ['\n', mark('</tool_response>'), ...CLOSE] : CLOSE),
  answer: (thinks) => [START, 'assistant\n', ...(thinks ? THINK : [])],
  reasoning: { opening: [mark('<think>'), '\n'], closing: ['\n', mark('</think>'), '\n\n'] },
  call: (name, kind) => (kind === 'custom' ? customCall(name) : MARKED_CALL(name)),
};

const THINK: Markup = [mark('<think>'), '\n'];

const CALL = (name: string): CallMarkup => ({
  opening: [`<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": `],
  closing: ['}\n</tool_call>\n'],
});

const MARKED_CALL = (name: string): CallMarkup => ({
  opening: [mark('<tool_call>'), `\n{"name": ${JSON.stringify(name)}, "arguments": `],
  closing: ['}\n', mark('</tool_call>'), '\n'],
});

function headerOf({ role, name }: ChatTurn): string {
  return name === undefined ? `${role}\n` : `${role} name=${name}\n`;
}

/** Whether a turn is the result of a tool. */
export function isResult({ role }: ChatTurn): boolean {
  return role === 'tool' || role === 'function';
}

function toolLines(definitions: readonly object[]): string {
  const lines = definitions.map((definition) => JSON.stringify(definition));
  return `# Tools\n\nCall these where they help:\n<tools>\n${lines.join('\n')}\n</tools>`;
}

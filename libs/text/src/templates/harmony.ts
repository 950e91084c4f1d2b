import { type ChatTemplate, type ChatTurn, customCall, joinedContent } from './chat-template';
import { isResult } from './chatml';
import { mark, type Markup } from './markup';

const START = mark('<|start|>');
const CHANNEL = mark('<|channel|>');
const MESSAGE = mark('<|message|>');
const END = mark('<|end|>');
const FINAL: Markup = [CHANNEL, 'final', MESSAGE];
const ASSISTANT: Markup = [START, 'assistant'];

/** About as long as the system message of gpt-oss before every conversation. */
const PREFACE = [
  'You are a large language model, simulated by Baton.',
  'Knowledge cutoff: 2024-06',
  'Current date: 2025-06-28',
  '',
  'Reasoning: medium',
  '',
  '# Valid channels: analysis, commentary, final. Channel must be included for every message.',
].join('\n');

/**
 * OpenAI's harmony format, as in gpt-oss: a system preface, developer instructions, and channels of
 * the assistant.
 */
export const HARMONY: ChatTemplate = {
  name: 'harmony',
  begin: undefined,
  end: '<|return|>',
  arrange: (turns) => [{ role: 'system', content: PREFACE }, ...turns.map(developed)],
  openTurn: (turn) => {
    if (turn.role === 'assistant') return turn.reasoning ? ASSISTANT : [...ASSISTANT, ...FINAL];
    if (isResult(turn)) return [START, `functions.${turn.name ?? 'tool'} to=assistant`, ...COMMENT];
    return [START, turn.role, MESSAGE];
  },
  closeTurn: () => [END],
  answer: (thinks) => [...ASSISTANT, ...(thinks ? ANALYSIS : FINAL)],
  reasoning: { opening: [CHANNEL, 'analysis', MESSAGE], closing: [END, ...ASSISTANT, ...FINAL] },
  call: (name, kind) =>
    kind === 'custom'
      ? customCall(name)
      : {
          opening: [
            ...[END, ...ASSISTANT, CHANNEL, `commentary to=functions.${name} `],
            ...[mark('<|constrain|>'), 'json', MESSAGE],
          ],
          closing: [mark('<|call|>')],
        },
  describeTools: (definitions) =>
    ['# Tools', '## functions', 'namespace functions {', ...definitions.map(typed), '}'].join(
      '\n\n',
    ),
};

const ANALYSIS: Markup = [CHANNEL, 'analysis', MESSAGE];
const COMMENT: Markup = [CHANNEL, 'commentary', MESSAGE];

function developed(turn: ChatTurn): ChatTurn {
  if (turn.role !== 'system') return turn;
  return {
    ...turn,
    role: 'developer',
    content: joinedContent(['# Instructions\n\n', turn.content], ''),
  };
}

/** A function as a TypeScript type. Its parameters stay JSON Schema, which is about as long. */
function typed(definition: object): string {
  const { function: named } = definition as { readonly function?: Named };
  if (named === undefined) return JSON.stringify(definition);
  const about = named.description === undefined ? '' : `// ${named.description}\n`;
  return `${about}type ${named.name} = (_: ${JSON.stringify(named.parameters ?? {})}) => any;`;
}

interface Named {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: object;
}

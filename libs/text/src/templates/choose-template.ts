import type { ChatTemplate } from './chat-template';
import { CHATML, QWEN } from './chatml';
import { DEEPSEEK } from './deepseek';
import { GEMMA } from './gemma';
import { HARMONY } from './harmony';
import { LLAMA_3, LLAMA_3_1 } from './llama';
import { MISTRAL } from './mistral';

export const TEMPLATE_NAMES = [
  ...(['chatml', 'qwen', 'llama-3', 'llama-3.1', 'mistral', 'deepseek', 'gemma'] as const),
  'harmony',
] as const;
export type TemplateName = (typeof TEMPLATE_NAMES)[number];

const TEMPLATES: Readonly<Record<TemplateName, ChatTemplate>> = {
  chatml: CHATML,
  qwen: QWEN,
  'llama-3': LLAMA_3,
  'llama-3.1': LLAMA_3_1,
  mistral: MISTRAL,
  deepseek: DEEPSEEK,
  gemma: GEMMA,
  harmony: HARMONY,
};

/** Patterns of model names. The first match wins. */
const FAMILIES: readonly (readonly [RegExp, TemplateName])[] = [
  [/qwen|qwq/i, 'qwen'],
  [/deepseek/i, 'deepseek'],
  [/llama-?3\.[1-9]/i, 'llama-3.1'],
  [/llama-?3/i, 'llama-3'],
  [/mi[sx]tral|codestral|devstral/i, 'mistral'],
  [/gemma/i, 'gemma'],
  [/gpt-?oss|harmony/i, 'harmony'],
];

/** Markup in the Jinja text of a chat template. The first match wins. */
const MARKUP: readonly (readonly [readonly string[], TemplateName])[] = [
  [['<|channel|>', '<|message|>'], 'harmony'],
  [['<｜User｜>'], 'deepseek'],
  [['<|start_header_id|>', 'Cutting Knowledge Date'], 'llama-3.1'],
  [['<|start_header_id|>'], 'llama-3'],
  [['<start_of_turn>'], 'gemma'],
  [['[INST]'], 'mistral'],
  [['<|im_start|>', '<tool_call>'], 'qwen'],
  [['<|im_start|>'], 'chatml'],
];

/** The family whose markup the text of a Jinja template has; ChatML for unknown markup. */
export function familyOfJinja(source: string): ChatTemplate {
  const family = MARKUP.find(([texts]) => texts.every((text) => source.includes(text)));
  return TEMPLATES[family?.[1] ?? 'chatml'];
}

export function templateNamed(name: TemplateName): ChatTemplate {
  return TEMPLATES[name];
}

/** The template of a model's family. ChatML for unknown families. */
export function templateOfModel(model: string): ChatTemplate {
  const family = FAMILIES.find(([pattern]) => pattern.test(model));
  return TEMPLATES[family?.[1] ?? 'chatml'];
}

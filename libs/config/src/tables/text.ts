import { choice, optionalText, text } from '../option';

/** Values of `chat_template` that are no file: auto, and the built-in templates. */
export const CHAT_TEMPLATES = [
  ...(['auto', 'chatml', 'qwen', 'llama-3', 'llama-3.1'] as const),
  ...(['mistral', 'deepseek', 'gemma', 'harmony'] as const),
];

/** The text of answers, and the counting of texts. */
export const TEXT = {
  textModel: choice(['simulated', 'echo', 'random', 'dataset', 'rules'], 'simulated', {
    help:
      'Source of answers: simulated sentences, the last user message (echo), words drawn from ' +
      'the whole vocabulary (random), the answers of answers_path, or the rules of rules_path.',
  }),
  answersPath: optionalText({
    help: 'JSONL or ShareGPT file of answers, for text_model dataset and output_length dataset.',
    unset: 'no answers',
  }),
  rulesPath: optionalText({
    help:
      'YAML file of rules that give requests an answer, a delay or an error, for text_model ' +
      'rules. It is read again when it changes.',
    unset: 'no rules',
  }),
  outputLengthHistogram: optionalText({
    help: 'With output_length histogram: ranges of lengths in tokens, with their weights.',
    pattern: /^\d{1,7}-\d{1,7}:\d{1,9}(\.\d{1,9})?(,\d{1,7}-\d{1,7}:\d{1,9}(\.\d{1,9})?){0,99}$/,
    like: '1-64:20,65-256:50,257-1024:30',
    unset: 'needed only by output_length histogram',
  }),
  tokenizer: optionalText({
    help:
      'Tokenizer of all texts: o200k, cl100k, p50k, r50k, or the path of a tokenizer.json (or of ' +
      'its folder).',
    unset: 'the tokenizer.json in the folder that model names, else o200k',
  }),
  chatTemplate: text('auto', {
    help:
      `Template that turns conversations into prompts: one of ${CHAT_TEMPLATES.join(', ')}, or ` +
      'the path of a Jinja file. auto uses the chat template in the folder that model names, ' +
      "else that of the model's name; chatml for unknown names.",
  }),
} as const;

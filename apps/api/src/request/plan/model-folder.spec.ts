import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BatonConfig, defaultConfig } from '@baton/config';
import { createLogger } from '@baton/telemetry';
import { tokenizerInfoBody } from '@baton/openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tinyTokenizerJson } from '../../../../../libs/text/test/tiny-tokenizer';
import { TextSetup } from './text-setup';

const JINJA = "{% for m in messages %}<|start_header_id|>{{ m['role'] }}{% endfor %}";
const UNIGRAM = JSON.stringify({ model: { type: 'Unigram' }, decoder: { type: 'Metaspace' } });

/** A model's folder with a config.json and these files. */
function folderOf(files: Readonly<Record<string, string | object>>): string {
  const parent = mkdtempSync(join(tmpdir(), 'baton-model-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const folder = join(parent, 'own-model');
  mkdirSync(folder);
  for (const [name, content] of Object.entries({ 'config.json': {}, ...files })) {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function partsOf(config: Partial<BatonConfig>): Promise<TextSetup['parts']> {
  const logger = createLogger({ name: 'test', level: 'silent' });
  return (await TextSetup.open(defaultConfig(config), logger)).parts;
}

const TURN = { role: 'user', content: 'Hi' };

/** The prompt of one turn by the Jinja template of these parts. */
const renderedBy = ({ template }: TextSetup['parts'], tools: readonly object[] = []) =>
  template.jinja?.render({
    messages: [TURN],
    tools,
    documents: [],
    addGenerationPrompt: true,
    continueFinalTurn: false,
    variables: {},
  });

const namesOf = async (config: Partial<BatonConfig>): Promise<string[]> => {
  const { tokenizer, template } = await partsOf(config);
  return [tokenizer.name, template.name];
};

describe("a model's folder with a tokenizer and a chat template", () => {
  const FILES = {
    'tokenizer.json': tinyTokenizerJson(),
    'tokenizer_config.json': { eos_token: { content: '<|eot_id|>' }, chat_template: JINJA },
  };

  it('provides both, named by the folder or by its config.json', async () => {
    const folder = folderOf(FILES);
    for (const model of [folder, join(folder, 'config.json')]) {
      expect(await namesOf({ model })).toEqual(['own-model', 'llama-3']);
    }
  });

  it('defines the end of a text and the content of /tokenizer_info', async () => {
    const { tokenizer, template } = await partsOf({ model: folderOf(FILES) });
    expect(tokenizer.decode([tokenizer.special.endOfText])).toBe('<|eot_id|>');
    const limits = { tokenizer, template, maxModelLen: 100, model: 'm', adapters: [] };
    const info = JSON.parse(tokenizerInfoBody(limits as never)) as Record<string, unknown>;
    expect(info['chat_template']).toBe(JINJA);
  });

  it('is overridden by the options', async () => {
    const model = folderOf(FILES);
    expect(await namesOf({ model, tokenizer: 'r50k' })).toEqual(['r50k_base', 'llama-3']);
    expect(await namesOf({ model, chatTemplate: 'gemma' })).toEqual(['own-model', 'gemma']);
  });

  it('may have the template in chat_template.jinja, or under the name default', async () => {
    const own = { 'chat_template.jinja': '<start_of_turn>user', ...FILES };
    expect(await namesOf({ model: folderOf(own) })).toEqual(['own-model', 'gemma']);
    const templates = [
      { name: 'tool_use', template: '<start_of_turn>' },
      { name: 'default', template: "{{ '<|im_start|>' }}{{ '<tool_call>' }}" },
    ];
    const named = folderOf({ 'tokenizer_config.json': { chat_template: templates } });
    expect(await namesOf({ model: named, tokenizer: 'r50k' })).toEqual(['r50k_base', 'qwen']);
    const parts = await partsOf({ model: named, tokenizer: 'r50k' });
    expect(renderedBy(parts)).toBe('<|im_start|><tool_call>');
    expect(renderedBy(parts, [{}])).toBe('<start_of_turn>');
  });

  it('gives its special tokens to its template, and to a file that replaces it', async () => {
    const source = '{{ bos_token }}Q: {{ messages[0].content }}{{ eos_token }} {{ unk_token }}';
    const config = { bos_token: '<s>', eos_token: { content: '<|eot_id|>' }, unk_token: null };
    const model = folderOf({
      'tokenizer.json': tinyTokenizerJson(),
      'tokenizer_config.json': config,
      'chat_template.jinja': source,
    });
    expect(renderedBy(await partsOf({ model }))).toBe('<s>Q: Hi<|eot_id|> ');
    const chatTemplate = join(folderOf({ 'own.jinja': '{{ bos_token }}A' }), 'own.jinja');
    expect(renderedBy(await partsOf({ model, chatTemplate }))).toBe('<s>A');
    expect(renderedBy(await partsOf({ chatTemplate }))).toBe('A');
    const family = join(
      folderOf({ 'own.jinja': '{{ bos_token }}[INST]{{ eos_token }}' }),
      'own.jinja',
    );
    expect(renderedBy(await partsOf({ chatTemplate: family }))).toBe('<s>[INST]</s>');
    expect(renderedBy(await partsOf({ model, chatTemplate: family }))).toBe('<s>[INST]<|eot_id|>');
  });

  it('gives the local date to its template', async () => {
    const source = "{{ strftime_now('%Y') }}|{{ strftime_now('%d %B %y %H:%M:%S %A %q%%') }}";
    const parts = await partsOf({ model: folderOf({ 'chat_template.jinja': source }) });
    const year = new Date().getFullYear();
    expect(renderedBy(parts)).toMatch(
      new RegExp(`^${year}\\|\\d\\d [A-Z][a-z]+ \\d\\d \\d\\d:\\d\\d:\\d\\d [A-Z][a-z]+day %q%$`),
    );
  });
});

it('a folder with only a config.json gives both as for a model name', async () => {
  expect(await namesOf({ model: folderOf({}) })).toEqual(['o200k_base', 'chatml']);
});

describe('unusable files in a folder', () => {
  const TINY = { 'tokenizer.json': tinyTokenizerJson() };
  it.each<[string, Record<string, string | object>, string]>([
    ['another form', { 'tokenizer.model': 'x' }, 'tokenizer.json does not exist, and tokenizer.m'],
    ['Unigram', { 'tokenizer.json': UNIGRAM }, '"model.type" is Unigram, but only BPE'],
    ['no JSON', { 'tokenizer.json': '{' }, 'tokenizer.json cannot be used: it is not JSON.'],
    ['no JSON', { ...TINY, 'tokenizer_config.json': '{' }, '_config.json cannot be used: it is n'],
    ['a list', { ...TINY, 'tokenizer_config.json': 'null' }, '_config.json cannot be used: it mu'],
    ['its end', { ...TINY, 'tokenizer_config.json': { eos_token: '<e>' } }, `lacks '<e>', which`],
    ['its end', { ...TINY, 'tokenizer_config.json': { eos_token: 3 } }, 'eos_token must be a te'],
    [
      'its syntax',
      { ...TINY, 'chat_template.jinja': '{% if %}' },
      'inja cannot be used: it is not',
    ],
    ['names', { ...TINY, 'tokenizer_config.json': { chat_template: 3 } }, 'chat_template must be'],
  ])('%s: %j', async (_, files, sentence) => {
    await expect(namesOf({ model: folderOf(files) })).rejects.toThrow(sentence);
  });

  it('are named with the file that chat_template names', async () => {
    const chatTemplate = join(folderOf({ 'own.jinja': '{{ x' }), 'own.jinja');
    await expect(namesOf({ chatTemplate })).rejects.toThrow(
      `${chatTemplate} cannot be used: it is not a Jinja template: `,
    );
  });

  it('are ignored when options name a replacement', async () => {
    const model = folderOf({ 'tokenizer.json': UNIGRAM, 'chat_template.jinja': 'Q: A:' });
    const names = await namesOf({ model, tokenizer: 'r50k', chatTemplate: 'mistral' });
    expect(names).toEqual(['r50k_base', 'mistral']);
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BatonConfig, CHAT_TEMPLATES, defaultConfig } from '@baton/config';
import { createLogger } from '@baton/telemetry';
import { TEMPLATE_NAMES } from '@baton/text';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tinyTokenizerJson } from '../../../../../libs/text/test/tiny-tokenizer';
import { ApiFixture } from '../../../test/api-fixture';
import { ask, ENDPOINTS } from '../../../test/every-endpoint';
import { TextSetup } from './text-setup';

const logger = createLogger({ name: 'test', level: 'silent' });
const open = (config: Partial<BatonConfig>) => TextSetup.open(defaultConfig(config), logger);

function folderWithTokenizer(): string {
  const parent = mkdtempSync(join(tmpdir(), 'baton-tokenizer-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const folder = join(parent, 'tiny');
  mkdirSync(folder);
  writeFileSync(join(folder, 'tokenizer.json'), tinyTokenizerJson());
  return folder;
}

describe('tokenizers', () => {
  it.each([
    ['o200k', 'o200k_base', 200_007],
    ['cl100k', 'cl100k_base', 100_277],
    ['p50k', 'p50k_base', 50_281],
    ['r50k', 'r50k_base', 50_257],
  ])('are known by name: %s', async (tokenizer, name, size) => {
    const { parts } = await open({ tokenizer });
    expect([parts.tokenizer.name, parts.tokenizer.vocabSize]).toEqual([name, size]);
  });

  it('may be a file, or the folder of the file', async () => {
    const folder = folderWithTokenizer();
    for (const tokenizer of [folder, join(folder, 'tokenizer.json')]) {
      expect((await open({ tokenizer })).parts.tokenizer.name).toBe('tiny');
    }
  });

  it('are refused in one sentence with the list of names', async () => {
    await expect(open({ tokenizer: 'gpt2' })).rejects.toThrow(
      "tokenizer 'gpt2' is not known: name one of o200k, cl100k, p50k, r50k, or the path of " +
        'a tokenizer.json.',
    );
    await expect(open({ tokenizer: 'package.json' })).rejects.toThrow(
      'package.json cannot be used: it has no "model".',
    );
  });
});

describe('chat templates', () => {
  it('are the same in the option and in the library', () => {
    expect(CHAT_TEMPLATES).toEqual(['auto', ...TEMPLATE_NAMES]);
  });

  it.each([
    [{ model: 'qwen3-8b' }, 'qwen'],
    [{ model: 'gpt-oss-20b' }, 'harmony'],
    [{ model: 'llama-3.1-8b' }, 'llama-3.1'],
    [{ model: 'opt-13b' }, 'chatml'],
    [{ model: 'qwen3-8b', chatTemplate: 'gemma' }, 'gemma'],
  ])('go by the model, or by name: %j', async (config, name) => {
    expect((await open(config)).parts.template.name).toBe(name);
  });
});

describe('lengths', () => {
  const drawn = async (config: Partial<BatonConfig>): Promise<number[]> => {
    const { lengths } = (await open(config)).parts;
    return Array.from({ length: 300 }, (_, i) => lengths.answer(1, i * 7_919));
  };

  it('come from a histogram', async () => {
    const histogram = {
      outputLength: 'histogram',
      outputLengthHistogram: '5-6:1,50-50:3',
    } as const;
    expect(new Set(await drawn(histogram))).toEqual(new Set([5, 6, 50]));
    expect((await open(histogram)).parts.lengths.reasoning(1, 1)).toBeGreaterThan(1);
  });

  it('come from a dataset', async () => {
    const dataset = { outputLength: 'dataset', answersPath: 'data/text/answers.jsonl' } as const;
    const lengths = new Set(await drawn(dataset));
    expect(lengths.size).toBeGreaterThan(3);
    expect(Math.max(...lengths)).toBeLessThan(100);
  });
});

describe('missing parameters', () => {
  it.each<[Partial<BatonConfig>, string]>([
    [{ textModel: 'dataset' }, 'text_model dataset needs a JSONL or ShareGPT file. Name it with'],
    [{ textModel: 'rules' }, 'text_model rules needs a YAML file of rules. Name it with --rules-p'],
    [{ outputLength: 'dataset' }, 'output_length dataset needs a JSONL or ShareGPT file. Name it'],
    [{ outputLength: 'histogram' }, 'needs output_length_histogram'],
    [{ outputLength: 'histogram', outputLengthHistogram: '9-3:1' }, "'9-3:1' is not a range"],
    [{ chatTemplate: 'alpaca' }, 'alpaca is none of auto, chatml, qwen, llama-3,'],
    [{ textModel: 'rules', rulesPath: 'none.yaml' }, 'none.yaml cannot be read: ENOENT: no such'],
  ])('%j is said in one sentence', async (config, sentence) => {
    await expect(open(config)).rejects.toThrow(sentence);
  });
});

describe.each(['r50k', 'tiny'])('answers counted by %s', (name) => {
  it('have the token count that the same server reports for their text', async () => {
    const tokenizer = name === 'tiny' ? folderWithTokenizer() : name;
    const config = { tokenizer, textModel: 'random', outputLengthMean: 40 } as const;
    const fixture = await ApiFixture.start({ config, engines: [{ isEager: true }] });
    try {
      for (const endpoint of ENDPOINTS) {
        const seen = await ask(fixture, endpoint, { text: 'Tell me.', stream: true });
        const answer = await fixture.post('/tokenize', { prompt: seen.text });
        const { count, tokens } = (await answer.json()) as { count: number; tokens: number[] };
        expect([endpoint, count]).toEqual([endpoint, seen.completionTokens]);
        const back = await fixture.post('/detokenize', { tokens });
        expect(await back.json()).toEqual({ prompt: seen.text });
      }
      const info = await (await fetch(`${fixture.api.url}/tokenizer_info`)).json();
      expect(info).toMatchObject({ eos_token: '<|eot_id|>', bos_token: '<|begin_of_text|>' });
    } finally {
      await fixture.stop();
    }
  });
});

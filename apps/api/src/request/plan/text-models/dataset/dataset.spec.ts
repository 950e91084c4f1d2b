import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@baton/telemetry';
import { defaultTokenizer } from '@baton/text';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ApiFixture } from '../../../../../test/api-fixture';
import { ask, ENDPOINTS } from '../../../../../test/every-endpoint';
import { Dataset } from './dataset';
import { documentsIn } from './json-documents';
import { openDataset } from './open-dataset';

const SAMPLE = 'data/text/answers.jsonl';
const logger = createLogger({ name: 'test', level: 'silent' });
const tokenizer = defaultTokenizer();

function file(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-dataset-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'answers.json');
  writeFileSync(path, content);
  return path;
}

describe('documents of a file', () => {
  const read = async (content: string) => {
    const found: [number, unknown][] = [];
    for await (const { text, line } of documentsIn(file(content))) {
      found.push([line, JSON.parse(text)]);
    }
    return found;
  };

  it('are its lines', async () => {
    expect(await read('{"a":1}\n\n  {"a":2}\r\n{"a":3}')).toEqual([
      [1, { a: 1 }],
      [3, { a: 2 }],
      [4, { a: 3 }],
    ]);
  });

  it('or the elements of its list, wherever the list is', async () => {
    const tricky = '[\n {"a": "]}\\"{"},\n\n {"b": [1,\n {"c": 2}]}]\n';
    expect(await read(tricky)).toEqual([
      [2, { a: ']}"{' }],
      [4, { b: [1, { c: 2 }] }],
    ]);
  });

  it('also beyond the size of one read', async () => {
    const long = 'x🦊'.repeat(300_000);
    const elements = [{ long }, { b: 2 }, { long }];
    const found = await read(JSON.stringify(elements));
    expect(found.map(([, value]) => value)).toEqual(elements);
    const lines = elements.map((one) => JSON.stringify(one)).join('\n');
    expect((await read(lines)).map(([, value]) => value)).toEqual(elements);
  });
});

describe('a dataset that cannot be read', () => {
  it.each([
    ['{"prompt": "a", "answer": "b"}\n{"prompt": "a"\n', ':2: no JSON object.'],
    ['[{"prompt": "a", "answer": "b"},\n\n{"prompt": 5}]', ':3: a row needs conversations'],
    ['\n{"messages": 5}', ':2: a conversation must be a list.'],
    ['{"messages": [{"role": "alien", "content": "x"}]}', ':1: turn 1 has an unknown role: alien.'],
    ['{"messages": [{"role": "user"}]}', ':1: turn 1 has no text.'],
    ['[{"prompt": "a"', 'the file ends within its list.'],
    ['', 'has no answers.'],
  ])('%#: is refused in one sentence with the line', async (content, sentence) => {
    await expect(openDataset(file(content), tokenizer, logger)).rejects.toThrow(sentence);
  });

  it('is refused when it does not exist', async () => {
    await expect(openDataset('nowhere.jsonl', tokenizer, logger)).rejects.toThrow(
      'nowhere.jsonl cannot be read: ENOENT: no such file or directory.',
    );
  });
});

describe('a dataset', () => {
  it('prefers the answer to a conversation over that to a question, whatever the system message', async () => {
    const { dataset, lengths } = await openDataset(SAMPLE, tokenizer, logger);
    expect([dataset.size, lengths.length]).toEqual([7, 7]);
    const said = (...texts: string[]) =>
      texts.map((text, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', text }));
    const system = { role: 'system', text: 'Be kind.' };
    expect(dataset.answerTo([system, ...said('Name a colour.', 'Green.', 'Another one.')])).toBe(
      'Blue.',
    );
    expect(dataset.answerTo(said('Another one.'))).toBe('Two.');
    expect(dataset.answerTo(said('Why?', 'So.', 'What is a baton? '))).toMatch(/^A short stick/);
    expect(dataset.answerTo(said('Something else.'))).toBeUndefined();
  });

  it('gives another answer of about the wanted length when it has none for the prompt', () => {
    const dataset = new Dataset();
    const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ');
    for (let count = 1; count <= 400; count++) {
      dataset.add({ said: [{ role: 'user', text: `q${count}` }], answer: words(count) });
    }
    dataset.finishAnswers(tokenizer);
    for (let hash = 0; hash < 50; hash++) {
      const tokens = 20 + hash * 7;
      const found = tokenizer.encode(dataset.near(tokens, hash * 2_654_435_761)).length;
      expect(Math.abs(found - tokens)).toBeLessThan(10);
    }
    expect(new Set(Array.from({ length: 100 }, (_, i) => dataset.near(50, i))).size).toBe(16);
  });
});

describe('answers of a dataset', () => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    const config = { textModel: 'dataset', answersPath: SAMPLE, outputLength: 'dataset' } as const;
    fixture = await ApiFixture.start({ config, engines: [{ isEager: true }] });
  });
  afterAll(() => fixture.stop());

  describe.each([false, true])('(streamed: %s)', (stream) => {
    it.each(ENDPOINTS)('come at %s, counted by the tokenizer', async (endpoint) => {
      const seen = await ask(fixture, endpoint, { text: 'What is a baton?', stream });
      const text = 'A short stick that one runner hands to the next.';
      const completionTokens = tokenizer.encode(text).length;
      expect(seen).toEqual({ status: 200, text, isCut: false, completionTokens });
    });

    it('are whole answers to other prompts when the prompt is unknown, the same each time', async () => {
      const asking = { text: 'Something that nobody asked.', stream };
      const first = await ask(fixture, 'chat', asking);
      expect(await ask(fixture, 'chat', { ...asking, stream: !stream })).toEqual(first);
      const seeds = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) =>
        ask(fixture, 'chat', { ...asking, more: { seed } }),
      );
      const texts = new Set((await Promise.all(seeds)).map(({ text }) => text));
      expect(texts.size).toBeGreaterThan(2);
    });
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultTokenizer } from '@baton/text';
import { afterAll, describe, expect, it } from 'vitest';
import { JsonObjects } from './json-objects';
import { loadWorkload } from '../load-workload';

const folder = mkdtempSync(join(tmpdir(), 'baton-sharegpt-'));
afterAll(() => rmSync(folder, { recursive: true }));

const talk = (...values: unknown[]): object => {
  return { id: 'x', conversations: values.map((value) => ({ from: 'human', value })) };
};
const LONG = 'word '.repeat(1_100);
const TALKS = [
  talk('What is {a} "baton"? Tell me more, please.', 'A stick that runners hand on.'),
  talk('too short', 'yes'),
  talk('There is no answer to this question at all.'),
  talk(LONG, 'This prompt has more than 1024 tokens.'),
  talk('How long is an answer to this question?', 'As long as it takes to say it, no more.'),
  { id: 'no conversation' },
  talk('And one more that is only there to be counted.', 'It is counted like all the others.'),
];

const path = join(folder, 'sharegpt.json');
writeFileSync(path, JSON.stringify(TALKS, null, 1));

const load = (flags: Record<string, string>) =>
  loadWorkload({ dataset: 'sharegpt', datasetFile: path, ...flags }, { seed: 1, blockSize: 16 });

describe('a ShareGPT file', () => {
  it('gives first messages and the lengths of first answers', async () => {
    const { workload, texts = [] } = await load({ requestRate: '10' });
    const tokenizer = defaultTokenizer();
    expect(texts.map((text) => text.slice(0, 8))).toEqual(['What is ', 'How long', 'And one ']);
    expect(Array.from(workload.promptTokens)).toEqual(
      texts.map((text) => tokenizer.encode(text).length),
    );
    expect(workload.outputTokens[0]).toBe(tokenizer.encode('A stick that runners hand on.').length);
    expect(workload.arrivalUs[2]).toBe(3e5);
  });

  it('says what it leaves out, and that it has fewer than asked for', async () => {
    const { notes } = await load({ numPrompts: '10', requestRate: '1' });
    expect(notes).toEqual([
      'Of the conversations 4 are left out: 2 without a question and an answer, ' +
        '1 with a question or an answer below 4 tokens, ' +
        '1 above 1024 tokens of question or 2048 in all.',
      'The file has 3 usable conversations of the 10 that --num-prompts asks for.',
    ]);
    expect((await load({ numPrompts: '2', requestRate: '1' })).notes).toHaveLength(1);
  });

  it('may have role and content, instructions first, and an answer before the question', async () => {
    const QUESTION = 'Name a prime number larger than one hundred, please.';
    const ANSWER = 'One hundred and one is the smallest prime above one hundred.';
    const side = (role: string, content: unknown) => ({ role, content });
    const [asked, answered] = [side('user', QUESTION), side('assistant', ANSWER)];
    const talks = [
      { conversations: [asked, answered] },
      { messages: [side('system', 'You are a careful assistant.'), asked, answered] },
      { conversations: [{ from: 'gpt', value: 'I begin.' }, asked, answered] },
      { messages: [side('user', [{ type: 'text', text: QUESTION }]), answered] },
      { messages: [side('system', 'There is nothing but this instruction.')] },
    ];
    const roles = join(folder, 'roles.json');
    writeFileSync(roles, JSON.stringify(talks));
    const { texts, notes } = await load({ datasetFile: roles, requestRate: '1' });
    expect(texts).toEqual([QUESTION, QUESTION, QUESTION, QUESTION]);
    expect(notes).toHaveLength(1);
  });

  it('is read only as far as needed, with one output length where it is given', async () => {
    const { workload, texts } = await load({ numPrompts: '2', sharegptOutputLen: '9' });
    expect(texts).toHaveLength(2);
    expect(Array.from(workload.outputTokens)).toEqual([9, 9]);
  });

  it('of another format is refused', async () => {
    const empty = join(folder, 'empty.json');
    writeFileSync(empty, '[]');
    await expect(load({ datasetFile: empty })).rejects.toThrow('has no usable conversation');
    await expect(load({ datasetFile: join(folder, 'absent') })).rejects.toThrow('cannot be read');
    const broken = join(folder, 'broken.json');
    writeFileSync(broken, '[{"conversations": nothing}]');
    await expect(load({ datasetFile: broken })).rejects.toThrow('object 1 is broken JSON');
  });
});

describe('objects in a file', () => {
  it.each([1, 2, 3, 7, 64])('are the same in pieces of %i bytes', (size) => {
    const found: unknown[] = [];
    const objects = new JsonObjects('f', (object) => found.push(object) > 0);
    const bytes = Buffer.from(`[${JSON.stringify(TALKS.slice(0, 2))}]\n{"a":"}\\\\\\"{"} {"b":{}}`);
    for (let at = 0; at < bytes.length; at += size) objects.push(bytes.subarray(at, at + size));
    expect(found).toEqual([...TALKS.slice(0, 2), { a: '}\\"{' }, { b: {} }]);
  });
});

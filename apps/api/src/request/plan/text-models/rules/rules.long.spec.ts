import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@baton/telemetry';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
  vi,
} from 'vitest';
import { ApiFixture } from '../../../../../test/api-fixture';
import { ask, ENDPOINTS } from '../../../../../test/every-endpoint';
import type { TextPrompt, Reply } from '../text-model';
import { readReplyRules } from './read-rules';
import { RulesModel } from './rules-model';

const logger = createLogger({ name: 'test', level: 'silent' });

function file(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-rules-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'rules.yaml');
  writeFileSync(path, content);
  return path;
}

function prompt(change: Partial<TextPrompt> = {}): TextPrompt {
  return {
    endpoint: 'chat',
    model: 'm',
    tools: [],
    isStream: false,
    user: 'u',
    metadata: {},
    said: [{ role: 'user', text: 'Hello there' }],
    headers: {},
    chance: () => 0.5,
    ...change,
  };
}

function opened(content: string): RulesModel {
  const model = RulesModel.open(file(content), logger);
  model.stopWatching();
  return model;
}

async function replyOf(model: RulesModel, change: Partial<TextPrompt> = {}): Promise<Reply> {
  return (await model.replies([prompt(change)]))[0]!;
}

async function contentOf(
  model: RulesModel,
  change: Partial<TextPrompt> = {},
): Promise<string | undefined> {
  return (await replyOf(model, change)).answers?.({ hash: 1, tokens: 10 })?.content;
}

/** Whether a rule with this condition answers the prompt. */
async function isAnswered(match: string, change: Partial<TextPrompt>): Promise<boolean> {
  const model = opened(`rules: [{match: {${match}}, answer: yes it does}]`);
  return (await contentOf(model, change)) !== undefined;
}

describe('a condition', () => {
  const user = (text: string) => ({ said: [{ role: 'user', text }] });
  const system = { said: [{ role: 'developer', text: 'Be brief' }, ...user('x').said] };

  it.each<[string, Partial<TextPrompt>, Partial<TextPrompt>]>([
    ['model: m', {}, { model: 'n' }],
    ['model: [a, m]', {}, { model: 'n' }],
    ['endpoint: [responses]', { endpoint: 'responses' }, { endpoint: 'chat' }],
    ['user: bob', { user: 'bob' }, { user: undefined }],
    ['message: there', {}, user('Hello')],
    ['message: {equals: hi}', user(' hi\n'), user('hi you')],
    ['message: {regex: "^w[a-z]+r$"}', user('weather'), user('the weather')],
    ['message: {contains: a, regex: "b"}', user('ab'), user('ac')],
    ['any_message: brief', system, user('x')],
    ['system: brief', system, user('brief')],
    ['headers: {X-Test: "1"}', { headers: { 'x-test': '1' } }, { headers: { 'x-test': '2' } }],
    ['headers: {x-test: true}', { headers: { 'x-test': 'any' } }, {}],
    ['metadata: {a: 5}', { metadata: { a: 5 } }, { metadata: { a: '5' } }],
    ['tools: true', { tools: ['f'] }, {}],
    ['tools: false', {}, { tools: ['f'] }],
    ['tools: [f, g]', { tools: ['g', 'h', 'f'] }, { tools: ['f'] }],
    ['stream: true', { isStream: true }, {}],
  ])('%s holds for what it says and for nothing else', async (match, good, bad) => {
    expect(await isAnswered(match, good)).toBe(true);
    expect(await isAnswered(match, bad)).toBe(false);
  });

  it('with a pattern takes time linear in the message', async () => {
    const evil = user('a'.repeat(200_000));
    expect(await isAnswered('message: {regex: "(a+)+b"}', evil)).toBe(false);
  });

  it('with a pattern that takes too many steps on one message refuses the request', async () => {
    const evil = user('a'.repeat(8_192));
    const refusal = { code: 'request_too_complex' };
    for (const regex of ['a{0,200}b', '(a{0,40}b?){0,40}c']) {
      const answered = isAnswered(`message: {regex: "${regex}"}`, evil);
      await expect(answered).rejects.toMatchObject(refusal);
    }
  });
});

describe('rules', () => {
  it('share one bound of steps over all messages of a request', async () => {
    const model = opened('rules: [{match: {any_message: {regex: "b"}}, answer: x}, {answer: y}]');
    const said = (count: number) => ({
      said: Array.from({ length: count }, () => ({ role: 'user', text: 'a'.repeat(8_192) })),
    });
    expect(await contentOf(model, said(100))).toBe('y');
    const refusal = { code: 'request_too_complex' };
    await expect(replyOf(model, said(200))).rejects.toMatchObject(refusal);
    const prompts = [prompt(said(100)), prompt(said(100))];
    await expect(model.replies(prompts)).rejects.toMatchObject(refusal);
  });

  it('are tried in order, the default last', async () => {
    const model = opened(`
rules:
  - {match: {message: a}, answer: first}
  - {match: {message: b}, answer: second}
default: {answer: other}`);
    const to = (text: string) => contentOf(model, { said: [{ role: 'user', text }] });
    const answers = await Promise.all(['b a', 'b', 'c'].map(to));
    expect(answers).toEqual(['first', 'second', 'other']);
    expect(await replyOf(opened('rules: []'))).toEqual({});
  });

  it('answer in sequence, and then repeat the last answer or start over', async () => {
    const steps = 'sequence: [{answer: a}, {answer: b}]';
    const take = (content: string) => {
      const model = opened(content);
      return Promise.all([1, 2, 3, 4].map(() => contentOf(model)));
    };
    expect(await take(`rules: [{${steps}}]`)).toEqual(['a', 'b', 'b', 'b']);
    expect(await take(`rules: [{${steps}, cycle: true}]`)).toEqual(['a', 'b', 'a', 'b']);
  });

  it('with a probability leave the others to the next rule', async () => {
    const model = opened('rules: [{probability: 0.5, answer: a}, {answer: b}]');
    const at = (chance: number) => contentOf(model, { chance: () => chance });
    expect(await Promise.all([0, 0.49, 0.5, 0.99].map(at))).toEqual(['a', 'a', 'b', 'b']);
  });

  it('with calls match where the request offers the tools', async () => {
    const model = opened('rules: [{tool_calls: [{name: f, arguments: {a: 1}}]}]');
    expect(await replyOf(model, { tools: ['g'] })).toEqual({});
    const reply = await replyOf(model, { tools: ['f'] });
    expect(reply.answers?.({ hash: 1, tokens: 1 })?.calls).toEqual([
      { name: 'f', arguments: '{"a":1}' },
    ]);
  });

  it('are read again when they change, unless the file is broken', async () => {
    const path = file('rules: [{sequence: [{answer: a}, {answer: b}]}]');
    const model = RulesModel.open(path, logger);
    model.stopWatching();
    expect(await contentOf(model)).toBe('a');
    writeFileSync(
      path,
      'rules: [{match: {user: x}, answer: x}, {sequence: [{answer: a}, {answer: b}]}]',
    );
    model.reload();
    expect(await contentOf(model)).toBe('b');
    expect(await contentOf(model, { user: 'x' })).toBe('x');
    writeFileSync(path, 'rules: [{anser: x}]');
    model.reload();
    expect(await contentOf(model, { user: 'x' })).toBe('x');
  });

  it('are read again by themselves when the file changes', async () => {
    const path = file('default: {answer: old}');
    const model = RulesModel.open(path, logger);
    writeFileSync(path, 'default: {answer: new}');
    await expect.poll(() => contentOf(model), { timeout: 120_000 }).toBe('new');
    model.stopWatching();
  });
});

describe('a file of rules that cannot be read any more', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('leaves the earlier rules in use', async () => {
    const path = file('default: {answer: old}');
    const model = RulesModel.open(path, logger);
    onTestFinished(() => model.stopWatching());
    rmSync(path);
    symlinkSync(path, path);
    vi.advanceTimersByTime(5_000);
    expect(await contentOf(model)).toBe('old');
    rmSync(path);
    writeFileSync(path, 'default: {answer: new}');
    vi.advanceTimersByTime(5_000);
    expect(await contentOf(model)).toBe('new');
  });
});

describe('an invalid file of rules', () => {
  it.each([
    ['rules: [', 'r.yaml:1:'],
    ['- x', 'r.yaml:1:1: the file must be a map.'],
    ['rule: []', "r.yaml:1:1: unknown key 'rule' in the file; did you mean 'rules'?"],
    ['rules:\n  - anser: x', "r.yaml:2:5: unknown key 'anser' in rules[0]; did you mean 'answer'?"],
    [
      'rules:\n  - match:\n      mesage: x\n    answer: y',
      "r.yaml:3:7: unknown key 'mesage' in match",
    ],
    ['rules: [{match: {model: m}}]', 'r.yaml:1:9: a rule needs one of answer,'],
    ['rules: [{answer: 5}]', 'r.yaml:1:18: answer must be a text.'],
    ['rules: [{answer: a, echo: true}]', 'an answer or an echo, not both.'],
    [
      'rules: [{answer: a, sequence: [{answer: b}]}]',
      "a rule has a sequence or 'answer', not both.",
    ],
    ['rules: [{sequence: []}]', 'a sequence has 1 to'],
    ['rules: [{answer: a, probability: 2}]', 'probability must be a number from 0 to 1.'],
    ['rules: [{delay: soon}]', 'a time like 200ms'],
    ['rules: [{error: {status: 200}}]', 'status must be a number from 400 to 599.'],
    ['rules: [{error: {status: 429, retry_after: x}}]', 'a time like'],
    ['rules: [{match: {message: {regex: "(a"}}, answer: x}]', 'no usable pattern'],
    ['rules: [{match: {endpoint: chatt}, answer: x}]', "'chatt' is not."],
    ['rules: [{match: {tools: 5}, answer: x}]', 'tools must be true or false.'],
    ['rules: [{tool_calls: [{arguments: {}}]}]', 'a call needs the name of its tool.'],
    ['rules:\n  - answer:', 'must be a text.'],
    [
      'rules: [{tool_calls: [{name: f, arguments: &a {}}, {name: g, arguments: *a}]}]',
      'r.yaml:1:73: an alias cannot be used here; write its value.',
    ],
  ])('%j is refused with its place', (content, sentence) => {
    expect(() => readReplyRules('r.yaml', content)).toThrow(sentence);
  });
});

describe('the example of the documentation', () => {
  it('is valid as written', () => {
    const page = readFileSync('docs/text-models.md', 'utf8');
    const [, example = ''] = /```yaml\n([^]*?)```/.exec(page) ?? [];
    const { rules, fallback } = readReplyRules('docs/text-models.md', example);
    expect([rules.length, fallback?.isEcho]).toEqual([2, true]);
  });
});

describe('the example that ships', () => {
  let fixture: ApiFixture;
  beforeAll(async () => {
    const config = {
      textModel: 'rules',
      rulesPath: 'data/text/rules.yaml',
      reasoning: true,
      speedup: 10,
    } as const;
    fixture = await ApiFixture.start({ config, engines: [{ isEager: true }] });
  });
  afterAll(() => fixture.stop());

  it.each(ENDPOINTS)('echoes at %s when no rule matches', async (endpoint) => {
    for (const stream of [false, true]) {
      const seen = await ask(fixture, endpoint, {
        text: 'Nothing special.',
        maxTokens: 5_000,
        stream,
      });
      expect(seen).toMatchObject({ status: 200, text: 'Nothing special.' });
    }
  });

  it('calls the tool, then answers', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const tools = [{ type: 'function', function: { name: 'get_weather', parameters } }];
    const messages: object[] = [{ role: 'user', content: 'How is the weather?' }];
    const asked = () =>
      fixture.post('/v1/chat/completions', { messages, tools, max_tokens: 5_000 });
    const first = (await (await asked()).json()) as Completion;
    const call = first.choices[0].message.tool_calls![0]!;
    expect(call.function).toEqual({ name: 'get_weather', arguments: '{"city":"Rome"}' });
    expect(first.choices[0].finish_reason).toBe('tool_calls');
    messages.push(first.choices[0].message, {
      role: 'tool',
      tool_call_id: call.id,
      content: '"sunny"',
    });
    messages.push({ role: 'user', content: 'And now?' });
    const second = (await (await asked()).json()) as Completion;
    expect(second.choices[0].message.content).toBe('Take a walk, or an umbrella.');
  });

  it('refuses and answers in turn', async () => {
    const headers = { 'x-scenario': 'busy' };
    const answers = [];
    for (let i = 0; i < 4; i++) {
      answers.push(
        await fixture.post(
          '/v1/chat/completions',
          { messages: [{ role: 'user', content: 'x' }] },
          { headers },
        ),
      );
    }
    expect(answers.map(({ status }) => status)).toEqual([429, 200, 429, 200]);
    expect(answers[0]!.headers.get('retry-after')).toBe('2');
    expect(await answers[0]!.json()).toMatchObject({ error: { message: 'Slow down.' } });
  });

  it('waits, thinks and answers', async () => {
    const startedMs = performance.now();
    const body = { messages: [{ role: 'user', content: 'think hard' }] };
    const answer = (await (await fixture.post('/v1/chat/completions', body)).json()) as Completion;
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(19);
    const { content, reasoning } = answer.choices[0].message as {
      content: string;
      reasoning?: string;
    };
    expect(content).toBe('There are three.');
    expect(JSON.stringify(answer)).toContain('First I count the letters.');
    expect(reasoning ?? 'First').toContain('First');
  });
});

describe('a delay', () => {
  it('ends with the client: nothing is started for a client that has left', async () => {
    // Longer than a pause of the machine, after which the delay and the client would end together.
    const rulesPath = file('rules: [{match: {message: slow}, delay: 4s}]');
    const config = { textModel: 'rules', rulesPath } as const;
    const fixture = await ApiFixture.start({ config, engines: [{ isEager: true }] });
    try {
      const body = { prompt: 'slow', max_tokens: 5 };
      const signal = AbortSignal.timeout(50);
      await expect(fixture.post('/v1/completions', body, { signal })).rejects.toThrow();
      // A later request with the same delay ends after the first would have started.
      expect((await fixture.post('/v1/completions', body)).status).toBe(200);
      expect(fixture.engine.runs).toHaveLength(1);
    } finally {
      await fixture.stop();
    }
  });
});

describe('the legs of an outside router', () => {
  it('ask the rules once: where the answer is generated', async () => {
    const rulesPath = file('rules: [{sequence: [{answer: first}, {answer: second}]}]');
    const fixture = await ApiFixture.start({
      config: { topology: '1P1D', textModel: 'rules', rulesPath },
      engines: [
        { stage: 'prefill', isEager: true },
        { stage: 'decode', index: 1, isEager: true },
      ],
    });
    try {
      const kv_transfer_params = { do_remote_decode: true, do_remote_prefill: false };
      const leg = await ask(fixture, 'completions', {
        text: 'x',
        stream: false,
        more: { kv_transfer_params },
      });
      expect(leg).toMatchObject({ status: 200, isCut: true, completionTokens: 1 });
      const answer = await ask(fixture, 'completions', { text: 'x', stream: false });
      expect(answer.text).toBe('first');
    } finally {
      await fixture.stop();
    }
  });
});

interface Completion {
  readonly choices: readonly [
    {
      readonly finish_reason: string;
      readonly message: {
        readonly content: string | null;
        readonly tool_calls?: readonly { readonly id: string; readonly function: unknown }[];
      };
    },
  ];
}

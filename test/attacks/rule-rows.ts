import { type Attack, EITHER, list } from './attack';

const CHAT = '/v1/chat/completions';

/** Words cost a tokenizer little, and on them a repetition is in all of its states at once. */
const words = (count: number): object => ({ role: 'user', content: 'relay '.repeat(count) });

/**
 * The rules that the rows meet, by the `user` of the request. Their patterns end in a character
 * that no message has, so every message is read to its end for every rule.
 */
export const HOSTILE_RULES = {
  rules: [
    ruleOf('short', '[a-z ]{0,20}#'),
    ruleOf('long', '[a-z ]{0,200}#'),
    ruleOf('nested', '(([a-z ]{0,20}9?){0,20}8?){0,4}#'),
    ...list(997, (i) => ruleOf('many', `[a-z ]{0,${1 + (i % 20)}}#`)),
  ],
};

function ruleOf(user: string, regex: string): object {
  return { match: { user, any_message: { regex } }, answer: 'It matches.' };
}

function chat(user: string, messages: readonly object[]): object {
  return { user, messages, max_tokens: 4 };
}

export const RULE_ROWS: readonly Attack[] = [
  {
    title: '60 messages, each near the bound of one pattern on one message',
    path: CHAT,
    body: () =>
      chat(
        'short',
        list(60, () => words(400)),
      ),
    statuses: EITHER,
  },
  {
    title: 'ten requests at once with 60 messages near that bound',
    path: CHAT,
    body: () =>
      chat(
        'short',
        list(60, () => words(400)),
      ),
    times: 10,
    statuses: EITHER,
  },
  {
    title: 'ten requests at once with a message beyond the bound of a long repetition',
    path: CHAT,
    body: () => chat('long', [words(1_400)]),
    times: 10,
    statuses: [400],
  },
  {
    title: 'ten requests at once with messages for a pattern of nested repetitions',
    path: CHAT,
    body: () =>
      chat(
        'nested',
        list(20, () => words(1_400)),
      ),
    times: 10,
    statuses: [400],
  },
  {
    title: 'ten requests at once with messages for a thousand rules',
    path: CHAT,
    body: () =>
      chat(
        'many',
        list(20, () => words(15)),
      ),
    times: 10,
    statuses: EITHER,
  },
  {
    title: '100 requests at once, more than may wait for their next slice',
    path: CHAT,
    body: () =>
      chat(
        'short',
        list(30, () => words(400)),
      ),
    times: 100,
    statuses: [...EITHER, 429],
  },
];

// The battery: each case sends requests through a proxy, and checks the answers and the cluster's
// work for them.
import { ask, leaveEarly } from './requests.mjs';

const COMPLETIONS = '/v1/completions';
const CHAT = '/v1/chat/completions';
const TURNS = 3;

/**
 * @returns cases as { name, requests, send?, mayHandOver? }; without `send` they are sent all at
 * once
 */
export function battery({ model, conversationId }) {
  const named = model === undefined ? {} : { model };
  const settings = { ...named, max_tokens: 24, temperature: 0, ignore_eos: true };
  const completion = (i, more = {}) => ({
    path: COMPLETIONS,
    body: { ...settings, prompt: `Runner ${i} waits at mark ${i * 7}. `.repeat(6), ...more },
  });
  const chat = (i, more = {}) => ({
    path: CHAT,
    body: { ...settings, messages: [said('user', `What does runner ${i} carry?`)], ...more },
  });
  const streamed = { stream: true };
  const withUsage = { ...streamed, stream_options: { include_usage: true } };
  return [
    { name: 'completions', requests: times(4, (i) => completion(i)) },
    { name: 'completions, streamed', requests: times(4, (i) => completion(10 + i, streamed)) },
    { name: 'chats', requests: times(4, (i) => chat(20 + i)) },
    { name: 'chats, streamed with usage', requests: times(4, (i) => chat(30 + i, withUsage)) },
    { name: 'a long prompt', requests: [completion(40, { prompt: 'far and wide '.repeat(700) })] },
    { name: '32 at once', requests: times(32, (i) => completion(50 + i, streamed)) },
    {
      name: `${TURNS} turns of a conversation`,
      requests: times(TURNS, (i) => chat(90, { turn: i })),
      send: (base) => converse(base, chat(90).body, conversationId),
      goesBack: conversationId,
    },
    {
      name: 'clients that leave',
      requests: times(4, (i) => completion(100 + i, { max_tokens: 2_000 })),
      send: (base, requests) => Promise.all(requests.map((one) => leaveEarly(base, one))),
      isCut: true,
    },
    {
      name: 'a request with a refusal',
      requests: [completion(110, { max_tokens: -1 })],
      isRefused: true,
    },
  ];
}

/** The cluster's own answers to the requests of a case. Undefined where they give no comparison. */
export function reference(one, cluster) {
  return one.isCut || one.isRefused ? undefined : (one.send ?? askAll)(cluster, one.requests);
}

/**
 * Runs one case and returns a row of the table: faults and notes. `before` counts the hand-overs so
 * far. A hand-over that comes too late for this count is a surplus in the next case.
 */
export async function play(
  { one, wanted, before },
  { proxy, metrics, settleMs, conversationId, transfers = true },
) {
  const answers = await (one.send ?? askAll)(proxy, one.requests);
  const after = await metrics.settledHandOvers(before + mostHandOvers(one));
  // By then the engines have announced their held blocks.
  const left = await metrics.rest(settleMs, conversationId);
  const handOvers = after - before;
  const faults = [
    ...answerFaults(one, answers),
    ...(wanted === undefined ? [] : textFaults(answers, wanted)),
    ...handOverFaults(one, { handOvers, transfers }),
    ...(left === '' ? [] : [`left behind: ${left}`]),
  ];
  const note = one.isRefused ? refusalNote(answers[0]) : '';
  return { name: one.name, requests: one.requests.length, handOvers, after, faults, note };
}

const said = (role, content) => ({ role, content });
const times = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const askAll = (base, requests) => Promise.all(requests.map((one) => ask(base, one)));

async function converse(base, { messages, ...body }, conversationId) {
  const own = conversationId ? { conversation_id: `battery-${Date.now()}` } : {};
  const [history, answers] = [[...messages], []];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const answer = await ask(base, { path: CHAT, body: { ...body, ...own, messages: history } });
    answers.push(answer);
    history.push(said('assistant', answer.text), said('user', `And then, after ${turn + 1}?`));
  }
  return answers;
}

function answerFaults({ isRefused = false }, answers) {
  if (isRefused) return answers.some(({ text }) => text !== '') ? ['it returned a text'] : [];
  const wrong = answers.filter(({ status, error }) => status !== 200 || error !== undefined);
  if (wrong.length === 0) return [];
  const [{ status, error }] = wrong;
  return [`${wrong.length} failed (${status || 'no answer'}: ${error ?? 'no reason'})`];
}

/** Several proxies send 200 before an engine refuses. */
function refusalNote({ status }) {
  if (status === 0) return ', as a cut connection';
  return status < 400 ? `, with status ${status}` : '';
}

function textFaults(answers, wanted) {
  const other = answers.filter(({ text }, i) => text !== wanted[i].text);
  return other.length === 0 ? [] : [`${other.length} other texts than the cluster's`];
}

/** One for each request; a conversation with KV that goes back to prefill has more. */
function mostHandOvers({ requests, isRefused, goesBack }) {
  return isRefused ? 0 : requests.length * (goesBack ? 2 : 1);
}

function handOverFaults(one, { handOvers, transfers }) {
  const least = one.isCut || one.isRefused || !transfers ? 0 : one.requests.length;
  const most = transfers ? mostHandOvers(one) : 0;
  if (handOvers >= least && handOvers <= most) return [];
  const wanted = least === most ? String(least) : `${least} to ${most}`;
  return [`${handOvers} hand-overs where ${wanted} belong`];
}

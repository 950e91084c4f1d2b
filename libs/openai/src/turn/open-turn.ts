/** The parts of a chat message that show its speaker and its calls. */
export interface SpokenMessage {
  readonly role: string;
  readonly content?: string | readonly Readonly<Record<string, unknown>>[] | null;
  readonly tool_calls?: readonly Calling[] | null;
  readonly function_call?: Named | null;
}

interface Named {
  readonly name?: string | null;
}

interface Calling {
  readonly function?: Named | null;
  readonly custom?: Named | null;
}

/** Roles of the result of a function. */
const ANSWERING = new Set(['tool', 'function']);

/** The messages since the model's last one, to which the answer responds. */
export interface OpenTurn {
  /** The text of the user. Undefined: there is no message of the user. */
  readonly userText: string | undefined;
  /** Whether there is a result of a tool. */
  readonly hasResult: boolean;
  /** Tools called since the user's last question. */
  readonly called: ReadonlySet<string>;
}

/**
 * The open turn of a conversation. A user's text next to the result of a tool, as agents add it, is
 * not a new question: the turn still has a result.
 */
export function openTurnOf(messages: readonly SpokenMessage[]): OpenTurn {
  const spokeAt = messages.findLastIndex(({ role }) => role === 'assistant');
  const since = messages.slice(spokeAt + 1);
  const texts = since.filter(({ role }) => role === 'user').map(wordsIn);
  const askedAt = messages.slice(0, spokeAt + 1).findLastIndex(({ role }) => role === 'user');
  return {
    userText: texts.length === 0 ? undefined : texts.join('\n'),
    hasResult: since.some(({ role }) => ANSWERING.has(role)),
    called: new Set(messages.slice(askedAt + 1, spokeAt + 1).flatMap(calledIn)),
  };
}

function wordsIn({ content }: SpokenMessage): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  const texts = content.map(({ text }) => text);
  return texts.filter((text) => typeof text === 'string').join('\n');
}

function calledIn({ tool_calls: calls, function_call: older }: SpokenMessage): string[] {
  const called = (calls ?? []).map((call) => call.function ?? call.custom);
  return [...called, older].flatMap((one) => one?.name ?? []);
}

/** A message of a chat, as far as it says who has spoken and what was called. */
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

/** Roles under which the result of a function comes back. */
const ANSWERING = new Set(['tool', 'function']);

/** What a conversation waits for: all that was said since the model last spoke. */
export interface OpenTurn {
  /** The words of the user; undefined: it was not the user who spoke. */
  readonly asked: string | undefined;
  /** A tool has answered. */
  readonly hasResult: boolean;
  /** Tools that were called since the user's last question. */
  readonly called: ReadonlySet<string>;
}

/**
 * A user's words beside the result of a tool, as agents add them, are no new question: the turn
 * still has a result.
 */
export function openTurnOf(messages: readonly SpokenMessage[]): OpenTurn {
  const spokeAt = messages.findLastIndex(({ role }) => role === 'assistant');
  const since = messages.slice(spokeAt + 1);
  const said = since.filter(({ role }) => role === 'user').map(wordsIn);
  const askedAt = messages.slice(0, spokeAt + 1).findLastIndex(({ role }) => role === 'user');
  return {
    asked: said.length === 0 ? undefined : said.join('\n'),
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

/** The members of a JSON object, by name. */
export type Body = Readonly<Record<string, unknown>>;

interface Member {
  readonly name: string;
  /** The member including its name, as written. */
  readonly text: string;
  readonly value: string;
}

/**
 * A JSON object in its original text. Members can be changed while all other numbers and strings
 * stay as written.
 */
export class JsonObjectText {
  private readonly members: readonly Member[];

  /** @param text a whole, valid JSON object */
  constructor(readonly text: string) {
    this.members = parseMembers(text);
  }

  has(name: string): boolean {
    return this.members.some((member) => member.name === name);
  }

  /** The value, as written, of the last member with this name. Undefined: there is none. */
  valueOf(name: string): string | undefined {
    return this.members.findLast((member) => member.name === name)?.value;
  }

  /** Replaces the members with these names. Undefined removes a member. */
  with(changes: Readonly<Record<string, unknown>>): JsonObjectText {
    const unchanged = this.members.filter(({ name }) => !Object.hasOwn(changes, name));
    const added = Object.entries(changes).flatMap(([name, value]) =>
      value === undefined ? [] : `${JSON.stringify(name)}:${JSON.stringify(value)}`,
    );
    return new JsonObjectText(`{${[...unchanged.map(({ text }) => text), ...added].join(',')}}`);
  }
}

function parseMembers(text: string): Member[] {
  const members: Member[] = [];
  let at = pastSpace(text, text.indexOf('{') + 1);
  while (text[at] === '"') {
    const from = at;
    at = pastString(text, at);
    const name = JSON.parse(text.slice(from, at)) as string;
    const valueAt = text.indexOf(':', at) + 1;
    at = pastValue(text, valueAt);
    const value = text.slice(valueAt, at).trim();
    members.push({ name, text: text.slice(from, at).trimEnd(), value });
    at = pastSpace(text, at + 1);
  }
  return members;
}

/** The position after a value: at the comma or the brace. */
function pastValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const character = text[at];
    if (character === '"') {
      at = pastString(text, at);
      continue;
    }
    if (depth === 0 && (character === ',' || character === '}')) return at;
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    at += 1;
  }
  return at;
}

function pastString(text: string, from: number): number {
  let at = from;
  let isEscaped: boolean;
  do {
    at = text.indexOf('"', at + 1);
    if (at === -1) return text.length;
    let backslashes = 0;
    while (text[at - 1 - backslashes] === '\\') backslashes += 1;
    isEscaped = backslashes % 2 === 1;
  } while (isEscaped);
  return at + 1;
}

function pastSpace(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text[at] ?? '')) at += 1;
  return at;
}

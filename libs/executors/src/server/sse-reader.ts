/** One event of a server; a longer one is not read. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024;

/** A stream that is no event stream, or has an event beyond every bound. */
export class GarbledStream extends Error {}

/**
 * The data of each server-sent event, as it comes. Comments and other fields are left out. @throws
 * GarbledStream
 */
export async function* eventsIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    for (let end = /\r?\n\r?\n/.exec(rest); end !== null; end = /\r?\n\r?\n/.exec(rest)) {
      const data = dataOf(rest.slice(0, end.index));
      rest = rest.slice(end.index + end[0].length);
      if (data !== undefined) yield data;
    }
    if (rest.length > MAX_EVENT_CHARS) throw new GarbledStream('an event is too long');
  }
}

function dataOf(event: string): string | undefined {
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  if (lines.length === 0) return undefined;
  return lines.map((line) => line.slice(line.startsWith('data: ') ? 6 : 5)).join('\n');
}

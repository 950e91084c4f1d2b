/** Most characters of one event. A longer one ends the stream with an error. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024;

/** The stream is not an event stream, or contains an event that is too long. */
export class GarbledStream extends Error {}

/**
 * Yields the data of each server-sent event, without comments and other fields. @throws
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

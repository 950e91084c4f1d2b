import { createParser } from 'eventsource-parser';

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
  const events: string[] = [];
  const parser = createParser({
    onEvent: ({ data }) => events.push(data),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw new GarbledStream('an event is too long');
    },
    maxBufferSize: MAX_EVENT_CHARS,
  });
  for await (const bytes of body) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    yield* events.splice(0);
  }
}

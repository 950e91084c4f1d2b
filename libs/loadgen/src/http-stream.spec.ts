import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RandomStream } from '@baton/kernel';
import { afterEach, describe, expect, it } from 'vitest';
import { type Ending, HttpStreams } from './http-stream';
import type { ReceivedAnswer } from './protocol/answer';

const token = (text: string): string => `data: {"choices":[{"index":0,"text":"${text}"}]}`;
const STREAM = [
  `${token('äöü – 漢字')}\n\n`,
  ': a comment\n\n',
  `event: delta\nid: 7\n${token('a')}\r\n\r\n`,
  `${token('b').replace('data: ', 'data:')}\n\n`,
  'data: \n\n',
  'database: no\n\n',
  'data: [DONE]',
].join('');

let server: Server | undefined;
let streams: HttpStreams | undefined;

afterEach(async () => {
  await streams?.close();
  server?.closeAllConnections();
  server?.close();
});

async function received(
  chunks: readonly Buffer[],
): Promise<{ readonly answer: ReceivedAnswer; readonly ending: Ending }> {
  server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'text/event-stream');
    const write = (at: number): void => {
      const chunk = chunks[at];
      if (chunk === undefined) response.end();
      else response.write(chunk, () => write(at + 1));
    };
    write(0);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const target = { path: '/v1/completions', headers: {}, protocol: 'openai' } as const;
  const sender = new HttpStreams({ ...target, origin: `http://127.0.0.1:${port}` });
  streams = sender;
  return new Promise((resolve) => {
    sender.send({
      id: 'r',
      body: '{}',
      keepsText: true,
      deadlineMs: 20_000,
      onEnd: (answer, ending) => resolve({ answer, ending }),
    });
  });
}

describe('events of a stream', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'are the same for any cut of its bytes (seed %i)',
    async (n) => {
      const random = RandomStream.root(n).stream('cuts');
      const bytes = Buffer.from(STREAM);
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length;) {
        const to = at + 1 + random.integer(n * 4);
        chunks.push(bytes.subarray(at, to));
        at = to;
      }
      const { answer, ending } = await received(chunks);
      expect(ending).toEqual({ kind: 'whole' });
      expect(answer).toMatchObject({ text: 'äöü – 漢字ab', events: 3, error: undefined });
    },
  );

  it('are not searched for in an endless line', async () => {
    const { ending } = await received(Array.from({ length: 5 }, () => Buffer.alloc(1 << 20, 'x')));
    expect(ending).toMatchObject({ kind: 'failed', error: 'broken_stream' });
  });
});

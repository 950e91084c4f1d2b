import { writeSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { StandardStreams } from './conversation';

vi.mock('node:fs', async (original) => ({
  ...(await original<object>()),
  writeSync: vi.fn(),
}));

it('sends a message that is longer than the pipe to the program', () => {
  const message = { text: 'x'.repeat(100_000) };
  const pipe = 65_536;
  let sent = '';
  let isFull = false;
  vi.mocked(writeSync).mockImplementation((_file: number, bytes: unknown, from: unknown) => {
    isFull = !isFull;
    if (!isFull) throw Object.assign(new Error('full'), { code: 'EAGAIN' });
    const part = (bytes as Buffer).subarray(Number(from), Number(from) + pipe);
    sent += part.toString();
    return part.length;
  });
  new StandardStreams().send(message);
  expect(sent).toBe(`${JSON.stringify(message)}\n`);
});

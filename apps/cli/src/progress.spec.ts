import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openProgress } from './progress';

interface Screen {
  readonly stream: NodeJS.WriteStream;
  readonly text: () => string;
}

function screen(isTTY: boolean): Screen {
  const pipe = new PassThrough();
  const written: string[] = [];
  pipe.on('data', (chunk: Buffer) => written.push(chunk.toString()));
  const terminal = { isTTY, columns: 80, cursorTo: () => true, clearLine: () => true };
  const stream = Object.assign(pipe, terminal) as unknown as NodeJS.WriteStream;
  return { stream, text: () => written.join('') };
}

afterEach(() => vi.restoreAllMocks());

describe('a progress bar', () => {
  it('appears after a second, and catches no signal', async () => {
    let nowMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const { stream, text } = screen(true);
    const before = process.listenerCount('SIGINT');
    const progress = await openProgress('replay', stream);
    nowMs = 900;
    progress.update(10, 100);
    expect(text()).toBe('');
    nowMs = 1_100;
    progress.update(20, 100);
    expect(text()).toMatch(/replay .* 20 %/);
    expect(process.listenerCount('SIGINT')).toBe(before);
    progress.endProgress();
  });

  it('is a line every ten seconds without a terminal, and none for a short task', async () => {
    let nowMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const { stream, text } = screen(false);
    const progress = await openProgress('replay', stream);
    for (nowMs = 0; nowMs < 10_000; nowMs += 100) progress.update(nowMs, 40_000);
    expect(text()).toBe('');
    for (; nowMs <= 21_000; nowMs += 100) progress.update(nowMs, 40_000);
    progress.endProgress();
    expect(text()).toBe(
      'baton: replay 25 %, about 30 s left\nbaton: replay 50 %, about 20 s left\n',
    );
  });
});

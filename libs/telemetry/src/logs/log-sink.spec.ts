import { openSync, writeSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { LogSink } from './log-sink';

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: said the system, write`), { code, syscall: 'write' });
}

/** A sink whose writes have these outcomes in turn: bytes taken, or an error; then all succeed. */
function sinkWith(...outcomes: (number | string)[]): { sink: LogSink; written: () => string } {
  let written = '';
  const sink = new LogSink((bytes) => {
    const outcome = outcomes.shift() ?? bytes.length;
    if (typeof outcome === 'string') throw failure(outcome);
    written += bytes.toString('utf8', 0, outcome);
    return outcome;
  });
  sink.onRecovered = (lines, reason) => sink.write(`${lines} lost: ${reason}\n`);
  return { sink, written: () => written };
}

describe('the sink of log lines', () => {
  it.each(['ENOSPC', 'EPIPE', 'EIO', 'EBADF'])('drops and counts lines after %s', (code) => {
    const { sink, written } = sinkWith(code, code);
    for (const line of ['a\n', 'b\n', 'c\n', 'd\n']) sink.write(line);
    expect(written()).toBe(`c\n2 lost: ${code}: said the system\nd\n`);
  });

  it('survives a device that stays full', () => {
    const full = openSync('/dev/full', 'w');
    const sink = new LogSink((bytes) => writeSync(full, bytes));
    for (let i = 0; i < 1_000; i++) sink.write('line\n');
  });

  it('writes the rest of a line that was taken in part, and waits for a busy reader', () => {
    const { sink, written } = sinkWith(2, 'EAGAIN', 'EAGAIN', 3);
    sink.write('a long line\n');
    expect(written()).toBe('a long line\n');
  });

  it('does not wait for a reader that has stopped', () => {
    const { sink, written } = sinkWith(...Array<string>(1_000).fill('EAGAIN'));
    const pauses = vi.spyOn(Atomics, 'wait');
    for (let i = 0; i < 900; i++) sink.write('line\n');
    const pausedMs = pauses.mock.calls.map(([, , , ms]) => ms ?? Infinity);
    pauses.mockRestore();
    expect(pausedMs.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(2_000);
    expect(written()).toBe('');
  });
});

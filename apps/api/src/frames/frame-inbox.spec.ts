import { setImmediate as turn } from 'node:timers/promises';
import { wallUsOf } from '@baton/clock';
import { emptyFrameEntry, FrameWriter } from '@baton/contract';
import { secondsToUs } from '@baton/kernel';
import type { Logger } from '@baton/telemetry';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Observers } from '../observers/port/observers';
import { FrameInbox } from './frame-inbox';
import type { Resender } from './resender';
import type { Sequence, SequenceOwner } from '../sequences/sequence';
import type { SequenceTable } from '../sequences/sequence-table';

describe('the tokens of frames', () => {
  const written = vi.fn();
  /** The tokens of one owner, and its writes as `write`. */
  let seen: (number | 'write')[];
  let inbox: FrameInbox;
  let owner: SequenceOwner;
  const logged = vi.fn();
  const warned = vi.fn();

  beforeEach(() => {
    seen = [];
    written.mockClear();
    logged.mockClear();
    warned.mockClear();
    owner = {
      isDirty: false,
      onTokens: (_sequence: Sequence, from: number) => seen.push(from),
      flush: () => seen.push('write'),
    } as unknown as SequenceOwner;
    const sequence = {
      owner,
      received: 0,
      history: { lastTokenMs: 0 },
      accept: () => ((sequence.received += 1), 'advanced'),
    };
    const table = { get: () => sequence } as unknown as SequenceTable;
    const observers = { tokens: () => undefined, written } as unknown as Observers;
    const logger = { error: logged, warn: warned } as unknown as Logger;
    inbox = new FrameInbox(logger, table, {} as Resender, observers);
  });

  function receive(lateS: number, entries = 1): void {
    const writer = new FrameWriter('engine', 'decode');
    if (entries > 0) writer.add({ ...emptyFrameEntry(), streamId: 1, count: 1 });
    inbox.receive(writer.take(wallUsOf() - secondsToUs(lateS)));
  }

  it('are written frame by frame while the process keeps up', () => {
    receive(-1);
    receive(-1);
    expect(seen).toEqual([0, 'write', 1, 'write']);
  });

  it('are written once per turn and stream when frames are late, and each is noted', async () => {
    receive(1);
    receive(1);
    receive(1);
    expect(seen).toEqual([0, 1, 2]);
    await turn();
    expect(seen).toEqual([0, 1, 2, 'write']);
    expect(written).toHaveBeenCalledTimes(3);
  });

  it('wait for the end of the turn also when a frame without tokens follows late ones', async () => {
    receive(1);
    receive(-1, 0);
    expect(seen).toEqual([0]);
    await turn();
    expect(seen).toEqual([0, 'write']);
  });

  it('are written to the others when one answer cannot be written', () => {
    const failing = owner;
    failing.flush = () => {
      throw new Error('cannot be rendered');
    };
    receive(-1);
    expect(logged).toHaveBeenCalledTimes(1);
    expect(failing.isDirty).toBe(false);
    failing.flush = () => seen.push('write');
    receive(-1);
    expect(seen).toEqual([0, 1, 'write']);
    expect(written).toHaveBeenCalledTimes(2);
  });

  it('are written when a later part of their frame cannot be read', () => {
    const writer = new FrameWriter('engine', 'decode');
    writer.add({ ...emptyFrameEntry(), streamId: 1, count: 1 });
    writer.add({ ...emptyFrameEntry(), streamId: 1, kind: 'fault', tail: '{' });
    inbox.receive(writer.take(wallUsOf() + secondsToUs(1)));
    expect(warned).toHaveBeenCalledTimes(1);
    expect(seen).toEqual([0, 'write']);
  });

  it('keep their order when a frame on time follows late ones', async () => {
    receive(1);
    receive(-1);
    expect(seen).toEqual([0, 1, 'write']);
    await turn();
    expect(seen).toEqual([0, 1, 'write']);
  });
});

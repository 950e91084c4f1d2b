import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { defaultConfig } from '@baton/config';
import type { Transport } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiProcesses } from '../../processes/api-processes';
import { Observers } from '../port/observers';
import type { ClusterPictures } from './cluster-pictures';
import { RateMeter } from './rate-meter';
import { Viewers } from './viewers';

/** A connection whose unread bytes a test sets. */
class Connection extends EventEmitter {
  readonly written: string[] = [];
  writableLength = 0;
  isDestroyed = false;

  writeHead(): void {}

  write(text: string): void {
    this.written.push(text);
  }

  destroy(): void {
    this.isDestroyed = true;
    this.emit('close');
  }

  get response(): ServerResponse {
    return this as unknown as ServerResponse;
  }
}

const ON_TIME = { processClock: { latenessMs: () => 0 } } as unknown as Transport;

let taken = 0;
let viewers: Viewers;

beforeEach(() => {
  vi.useFakeTimers();
  taken = 0;
  const pictures = {
    take: () => ({ at: (taken += 1) }),
    names: () => [],
    forget: () => undefined,
  } as unknown as ClusterPictures;
  const identity = { apiId: 'api-test', startedAt: 0 };
  const meter = new RateMeter(defaultConfig(), ON_TIME);
  const observers = new Observers([meter]);
  const apiProcesses = ApiProcesses.none();
  viewers = new Viewers(defaultConfig(), identity, pictures, meter, observers, apiProcesses);
});
afterEach(() => {
  viewers.beforeApplicationShutdown();
  vi.useRealTimers();
});

function look(): Connection {
  const connection = new Connection();
  viewers.show(connection.response, {});
  return connection;
}

describe('viewers', () => {
  it('share one picture, which is taken once', () => {
    const all = [look(), look(), look()];
    vi.advanceTimersByTime(1_000);
    expect(taken).toBe(4);
    for (const { written } of all) {
      expect(written).toHaveLength(5);
      expect(written.slice(1)).toEqual(all[0]!.written.slice(1));
    }
  });

  it('cost nothing when there are none', () => {
    vi.advanceTimersByTime(10_000);
    const one = look();
    one.destroy();
    vi.advanceTimersByTime(10_000);
    expect(taken).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('miss pictures while they do not read, and get them again once they do', () => {
    const [slow, quick] = [look(), look()];
    slow.writableLength = 10_000_000;
    vi.advanceTimersByTime(5_000);
    expect([slow.written.length, quick.written.length]).toEqual([1, 21]);
    slow.writableLength = 0;
    vi.advanceTimersByTime(500);
    expect(slow.written.length).toBe(3);
  });

  it('are disconnected when they never read', () => {
    const slow = look();
    slow.writableLength = 10_000_000;
    vi.advanceTimersByTime(11_000);
    expect(slow.isDestroyed).toBe(true);
    expect([viewers.size, slow.written.length]).toEqual([0, 1]);
  });
});

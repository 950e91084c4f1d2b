import { createLogger } from '@baton/telemetry';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { UpstreamServer } from '../server/upstream-server';
import { HealthWatch } from './health-watch';
import { NIXL_PULL } from './kv-connector';

/** A server that only answers health checks. */
class WatchedServer {
  readonly url = 'http://server';
  isWell = true;
  checks = 0;

  isHealthy(): Promise<boolean> {
    this.checks += 1;
    return Promise.resolve(this.isWell);
  }
}

describe('the watch over a server', () => {
  let server: WatchedServer;
  let watch: HealthWatch;
  let states: boolean[];

  beforeEach(async () => {
    vi.useFakeTimers();
    server = new WatchedServer();
    states = [];
    watch = new HealthWatch({
      server: server as unknown as UpstreamServer,
      connector: NIXL_PULL,
      log: createLogger({ name: 'watch', level: 'silent' }),
    });
    watch.start((isUp) => states.push(isUp));
    await vi.advanceTimersByTimeAsync(0);
  });

  afterEach(() => {
    watch.stop();
    vi.useRealTimers();
  });

  it('detects that an idle server goes down, and that it comes back', async () => {
    server.isWell = false;
    await vi.advanceTimersByTimeAsync(5_000 + 2 * 1_000);
    expect(states).toEqual([true, false]);
    server.isWell = true;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(states).toEqual([true, false, true]);
  });

  it('does not count one slow answer as a loss', async () => {
    server.isWell = false;
    await vi.advanceTimersByTimeAsync(5_000);
    server.isWell = true;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(states).toEqual([true]);
  });

  it('is down at once when a connection is refused, and after three losses', () => {
    watch.failed(true);
    expect(watch.isUp).toBe(false);
    watch.succeeded();
    watch.failed(false);
    watch.failed(false);
    expect(watch.isUp).toBe(true);
    watch.failed(false);
    expect(watch.isUp).toBe(false);
  });

  it('checks at a fixed rate, for any number of failed legs', async () => {
    server.isWell = false;
    for (let i = 0; i < 50; i += 1) watch.failed(false);
    const before = server.checks;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(server.checks - before).toBe(10);
    watch.stop();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(server.checks - before).toBe(10);
  });
});

import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { type CompletedTransfer, TransferSet, type TransferStart } from './transfer-set';
import type { AnyId } from './request-table';

type Start = TransferStart<AnyId>;

/**
 * The plain form of `TransferSet`: every change settles every transfer whose rate it changes, with
 * the same order of arithmetic.
 */
interface Plain {
  readonly start: Start;
  bytesLeft: number;
  sinceUs: number;
  bytesPerUs: number;
  completesUs: number;
}

class PlainTransfers {
  private transfers: Plain[] = [];
  private readonly sourceRates = new Map<AnyId, number>();
  private readonly targetRates = new Map<AnyId, number>();
  private readonly announced = new Map<AnyId, number>();
  private nowUs = 0;
  readonly done: CompletedTransfer<AnyId>[] = [];

  start(start: Start): void {
    this.advance(start.nowUs);
    this.sourceRates.set(start.sourceId, start.sourceBytesPerSecond);
    this.targetRates.set(start.targetId, start.targetBytesPerSecond);
    if (start.sourceActiveReads !== undefined) {
      this.announced.set(start.sourceId, start.sourceActiveReads);
    }
    const { bytes } = start;
    const sinceUs = this.nowUs;
    this.transfers.push({ start, bytesLeft: bytes, sinceUs, bytesPerUs: 0, completesUs: Infinity });
    this.settle();
  }

  cancel(id: AnyId, nowUs: number): boolean {
    this.advance(nowUs);
    return this.remove(id);
  }

  setSourceShare(sourceId: AnyId, activeReads: number, nowUs: number): void {
    this.advance(nowUs);
    if (this.count('sourceId', sourceId) > 0) this.announced.set(sourceId, activeReads);
    this.settle();
  }

  advance(nowUs: number): void {
    for (let next = this.next(); next && next.completesUs <= nowUs; next = this.next()) {
      this.nowUs = Math.max(this.nowUs, next.completesUs);
      this.done.push({ id: next.start.id, completedUs: next.completesUs });
      this.remove(next.start.id);
    }
    this.nowUs = Math.max(this.nowUs, nowUs);
  }

  nextCompletionUs(): number | undefined {
    return this.next()?.completesUs;
  }

  private next(): Plain | undefined {
    const firstUs = Math.min(...this.transfers.map(({ completesUs }) => completesUs));
    return this.transfers.find(({ completesUs }) => completesUs === firstUs);
  }

  private remove(id: AnyId): boolean {
    const found = this.transfers.find(({ start }) => start.id === id);
    if (found === undefined) return false;
    const { sourceId } = found.start;
    this.transfers = this.transfers.filter((transfer) => transfer !== found);
    const announced = Math.max(0, (this.announced.get(sourceId) ?? 0) - 1);
    this.announced.set(sourceId, this.count('sourceId', sourceId) === 0 ? 0 : announced);
    this.settle();
    return true;
  }

  private count(end: 'sourceId' | 'targetId', id: AnyId): number {
    return this.transfers.filter(({ start }) => start[end] === id).length;
  }

  private settle(): void {
    for (const transfer of this.transfers) {
      const { sourceId, targetId, sourcePorts, baseLatencyUs, nowUs: startUs } = transfer.start;
      const readers = Math.max(this.count('sourceId', sourceId), this.announced.get(sourceId) ?? 0);
      const sourceRate = ((this.sourceRates.get(sourceId) ?? NaN) / readers) * sourcePorts;
      const targetRate = (this.targetRates.get(targetId) ?? NaN) / this.count('targetId', targetId);
      const bytesPerUs = Math.min(sourceRate, targetRate) / 1e6;
      if (bytesPerUs === transfer.bytesPerUs) continue;
      const flowsFromUs = startUs + baseLatencyUs;
      const flowedUs = this.nowUs - Math.max(transfer.sinceUs, flowsFromUs);
      if (flowedUs > 0) {
        transfer.bytesLeft = Math.max(0, transfer.bytesLeft - flowedUs * transfer.bytesPerUs);
      }
      transfer.sinceUs = this.nowUs;
      transfer.bytesPerUs = bytesPerUs;
      const spanUs = Math.max(0, Math.ceil(transfer.bytesLeft / bytesPerUs - 1e-6));
      transfer.completesUs = Math.max(this.nowUs, flowsFromUs) + spanUs;
    }
  }
}

/** Applies the same random operations to both sets. */
class Pair {
  readonly set = new TransferSet<AnyId>();
  readonly plain = new PlainTransfers();
  readonly seen: CompletedTransfer<AnyId>[] = [];
  private readonly random: RandomStream;
  private nowUs = 0;
  private started = 0;

  constructor(
    private readonly seed: number,
    private readonly isToldShares: boolean,
  ) {
    this.random = RandomStream.root(seed);
  }

  step(): void {
    this.nowUs += this.random.integer(3) * this.random.integer(400);
    const chance = this.random.unit();
    if (chance < 0.45) this.start();
    else if (chance < 0.55) this.cancel();
    else if (chance < 0.7 && this.isToldShares) this.share();
    else this.complete(this.nowUs);
    expect(this.set.nextCompletionUs(), `seed ${this.seed}`).toBe(this.plain.nextCompletionUs());
  }

  finish(): void {
    this.complete(this.nowUs + 1e9);
    expect(this.set.size, `seed ${this.seed}`).toBe(0);
  }

  private start(): void {
    const { random } = this;
    const start: Start = {
      id: idOf(this.started++),
      sourceId: idOf(random.integer(3)),
      targetId: idOf(random.integer(4)),
      bytes: random.integer(20) === 0 ? 0 : random.integer(3) * 500_000 + random.integer(9_999),
      baseLatencyUs: random.integer(2) * random.integer(300),
      sourceBytesPerSecond: random.integer(9) === 0 ? 2.5e9 : 1e9 + random.integer(2) * 7e8,
      targetBytesPerSecond: random.integer(9) === 0 ? 4e8 : 6e8,
      sourcePorts: [1 / 4, 1, 2][random.integer(3)]!,
      ...(this.isToldShares ? { sourceActiveReads: 1 + random.integer(6) } : {}),
      nowUs: this.nowUs,
    };
    this.set.start(start);
    this.plain.start(start);
  }

  private cancel(): void {
    const id = idOf(Math.max(0, this.started - 1 - this.random.integer(6)));
    const isCancelled = this.plain.cancel(id, this.nowUs);
    expect(this.set.cancel(id, this.nowUs), `seed ${this.seed}`).toBe(isCancelled);
  }

  private share(): void {
    const sourceId = idOf(this.random.integer(3));
    const activeReads = 1 + this.random.integer(6);
    this.set.setSourceShare(sourceId, activeReads, this.nowUs);
    this.plain.setSourceShare(sourceId, activeReads, this.nowUs);
  }

  private complete(untilUs: number): void {
    this.seen.push(...this.set.completed(untilUs));
    this.plain.advance(untilUs);
    expect(this.seen, `seed ${this.seed}`).toEqual(this.plain.done);
  }
}

/** Ids as names or integers. */
function idOf(n: number): AnyId {
  return n % 2 === 0 ? n : `n${n}`;
}

describe('a set of transfers', () => {
  it.each([false, true])(
    'completes at the same microseconds and in the same order as a set that scans everything ' +
      '(shares told: %s)',
    (isToldShares) => {
      for (let seed = 1; seed <= 60; seed++) {
        const pair = new Pair(seed, isToldShares);
        for (let step = 0; step < 120; step++) pair.step();
        pair.finish();
      }
    },
  );
});

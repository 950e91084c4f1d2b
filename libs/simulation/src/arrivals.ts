import { assert, EventQueue, hashString, type Micros, mix, unitOf } from '@baton/kernel';
import type { Workload } from '@baton/workload';

/** Stands for the row of no request. */
const NO_ROW = -1;
/** Separates these draws from others with the same seed and row. */
const THINKING = hashString('think time');

/** The clients of a closed loop. */
export interface Clients {
  /** Maximum number of requests under way, one per client. Infinity: an open loop. */
  readonly maxConcurrency: number;
  /**
   * Mean think time: from the end of a client's request to its next one, exponentially distributed.
   * 0: none.
   */
  readonly thinkUs: Micros;
  readonly seed: number;
}

/**
 * The next request and its instant. Rows come in order; a turn of a conversation comes a pause
 * after the previous turn. The concurrency of the clients limits the requests under way, and a
 * client keeps its place during its think time.
 */
export class Arrivals {
  private nextRow = 0;
  /** Clients with a request under way, and clients in their think time. */
  private busy = 0;
  /** The ends of think times; undefined when there is no think time. */
  private readonly thinking: EventQueue | undefined;
  /** Turns whose previous turn has ended; unused without conversations. */
  private readonly turns: EventQueue | undefined;
  /** By row: the first turn that waits for it; and the next turn that waits for the same row. */
  private readonly firstTurn = new Int32Array(0);
  private readonly otherTurn = new Int32Array(0);

  constructor(
    private readonly workload: Workload,
    private readonly clients: Clients,
  ) {
    assert(clients.maxConcurrency >= 1, 'clients have at least one request under way');
    assert(clients.thinkUs >= 0, 'a think time is at least 0');
    if (clients.thinkUs > 0) this.thinking = new EventQueue();
    const { after, count, arrivalUs } = workload;
    if (after.length === 0) return;
    this.turns = new EventQueue();
    this.firstTurn = new Int32Array(count).fill(NO_ROW);
    this.otherTurn = new Int32Array(count).fill(NO_ROW);
    for (let row = count - 1; row >= 0; row--) {
      const former = after[row]!;
      if (former < 0) continue;
      this.otherTurn[row] = this.firstTurn[former]!;
      this.firstTurn[former] = row;
    }
    for (let row = 0; row < count; row++) {
      if (after[row]! < 0) this.turns.push(arrivalUs[row]!, 0, row);
    }
  }

  /**
   * When the next request comes, at least `nowUs`. Infinity: none comes, or none before another one
   * ends.
   */
  nextUs(nowUs: Micros): Micros {
    const freeUs = this.isFull ? (this.thinking?.peekTimeUs() ?? Infinity) : nowUs;
    if (freeUs === Infinity) return Infinity;
    const fromUs = Math.max(nowUs, freeUs);
    if (this.turns !== undefined) return Math.max(fromUs, this.turns.peekTimeUs());
    const { arrivalUs, count } = this.workload;
    return this.nextRow < count ? Math.max(fromUs, arrivalUs[this.nextRow]!) : Infinity;
  }

  /** Takes the row that is due now. */
  take(): number {
    if (this.isFull) this.thinking!.pop();
    else this.busy++;
    return this.turns === undefined ? this.nextRow++ : this.turns.pop();
  }

  /**
   * Records the end of a request, successful or not: its client may send another one after its
   * think time.
   */
  endRequest(row: number, nowUs: Micros): void {
    if (this.thinking === undefined) this.busy--;
    else this.thinking.push(nowUs + this.thinkUs(row), 0, row);
    if (this.turns === undefined) return;
    for (let turn = this.firstTurn[row]!; turn !== NO_ROW; turn = this.otherTurn[turn]!) {
      this.turns.push(nowUs + this.workload.arrivalUs[turn]!, 0, turn);
    }
  }

  private get isFull(): boolean {
    return this.busy >= this.clients.maxConcurrency;
  }

  /** A draw that depends only on (seed, row), not on the order of ends. */
  private thinkUs(row: number): Micros {
    const { seed, thinkUs } = this.clients;
    return Math.round(-thinkUs * Math.log(1 - unitOf(mix(mix(seed, THINKING), row))));
  }
}

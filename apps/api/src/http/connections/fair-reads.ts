import type { Socket } from 'node:net';

/** Waiting requests that may be read in one turn: they need some 2 ms on a slow core. */
const MOST_READ = 256;
/** Held connections that are read again in each turn. */
const RELEASED_PER_TURN = 64;

/**
 * Bounds the requests that one turn of the event loop reads behind unanswered ones. Node's parser
 * makes the objects of all requests in a chunk at once, and a turn reads a chunk of every
 * connection that has one. When a turn has read its share, no other connection is read before the
 * next one; the oldest come first. A client that waits for each answer never causes this.
 */
export class FairReads {
  private readonly open = new Set<Socket>();
  private held: Socket[] = [];
  private inTurn = 0;

  /** True while connections wait to be read. */
  get isHolding(): boolean {
    return this.held.length > 0;
  }

  readonly watch = (socket: Socket): void => {
    this.open.add(socket);
    socket.once('close', () => this.open.delete(socket));
  };

  /** Counts requests that were read behind an unanswered one, or that end with their connection. */
  count(requests = 1): void {
    const before = this.inTurn;
    this.inTurn += requests;
    if (before === 0) setImmediate(this.nextTurn);
    if (before < MOST_READ && this.inTurn >= MOST_READ) this.holdAll();
  }

  private holdAll(): void {
    // A connection that has been paused before is another's to resume.
    const read = [...this.open].filter((socket) => !socket.isPaused());
    for (const socket of read) {
      socket.pause();
      this.open.delete(socket);
    }
    this.held = [...read, ...this.held];
  }

  private readonly nextTurn = (): void => {
    this.inTurn = 0;
    for (const socket of this.held.splice(0, RELEASED_PER_TURN)) {
      if (socket.destroyed) continue;
      this.open.add(socket);
      socket.resume();
    }
    if (this.held.length > 0) setImmediate(this.nextTurn);
  };
}

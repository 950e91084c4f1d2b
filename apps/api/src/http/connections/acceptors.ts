import { spawn } from 'node:child_process';
import { createServer, type Server, type Socket } from 'node:net';
import { acceptQueueOf } from './accept-queue';

/** Sockets that accept for one port, the server's own included. */
const ACCEPTORS = 16;
/** Connections in the kernel's queue that one acceptor does not clear soon. */
const LONG_QUEUE = 8;
/** Consecutive turns with a connection after which the queue is read. */
const TURNS_IN_A_ROW = 4;
/** Least time between two readings. */
const LOOK_MS = 100;
/** Sends back the socket that it gets, as often as the message says. */
const HELPER = `process.on('message', (copies, socket) => {
  const next = () => {
    if (copies-- > 0) process.send('', socket, { keepOpen: true }, next);
    else process.disconnect();
  };
  next();
})`;
const HELPER_MS = 30_000;
/** Time until the next try after a helper that made no copy. */
const RETRY_MS = 1_000;
/** A limit of connections that refuses each of them; Node 20 reads 0 as no limit. */
const REFUSE_ALL = -1;

interface AcceptorLimits {
  /** Connections of all acceptors together. */
  readonly mostConnections: number;
  readonly allowHalfOpen: boolean;
}

/**
 * Accepts several connections of a server in each turn of the event loop. libuv accepts one per
 * turn and listening socket, so beside a thousand streams, whose turns are long, new connections
 * wait for seconds. When they queue in the kernel, a short-lived process returns copies of the
 * listening socket, and each copy accepts one more per turn. Needs /proc.
 */
export class Acceptors {
  /** Open connections by copy. */
  private readonly copies = new Map<Server, number>();
  private connections = 0;
  private inARow = 0;
  private hasHelper = false;
  private lookedMs = -Infinity;

  constructor(
    private readonly server: Server,
    private readonly limits: AcceptorLimits,
  ) {
    server.maxConnections = limits.mostConnections;
    server.on('connection', (socket: Socket) => {
      this.count(socket);
      if (!this.hasHelper && this.comeInARow() && this.isQueueLong()) this.multiply();
    });
    this.closeTogether();
  }

  /** Listening sockets that accept now. */
  get size(): number {
    return 1 + this.copies.size;
  }

  /** Makes the copies. Where no process can be started, a later queue starts another try. */
  multiply(): void {
    this.hasHelper = true;
    const helper = spawn(process.execPath, ['-e', HELPER], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      timeout: HELPER_MS,
    });
    helper.on('error', () => this.noteEnd());
    helper.on('exit', () => this.noteEnd());
    helper.on('message', (_empty, socket) => this.accept(socket as Server));
    helper.unref();
    helper.send(ACCEPTORS - 1, listeningSocketOf(this.server), () => undefined);
  }

  private noteEnd(): void {
    if (this.copies.size > 0) return;
    this.hasHelper = false;
    this.lookedMs = performance.now() + RETRY_MS;
  }

  /**
   * Whether each of the last turns accepted a connection. Only then can several wait, and reading
   * their number holds the event loop: the kernel takes up to 5 ms, because it passes over its
   * whole table of connections.
   */
  private comeInARow(): boolean {
    this.inARow += 1;
    const { inARow } = this;
    // The row ends unless the next turn accepts a connection too.
    setImmediate(() =>
      setImmediate(() => {
        if (this.inARow === inARow) this.inARow = 0;
      }),
    );
    return inARow >= TURNS_IN_A_ROW;
  }

  private isQueueLong(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.lookedMs < LOOK_MS) return false;
    this.lookedMs = nowMs;
    const address = this.server.address();
    if (address === null || typeof address === 'string') return false;
    return (acceptQueueOf(new Set([address.port])) ?? 0) >= LONG_QUEUE;
  }

  private accept(socket: Server): void {
    const { allowHalfOpen } = this.limits;
    const copy = createServer({ noDelay: true, allowHalfOpen }, (connection) => {
      this.copies.set(copy, this.copies.get(copy)! + 1);
      connection.once('close', () => this.copies.set(copy, this.copies.get(copy)! - 1));
      this.server.emit('connection', connection);
    });
    copy.on('drop', (dropped) => this.server.emit('drop', dropped));
    // Its connections wait for another acceptor.
    copy.on('error', () => undefined);
    copy.listen(socket);
    this.copies.set(copy, 0);
    this.shareLimit();
    if (!this.server.listening) copy.close();
  }

  private count(socket: Socket): void {
    this.connections += 1;
    this.shareLimit();
    socket.once('close', () => {
      this.connections -= 1;
      this.shareLimit();
    });
  }

  /** Each acceptor counts only its own connections. */
  private shareLimit(): void {
    const left = this.limits.mostConnections - this.connections;
    let ofServer = this.connections;
    for (const [copy, own] of this.copies) {
      copy.maxConnections = left + own || REFUSE_ALL;
      ofServer -= own;
    }
    this.server.maxConnections = left + ofServer || REFUSE_ALL;
  }

  private closeTogether(): void {
    const close = this.server.close.bind(this.server);
    this.server.close = (onClosed) => {
      for (const copy of this.copies.keys()) copy.close();
      return close(onClosed);
    };
  }
}

/** The handle of a server: the server itself would also accept in the process that gets it. */
function listeningSocketOf(server: Server): Server {
  return (server as unknown as { readonly _handle: Server })._handle;
}

import type { ServerResponse } from 'node:http';
import { PeriodicTimer } from '@baton/clock';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';

const SWEEP_EVERY_MS = 1_000;
/** A client that reads nothing for this long, while there is data to read, is stuck. */
const STUCK_MS = 30_000;

interface Watched {
  readonly onStuck: () => void;
  takenBytes: number;
  movedMs: number;
}

/**
 * Finds clients that stopped reading. Checks each open answer once a second; costs nothing per
 * token.
 */
@Injectable()
export class ReaderWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly answers = new Map<ServerResponse, Watched>();
  private timer: PeriodicTimer | undefined;

  onApplicationBootstrap(): void {
    this.timer = new PeriodicTimer(SWEEP_EVERY_MS, () => this.sweep(performance.now()));
  }

  onApplicationShutdown(): void {
    this.timer?.stop();
  }

  /** Watches until the answer is complete or its connection closed. */
  watch(response: ServerResponse, onStuck: () => void): void {
    this.answers.set(response, { onStuck, takenBytes: 0, movedMs: performance.now() });
    response.once('close', () => this.answers.delete(response));
  }

  sweep(nowMs: number): void {
    for (const [response, watched] of this.answers) {
      const { socket } = response;
      const takenBytes = socket ? socket.bytesWritten - socket.writableLength : 0;
      const hasMoved = takenBytes !== watched.takenBytes || !socket?.writableLength;
      if (hasMoved) {
        watched.takenBytes = takenBytes;
        watched.movedMs = nowMs;
      } else if (nowMs - watched.movedMs >= STUCK_MS) {
        this.answers.delete(response);
        watched.onStuck();
      }
    }
  }
}

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/**
 * Stands in where there is no HTTP response; it sends nothing. It closes when its answer is
 * complete, or when its listener has left.
 */
export class DetachedResponse extends ServerResponse {
  private isOver = false;

  constructor() {
    super(new IncomingMessage(new Socket()));
  }

  /** Notifies the listeners of its end, once. */
  endConnection(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.emit('close');
  }

  override destroy(error?: Error): this {
    super.destroy(error);
    this.endConnection();
    return this;
  }
}

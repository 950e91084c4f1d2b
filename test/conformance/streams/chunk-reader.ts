import { connect, type Socket } from 'node:net';
import { rawPost } from '../../../apps/api/test/raw-http';
import { until } from '../../../apps/api/test/until';

/** A streamed answer as it comes over a bare socket, one HTTP chunk at a time. */
export class ChunkReader {
  /** Bodies of the chunks so far; the empty one that ends an answer is not among them. */
  readonly chunks: string[] = [];
  head = '';
  isOver = false;
  private rest = '';

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.take(text));
    socket.on('close', () => (this.isOver = true));
  }

  static async post(port: number, path: string, body: object): Promise<ChunkReader> {
    const reader = new ChunkReader(connect(port, '127.0.0.1'));
    reader.socket.write(rawPost(path, JSON.stringify(body)));
    await until(() => reader.head !== '');
    return reader;
  }

  /** Waits for this many chunks in all. */
  async until(count: number): Promise<void> {
    await until(() => this.chunks.length >= count);
  }

  async end(): Promise<void> {
    await until(() => this.isOver);
    this.socket.destroy();
  }

  private take(text: string): void {
    this.rest += text;
    if (this.head === '') {
      const end = this.rest.indexOf('\r\n\r\n');
      if (end === -1) return;
      this.head = this.rest.slice(0, end).toLowerCase();
      this.rest = this.rest.slice(end + 4);
    }
    for (;;) {
      const found = /^([0-9a-f]+)\r\n/.exec(this.rest);
      if (found === null) return;
      const size = Number.parseInt(found[1]!, 16);
      const from = found[0].length;
      if (this.rest.length < from + size + 2) return;
      if (size === 0) this.isOver = true;
      else this.chunks.push(this.rest.slice(from, from + size));
      this.rest = this.rest.slice(from + size + 2);
    }
  }
}

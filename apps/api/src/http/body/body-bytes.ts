import { MAX_PARSED_BYTES } from './large-body';

/** Pieces after which their length counts, and the least they have on average, bytes. */
const MANY_PIECES = 1_024;
const LEAST_PIECE = 16;

/**
 * The bytes of a body, gathered as they come. A large one is copied into shared memory piece by
 * piece, so that nothing is left to do at its end.
 */
export class BodyBytes {
  private length = 0;
  private count = 0;
  private readonly pieces: Buffer[] = [];
  private shared: Buffer | undefined;

  /** @param announced the announced number of bytes; 0: unknown */
  constructor(
    private readonly maxBytes: number,
    private readonly announced = 0,
  ) {}

  /**
   * Adds a piece. Returns `too-large` when the body exceeds its limit, and `fragmented` when it
   * arrives in many pieces so small that they cost far more than their bytes.
   */
  add(piece: Buffer): 'too-large' | 'fragmented' | undefined {
    const from = this.length;
    this.count += 1;
    this.length += piece.length;
    if (this.length > this.maxBytes) return 'too-large';
    if (this.length <= MAX_PARSED_BYTES) this.pieces.push(piece);
    else this.share(piece, from);
    const isMany = this.count > MANY_PIECES;
    return isMany && this.length < this.count * LEAST_PIECE ? 'fragmented' : undefined;
  }

  /** In shared memory if they are more than `MAX_PARSED_BYTES`. */
  get whole(): Buffer {
    const [first] = this.pieces;
    if (this.shared !== undefined) return this.shared.subarray(0, this.length);
    return this.pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.pieces);
  }

  private share(piece: Buffer, at: number): void {
    if (this.shared === undefined || this.length > this.shared.length) {
      const wanted = Math.min(this.maxBytes, Math.max(this.announced, 2 * this.length));
      const grown = Buffer.from(new SharedArrayBuffer(wanted));
      grown.set(this.shared?.subarray(0, at) ?? Buffer.concat(this.pieces));
      this.shared = grown;
    }
    this.shared.set(piece, at);
  }
}

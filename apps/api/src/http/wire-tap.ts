/** Listens to the bytes sent to one client. */
export interface WireTap {
  head(status: number, headers: Readonly<Record<string, string | number>>): void;
  /** Text being written: whole events of a stream, or a body. */
  bytes(text: string): void;
  /** The answer is complete. */
  endAnswer(): void;
}

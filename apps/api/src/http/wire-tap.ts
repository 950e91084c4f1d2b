/** Listens to what goes to one client, as it goes. */
export interface WireTap {
  head(status: number, headers: Readonly<Record<string, string | number>>): void;
  /** Text that is written now: whole events of a stream, or a body. */
  bytes(text: string): void;
  /** All has been written. */
  end(): void;
}

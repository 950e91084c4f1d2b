/** Where unreadable messages are reported. */
interface MessageLog {
  warn(fields: object, text: string): void;
}

/**
 * A listener for JSON messages. Everybody who reaches the broker can publish, so a message that
 * cannot be read is reported and otherwise ignored.
 */
export function jsonListener<T>(
  log: MessageLog,
  listener: (message: T) => void,
): (payload: Buffer) => void {
  return (payload) => {
    let message: T;
    try {
      message = JSON.parse(payload.toString()) as T;
    } catch {
      log.warn({ bytes: payload.length }, 'unreadable message');
      return;
    }
    listener(message);
  };
}

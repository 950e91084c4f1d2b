/**
 * The user asked for something that cannot be; the message is one sentence for them. The command
 * ends with exit code 2.
 */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/**
 * The user requested something impossible; the message is one sentence for the user. The command
 * ends with exit code 2.
 */
export class UsageError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UsageError';
  }
}

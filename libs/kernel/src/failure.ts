/**
 * The command was valid but cannot be carried out here and now; the message is one sentence. The
 * command ends with exit code 1.
 */
export class Failure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Failure';
  }
}

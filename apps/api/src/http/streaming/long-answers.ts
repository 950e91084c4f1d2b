import type { ServerResponse } from 'node:http';

/** Answers that leave piece by piece and have pieces left. A draining process waits for them. */
export class LongAnswers {
  private readonly responses = new Set<ServerResponse>();

  get count(): number {
    return this.responses.size;
  }

  /** Counts an answer until all of it is sent, or its client leaves. */
  add(response: ServerResponse): void {
    this.responses.add(response);
    response.once('close', () => this.responses.delete(response));
  }
}

/** The result of a call: the answer, or one sentence with the reason for its absence. */
export type ApiReply =
  | { readonly kind: 'answer'; readonly body: unknown }
  | { readonly kind: 'refused'; readonly status: number; readonly sentence: string };

/**
 * Calls to the API that serves the page, with the reader's keys where needed: one for the API, one
 * for administration. The page keeps them until it is closed.
 */
export class ApiClient {
  private shownKey: string | undefined;
  /** Key for administration paths. */
  adminKey: string | undefined;

  /**
   * @param onKey called when the reader has entered a key
   * @param absence reason why there is no API, as a sentence; undefined: there is one
   */
  constructor(
    private readonly onKey: () => void,
    private readonly absence?: string,
  ) {}

  get key(): string | undefined {
    return this.shownKey;
  }

  set key(key: string | undefined) {
    this.shownKey = key;
    this.onKey();
  }

  get(path: string): Promise<ApiReply> {
    return this.call(path, {});
  }

  post(path: string, body: unknown, more: Record<string, string> = {}): Promise<ApiReply> {
    const headers = { 'content-type': 'application/json', ...more };
    return this.call(path, { method: 'POST', body: JSON.stringify(body), headers });
  }

  delete(path: string): Promise<ApiReply> {
    return this.call(path, { method: 'DELETE' });
  }

  private async call(path: string, init: RequestInit): Promise<ApiReply> {
    if (this.absence !== undefined) {
      return { kind: 'refused', status: 0, sentence: this.absence };
    }
    const headers = new Headers(init.headers);
    const key = path.startsWith('admin/') ? this.adminKey : this.key;
    if (key) headers.set('authorization', `Bearer ${key}`);
    try {
      // The root of the API, relative to `ui/`, behind any proxy.
      const answer = await fetch(`../${path}`, { ...init, headers });
      const body = (await answer.json()) as unknown;
      if (answer.ok) return { kind: 'answer', body };
      return { kind: 'refused', status: answer.status, sentence: sentenceOf(body) };
    } catch {
      return { kind: 'refused', status: 0, sentence: 'The cluster does not answer.' };
    }
  }
}

/** The message of an error, in any dialect. */
function sentenceOf(body: unknown): string {
  const { error, detail } = (body ?? {}) as { error?: { message?: string }; detail?: string };
  return error?.message ?? detail ?? 'The cluster refuses the request and gives no reason.';
}

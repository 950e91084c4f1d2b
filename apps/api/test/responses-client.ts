import { expect } from 'vitest';
import type { ApiFixture } from './api-fixture';

export interface ResponseItem {
  readonly id: string;
  readonly type: string;
  readonly status?: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly content?: readonly { readonly text: string }[];
}

export interface ResponseBody {
  readonly id: string;
  readonly status: string;
  readonly output: readonly ResponseItem[];
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number } | null;
  readonly error: { readonly code: string } | null;
  readonly metadata: object;
  readonly store: boolean;
}

export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly delta?: string;
  readonly response?: ResponseBody;
}

export const outputText = ({ output }: ResponseBody): string =>
  output.map(({ content }) => content?.[0]?.text ?? '').join('');

/** The events of a whole stream, without its `[DONE]`. Throws when it has none. */
export function eventsIn(stream: string): ResponseEvent[] {
  const frames = stream.split('\n\n').filter((frame) => frame !== '');
  expect(frames.pop()).toBe('data: [DONE]');
  return frames.map((frame) => {
    const [name, data] = frame.split('\n');
    const event = JSON.parse((data ?? '').replace('data: ', '')) as ResponseEvent;
    expect(name).toBe(`event: ${event.type}`);
    return event;
  });
}

export async function isIdle({ api }: ApiFixture): Promise<boolean> {
  const load = (await (await fetch(`${api.url}/load`)).json()) as { server_load: number };
  return load.server_load === 0;
}

/** Speaks to `/v1/responses` as a client without a library. */
export class ResponsesClient {
  constructor(readonly url: string) {}

  async send(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.url}/v1/responses${path}`, {
      ...init,
      headers: { 'content-type': 'application/json' },
    });
  }

  post(body: object, path = ''): Promise<Response> {
    return this.send(path, { method: 'POST', body: JSON.stringify(body) });
  }

  async create(body: object): Promise<ResponseBody> {
    const answer = await this.post(body);
    expect(answer.status).toBe(200);
    return (await answer.json()) as ResponseBody;
  }

  async stream(body: object): Promise<string> {
    const answer = await this.post({ ...body, stream: true });
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    return answer.text();
  }

  async get(id: string): Promise<ResponseBody> {
    return (await (await this.send(`/${id}`)).json()) as ResponseBody;
  }
}

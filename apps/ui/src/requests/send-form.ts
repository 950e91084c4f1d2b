import type { ApiClient } from '../api-client';
import type { ClusterModel } from '../cluster-model';
import { make, setText } from '../element';

/** A word of the prompt, about one token. */
const WORD = 'word ';
/** Most words of the prompt; as a body they are about 0.5 MB. */
const MOST_PROMPT_TOKENS = 100_000;

/**
 * Sends one request of a given size, and opens its timeline when it appears in a picture. Its text
 * is one repeated word, and the answer is not shown.
 */
export class SendForm {
  readonly element: HTMLElement;
  private readonly prompt = sizeInput('Prompt tokens', 500, MOST_PROMPT_TOKENS);
  private readonly output = sizeInput('Output tokens', 100, 10_000);
  private readonly verdict = make('span', { class: 'verdict', role: 'status' });
  /** Prefix of the id of a sent request that no picture has shown yet. */
  private expected: string | undefined;

  constructor(
    private readonly api: ApiClient,
    private readonly model: ClusterModel,
    private readonly open: (name: string) => void,
  ) {
    const form = make('form', { class: 'controls', 'aria-label': 'Send a request' }, [
      make('label', {}, ['Prompt tokens ', this.prompt]),
      make('label', {}, ['Output tokens ', this.output]),
      make('button', { type: 'submit' }, ['Send and follow']),
      this.verdict,
    ]);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.send();
    });
    const summary = make('summary', {}, ['Send a request']);
    this.element = make('details', { class: 'send' }, [summary, form]);
  }

  /** Opens the timeline when a picture shows the request. */
  show(): void {
    const { expected } = this;
    if (expected === undefined) return;
    for (const { name } of this.model.requests.values()) {
      if (name.startsWith(expected)) return this.follow(name);
    }
  }

  private async send(): Promise<void> {
    const id = `page-${Math.random().toString(36).slice(2, 10)}`;
    const answerId = `cmpl-${id}`;
    this.expected = answerId;
    setText(this.verdict, 'Sent.');
    this.verdict.dataset['good'] = 'true';
    const body = {
      model: this.model.hello?.model,
      prompt: WORD.repeat(this.prompt.valueAsNumber).trim(),
      max_tokens: this.output.valueAsNumber,
      ignore_eos: true,
    };
    const reply = await this.api.post('v1/completions', body, { 'x-request-id': id });
    if (reply.kind === 'refused') {
      setText(this.verdict, reply.sentence);
      this.verdict.dataset['good'] = 'false';
      if (this.expected === answerId) this.expected = undefined;
    } else if (this.expected === answerId) this.follow(answerId);
  }

  private follow(name: string): void {
    this.expected = undefined;
    this.open(name);
  }
}

function sizeInput(label: string, value: number, max: number): HTMLInputElement {
  const bounds = { min: 1, max, step: 1, required: true };
  return make('input', { type: 'number', value, 'aria-label': label, ...bounds });
}

import { make } from './element';

/** Explanations of the parts of the page. */
const TEXTS = {
  inFlight:
    'Requests that the API processes of this port have accepted and not finished. "In the queue" ' +
    'are those that no engine has taken yet.',
  ttft:
    'Time to first token: from the arrival of a request to its first token, over the first ' +
    'tokens of the last second. Half of them take less than the large figure, 99 % less than the ' +
    'small figure. VOID: over 1 % of the tokens came more than 10 ms late, which changes a ' +
    'figure: this machine is too slow.',
  itl:
    'Inter-token latency: the time between two tokens of one request, in the last second. Half ' +
    'are shorter than the large figure, 99 % are shorter than the small figure. VOID: over 1 % ' +
    'of the tokens came more than 10 ms late, so that several arrive at once and a figure changes.',
  output: 'Tokens that all requests together received in the last second.',
  requests: 'Requests that arrived, and sequences that ended, per second of the last second.',
  queue:
    'Requests that no engine has taken yet. Their number grows when prefill is too slow, or when ' +
    'a limit on running requests holds them back.',
  prefill:
    'Engines that compute prompts; each lane is one. "Running" are sequences in the batch, ' +
    '"waiting" those that the engine has taken but not begun, "a step" is the length of the last ' +
    'step. The bar is the KV cache: grey is in use, yellow is held until a decode engine has ' +
    'fetched it.',
  transfer: 'Requests between prefill and decode: their KV is held, on its way, or just arrived.',
  decode:
    'Engines that generate tokens; each lane is one. A square is a request; it fills from below ' +
    'as its tokens arrive. "Waiting" includes requests whose KV is on its way. "Late" is the ' +
    'lateness of an engine that gets too little CPU time.',
  aggregated:
    'Engines that compute prompts and generate tokens in the same steps; each lane is one.',
  stepTimes:
    'Where the lengths of the steps come from, one line per method. Steps outside of the ' +
    'measured range are extrapolated, so their lengths are less certain.',
  requestList:
    'The same requests as the dots above: phase, engine, tokens of the prompt, tokens received, ' +
    'and the time for which this page has seen the request.',
  settings:
    'Options that change while the cluster runs, for all its processes. Faults delay, refuse or ' +
    'break requests on purpose. Other options change only with a restart.',
  charts:
    'The scale covers the usual values. A triangle at the upper edge marks a value above the ' +
    'scale; point at the triangle to read the value. In shaded time the latencies are VOID; ' +
    'point there to read why.',
} as const;

export type ExplainedPart = keyof typeof TEXTS;

/** A question mark that shows the explanation on hover, click or Enter. */
export function explainer(key: ExplainedPart, title: string): HTMLElement {
  const text = TEXTS[key];
  const label = `What is ${title}?`;
  const summary = make('summary', { 'aria-label': label, title: text }, ['?']);
  // Explanations share one name, so that the browser closes the previous one.
  const details = make('details', { class: 'explain', name: 'explain' }, [
    summary,
    make('p', {}, [text]),
  ]);
  details.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !details.open) return;
    details.open = false;
    summary.focus();
  });
  return details;
}

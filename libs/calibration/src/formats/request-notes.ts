import type { RequestSteps, RequestTiming } from './request-steps';

/** Notes on requests without a measurement. */
export function notesOfRequests(
  path: string,
  requests: number,
  { steps, alone, tooLong }: RequestSteps,
): string[] {
  const decodes = steps.filter((step) => step.decodeSeqs > 0).length;
  const notes: string[] = [];
  if (alone === 0) {
    notes.push(
      `${path}: none of ${requests} requests ran alone, so there are no prefill points; add ` +
        'a run with one request at a time.',
    );
  }
  if (tooLong > 0) {
    notes.push(
      `${path}: ${tooLong} prompts longer than --max-num-batched-tokens took several steps ` +
        'and are left out.',
    );
  }
  if (decodes === 0) {
    notes.push(
      `${path}: there is no interval in which requests only decoded, so it gives no decode ` +
        'points; run with fewer arrivals.',
    );
  }
  return notes;
}

/** Requests of a client that sends one at a time, on a common time axis. */
export function sequentially(requests: readonly RequestTiming[]): RequestTiming[] {
  let startMs = 0;
  return requests.map((request) => {
    const laid = { ...request, startMs };
    let gapsMs = 0;
    for (let i = 0; i < request.gapsMs.length; i++) gapsMs += request.gapsMs[i]!;
    startMs += request.ttftMs + gapsMs + 1;
    return laid;
  });
}

import { consoleTable, formatBytes, formatMs, formatNumber } from '@baton/report';
import { reportDocument, reportText } from '../profiling/report';
import type { FirstTokenParts } from './first-token-parts';
import type { HeldOut } from './held-out';
import type { LiveResult } from './live-result';
import { explained, type Explained, type Reasons } from './reasons';

/** A larger error is a miss, and the measured reasons are shown beside it. */
const FAR = 0.1;
const RIGHT = { align: 'right' as const };

/** True when a judged figure of the load exceeds the user's limit. */
export function isTooFar({ load }: LiveResult, maxError: number | undefined): boolean {
  if (load === undefined || maxError === undefined) return false;
  return load.heldOut.rows.some(({ error, isJudged }) => isJudged && Math.abs(error) > maxError);
}

/** The result as text. */
export function liveText(result: LiveResult): string {
  const { base, load } = result;
  const parts = [reportText(base), measuredText(result), ...(load ? [loadText(load)] : [])];
  return parts.join('\n');
}

function measuredText({ times, topology, name, base }: LiveResult): string {
  const { overheadMs, overheadFrom, transfersFrom, kvBytesPerToken } = times;
  const { transfer } = base;
  const line =
    transfer === undefined
      ? ''
      : `${formatMs(transfer.latencyMs)} + ${formatMs(transfer.perTokenMs)} a token, from `;
  return [
    `${name} as ${topology}`,
    `overhead   ${formatMs(overheadMs)} a request (${overheadFrom})`,
    `transfers  ${line}${transfersFrom}`,
    ...(kvBytesPerToken === undefined
      ? []
      : [`KV         ${formatBytes(kvBytesPerToken)} a token (vllm:nixl_bytes_transferred)`]),
    '',
  ].join('\n');
}

function loadText({ heldOut, reasons }: NonNullable<LiveResult['load']>): string {
  const rows = explained(heldOut, reasons);
  return [
    `A load outside of the fit: ${describe(heldOut)}`,
    '',
    tableOf(rows),
    ...verdict(rows),
    ...sentences(heldOut, reasons).map((sentence) => `* ${sentence}`),
    '',
  ].join('\n');
}

function describe({ plan, real }: HeldOut): string {
  const { arrivals, promptTokens, outputTokens, requests, seed } = plan;
  const come =
    'clients' in arrivals
      ? `${arrivals.clients} clients in a closed loop`
      : `Poisson, ${arrivals.ratePerSecond} a second`;
  const span = ([low, high]: readonly [number, number]): string => `${low} to ${high}`;
  return (
    `${real.completed} of ${requests} requests answered\n(${come}, prompts of ` +
    `${span(promptTokens)}, answers of ${span(outputTokens)} tokens, seed ${seed})`
  );
}

function tableOf(rows: readonly Explained[]): string {
  const columns = [
    { name: '' },
    ...['real', 'simulated', 'error', 'remainder'].map((name) => ({ name, ...RIGHT })),
  ];
  return consoleTable(
    columns,
    rows.map(({ name, unit, real, simulated, error, remainder }) => {
      const value = (x: number): string =>
        unit === 'ms' ? formatMs(x) : `${formatNumber(x)} ${unit}`;
      return [name, value(real), value(simulated), percent(error), percent(remainder)];
    }),
  );
}

function verdict(rows: readonly Explained[]): string[] {
  const far = rows.filter(({ error, isJudged }) => isJudged && Math.abs(error) > FAR);
  const bound = plain(FAR);
  if (far.length === 0) return [`Every mean, median and rate is within ${bound}.`, ''];
  const names = far.map(({ name, remainder }) => `${name} (${percent(remainder)} unexplained)`);
  return [`Errors above ${bound}: ${names.join(', ')}. Measured causes:`, ''];
}

function sentences({ failures, parts, void: isVoid }: HeldOut, reasons: Reasons): string[] {
  const { overheadShare, contention, followed, wavering, pauses, typical } = reasons;
  const { fit, stepsOutsideRange, steps } = reasons;
  return [
    `overhead of requests: ${percent(overheadShare)} of the mean TTFT, included in *simulated*`,
    ...(contention === undefined
      ? []
      : [
          'stages delay each other: beside a decoding stream, a prompt of ' +
            `${contention.promptTokens} tokens takes ${percent(contention.prompt)} longer, and ` +
            `delays the stream by ${formatMs(contention.holdUpMs)} in total`,
        ]),
    ...(followed === undefined
      ? []
      : [
          `the first token of a prompt of ${followed.promptTokens} tokens comes ` +
            `${formatMs(followed.laterMs)} later when another prompt follows it`,
        ]),
    ...(parts === undefined
      ? []
      : [
          `until a prompt is computed: ${realAndSimulated('promptMs', parts)}; from there to its ` +
            `first token: ${realAndSimulated('handOverMs', parts)}`,
        ]),
    `repeated measurements differ from their median by ${plain(wavering.prompt)} (prompts) ` +
      `and ${plain(wavering.decode)} (decode steps) on average: the speed of the machine varies`,
    `gaps of an unchanged batch: ${percent(pauses)} on average over their middle half, ` +
      `${percent(typical)} in the median`,
    ...fit.map(({ phase, error }) => `fit: mean error of the ${phase} points ${plain(error)}`),
    `steps outside the measured range: ${stepsOutsideRange} of ${steps}`,
    ...failures.map(({ error, count, example }) => `not answered: ${count} (${error}: ${example})`),
    ...(isVoid === null ? [] : [`the sender was late: ${isVoid}`]),
  ];
}

function realAndSimulated(
  key: keyof FirstTokenParts,
  [real, simulated]: NonNullable<HeldOut['parts']>,
): string {
  return `${formatMs(real[key])} on average, simulated ${formatMs(simulated[key])}`;
}

function plain(share: number): string {
  return percent(share).replace('+', '');
}

function percent(share: number): string {
  const rounded = (share * 100).toFixed(1);
  return `${share >= 0 ? '+' : '−'}${rounded.replace('-', '')} %`;
}

/** The result as JSON. */
export function liveJson(result: LiveResult): string {
  const { base, name, topology, measured, times, load } = result;
  const document = {
    ...reportDocument(base),
    live: {
      server: name,
      topology,
      measured,
      overhead: { ms: times.overheadMs, from: times.overheadFrom },
      transfers: { points: times.transfers, from: times.transfersFrom },
      kv_bytes_per_token: times.kvBytesPerToken ?? null,
      ...(load === undefined ? {} : { load: loadDocument(load) }),
    },
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function loadDocument({ heldOut, reasons }: NonNullable<LiveResult['load']>): object {
  const { plan, failures, parts } = heldOut;
  return {
    plan,
    comparison: explained(heldOut, reasons),
    reasons,
    failures,
    first_token_parts: parts === undefined ? null : { real: parts[0], simulated: parts[1] },
    sender_void: heldOut.void,
  };
}

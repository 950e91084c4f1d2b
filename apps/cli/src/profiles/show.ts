import { consoleTable, formatMs, formatNumber, wrapWords } from '@baton/report';
import { errorText, sourceText } from './own-profile';
import type { Surface } from './surface';

const SEQUENCES = [1, 8, 64, 256];
const CONTEXTS = [512, 2_048, 8_192, 32_768];
const PROMPTS = [128, 512, 2_048, 8_192];

/** The parts and the times of a deployment's steps, as text or as JSON. */
export function showText(surface: Surface, isJson: boolean): string {
  const { profile, model } = surface;
  const contexts = CONTEXTS.filter((context) => context <= surface.contextMax);
  const decode = SEQUENCES.map((sequences) =>
    contexts.map((context) => surface.decodeMs(sequences, context)),
  );
  const prefill = PROMPTS.map(surface.prefillMs);
  if (isJson) {
    const { method = 'given', description } = model;
    const times = { decode_ms: { sequences: SEQUENCES, contexts, ms: decode } };
    const document = {
      method,
      description,
      ...times,
      prefill_ms: { tokens: PROMPTS, ms: prefill },
      profile: profile?.content ?? null,
    };
    return `${JSON.stringify(document, null, 2)}\n`;
  }
  const right = { align: 'right' as const };
  const head = contexts.map((context) => ({ name: `at ${formatNumber(context)}`, ...right }));
  const rows = decode.map((row, i) => [counted(SEQUENCES[i]!), ...row.map(formatMs)]);
  const prompts = PROMPTS.map((tokens, i) => [`${tokens} tokens`, formatMs(prefill[i]!)]);
  return [
    wrapWords(model.description),
    ...(profile === undefined ? [] : [provenance(profile)]),
    consoleTable([{ name: 'a decode step' }, ...head], rows),
    consoleTable([{ name: 'a prompt alone' }, { name: 'step', ...right }], prompts),
  ].join('\n');
}

function counted(sequences: number): string {
  return sequences === 1 ? '1 sequence' : `${sequences} sequences`;
}

function isNumbers(value: unknown): value is Readonly<Record<string, number>> {
  return typeof value === 'object' && value !== null;
}

/** `prefill 0.05, decode 0.066, 0.56 ms per step`: of two factors, and of the constant. */
function numbersText({ constant_ms: constant, ...factors }: Readonly<Record<string, number>>) {
  const named = Object.entries(factors).map(([name, error]) => `${name} ${formatNumber(error)}`);
  const ms = constant === undefined ? [] : [`${formatNumber(constant)} ms per step`];
  return [...named, ...ms].join(', ');
}

function provenance(profile: NonNullable<Surface['profile']>): string {
  const { content } = profile;
  const errors = content['standard_errors'];
  return [
    `mean error       ${errorText(content['error_percent'])}`,
    ...(isNumbers(errors) ? [`standard errors  ${numbersText(errors)}`] : []),
    `source           ${sourceText(profile)}\n`,
  ].join('\n');
}

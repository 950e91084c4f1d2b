import { isSystemError, reasonOf } from '@baton/kernel';
import { UsageError } from '@baton/config';
import { goesBy, GPUS, HardwareError, MODELS } from '@baton/hardware';
import { type Section, stepTimeFromProfile } from '@baton/step-time';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The checked content of a profile file. */
export interface OwnProfile {
  readonly path: string;
  /** calibrated, factors, polynomial or blis. */
  readonly kind: string;
  readonly content: Section;
}

/** @throws UsageError, one sentence, when the file cannot be read or is not a profile */
export function readProfile(path: string): OwnProfile {
  try {
    const content: unknown = parse(readFileSync(path, 'utf8'));
    const { kind } = stepTimeFromProfile(content);
    return { path, kind, content: content as Section };
  } catch (error) {
    const code = isSystemError(error) ? error.code : undefined;
    if (code === 'ENOENT') throw noProfile(path);
    if (code === 'EISDIR') {
      throw new UsageError(
        `${path} is a folder. Name one of its files; \`baton profiles list ${path}\` lists them.`,
      );
    }
    const why = reasonOf(error);
    const isOurs = error instanceof HardwareError;
    throw new UsageError(isOurs ? `${path}: ${why}` : `${path} cannot be read: ${why}.`);
  }
}

/** For a word that names no file; the word may name a model or a GPU. */
function noProfile(word: string): UsageError {
  const deployment = (what: string, model: string, gpu: string): UsageError =>
    new UsageError(
      `${word} is a ${what}, not a profile file. Write --model ${model} and --gpu ${gpu}.`,
    );
  if (MODELS.some((model) => goesBy(model, word))) return deployment('model', word, 'NAME');
  if (GPUS.some((gpu) => goesBy(gpu, word))) return deployment('GPU', 'NAME', word);
  return new UsageError(
    `There is no profile file ${word}. Give a file of \`baton calibrate --out\`, or a deployment ` +
      'with --model and --gpu.',
  );
}

/** `llama-3.1-8b`, or a dash. */
export function shownValue({ content }: OwnProfile, key: string): string {
  const value = content[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '–';
}

/** The mean errors of the fit: `decode 1.2 %, prefill 3 %`. */
export function errorText(errors: unknown): string {
  const parts = ['decode', 'prefill'].flatMap((phase) => {
    const error = (errors as Section | undefined)?.[phase] as { mean?: number } | undefined;
    return error?.mean === undefined ? [] : [`${phase} ${error.mean} %`];
  });
  return parts.length === 0 ? '–' : parts.join(', ');
}

/** Date and files of a profile's measurements. A dash without them. */
export function sourceText({ content }: OwnProfile): string {
  const { date, files } = (content['provenance'] ?? {}) as { date?: string; files?: Section[] };
  if (files !== undefined) {
    return `${files.map(({ file }) => String(file)).join(', ')}${date ? `, ${date}` : ''}`;
  }
  const { source } = content;
  return Array.isArray(source) ? source.join(', ') : typeof source === 'string' ? source : '–';
}

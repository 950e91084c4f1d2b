import { UsageError } from '@baton/config';
import { HardwareError } from '@baton/hardware';
import { type Section, stepTimeFromProfile } from '@baton/profile-files';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The checked content of a profile file. */
export interface OwnProfile {
  readonly path: string;
  /** calibrated, factors, polynomial, blis. */
  readonly kind: string;
  readonly content: Section;
}

/** @throws UsageError, one sentence, when it cannot be read or is no profile */
export function readProfile(path: string): OwnProfile {
  try {
    const content: unknown = parse(readFileSync(path, 'utf8'));
    const { kind } = stepTimeFromProfile(content);
    return { path, kind, content: content as Section };
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0]! : String(error);
    const isOurs = error instanceof HardwareError;
    throw new UsageError(isOurs ? `${path}: ${why}` : `${path} cannot be read: ${why}.`);
  }
}

/** `llama-3.1-8b`, or a dash. */
export function shownValue({ content }: OwnProfile, key: string): string {
  const value = content[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '–';
}

/** `decode 1.2 %, prefill 3 %` of the mean error of the fit. */
export function errorText(errors: unknown): string {
  const parts = ['decode', 'prefill'].flatMap((phase) => {
    const error = (errors as Section | undefined)?.[phase] as { mean?: number } | undefined;
    return error?.mean === undefined ? [] : [`${phase} ${error.mean} %`];
  });
  return parts.length === 0 ? '–' : parts.join(', ');
}

/** Day and files of a profile that names them. */
export function sourceText({ content }: OwnProfile): string {
  const { date, files } = (content['provenance'] ?? {}) as { date?: string; files?: Section[] };
  if (files !== undefined) {
    return `${files.map(({ file }) => String(file)).join(', ')}${date ? `, ${date}` : ''}`;
  }
  const { source } = content;
  return Array.isArray(source) ? source.join(', ') : typeof source === 'string' ? source : '–';
}

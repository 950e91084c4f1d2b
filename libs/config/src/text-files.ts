import { accessSync, constants } from 'node:fs';
import { reasonOf } from '@baton/kernel';
import type { BatonConfig } from './config';
import { CHAT_TEMPLATES } from './tables/text';
import { UsageError } from './usage-error';

/**
 * The files that the source of answers and of their lengths reads. A source without a file has
 * undefined.
 */
export interface TextFiles {
  readonly dataset: string | undefined;
  readonly rules: string | undefined;
  /** The Jinja file that `chat_template` names. */
  readonly chatTemplate: string | undefined;
}

/** @throws UsageError for a file that is needed and not named, or cannot be opened */
export function textFilesOf(config: BatonConfig): TextFiles {
  const { textModel, outputLength, answersPath, rulesPath } = config;
  const user =
    textModel === 'dataset'
      ? 'text_model dataset'
      : outputLength === 'dataset'
        ? 'output_length dataset'
        : undefined;
  const dataset =
    user === undefined
      ? undefined
      : readable('answers_path', answersPath, `${user} needs a JSONL or ShareGPT file`);
  const rules =
    textModel === 'rules'
      ? readable('rules_path', rulesPath, 'text_model rules needs a YAML file of rules')
      : undefined;
  return { dataset, rules, chatTemplate: templateFileOf(config) };
}

function templateFileOf({ chatTemplate }: BatonConfig): string | undefined {
  if (CHAT_TEMPLATES.some((name) => name === chatTemplate)) return undefined;
  try {
    accessSync(chatTemplate, constants.R_OK);
    return chatTemplate;
  } catch (error) {
    throw new UsageError(
      `chat_template: ${chatTemplate} is none of ${CHAT_TEMPLATES.join(', ')}, and no file that ` +
        `can be read: ${reasonOf(error)}.`,
    );
  }
}

function readable(option: string, path: string | undefined, need: string): string {
  if (path === undefined) {
    throw new UsageError(`${need}. Name it with --${option.replace('_', '-')} FILE.`);
  }
  try {
    accessSync(path, constants.R_OK);
    return path;
  } catch (error) {
    throw new UsageError(`${option}: ${path} cannot be read: ${reasonOf(error)}.`);
  }
}

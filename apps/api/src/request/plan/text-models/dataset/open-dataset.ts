import { stat } from 'node:fs/promises';
import { reasonOf } from '@baton/kernel';
import { UsageError } from '@baton/config';
import type { Logger } from '@baton/telemetry';
import type { Tokenizer } from '@baton/text';
import type { TextPrompt, Reply, TextModel } from '../text-model';
import { Dataset } from './dataset';
import { answersIn } from './dataset-row';
import { documentsIn } from './json-documents';

/** Interval of progress reports while reading. */
const REPORT_EVERY_MS = 5_000;

export interface OpenedDataset {
  readonly dataset: Dataset;
  /** Token counts of a sample of its answers, evenly spread. */
  readonly lengths: Int32Array;
}

/** Reads a dataset. Throws a `UsageError`, with the line of an invalid row. */
export async function openDataset(
  path: string,
  tokenizer: Tokenizer,
  logger: Logger,
): Promise<OpenedDataset> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw new UsageError(`${path} cannot be read: ${reasonOf(error)}.`);
  });
  const dataset = new Dataset();
  const startedMs = performance.now();
  let reportedMs = startedMs;
  for await (const document of documentsIn(path)) {
    for (const one of answersIn(document, path)) dataset.add(one);
    if (performance.now() - reportedMs < REPORT_EVERY_MS) continue;
    reportedMs = performance.now();
    logger.info(
      { dataset: path, answers: dataset.size, line: document.line, bytes: size },
      'reading',
    );
  }
  if (dataset.size === 0) throw new UsageError(`${path} has no answers.`);
  const lengths = dataset.finishAnswers(tokenizer);
  const { size: answers, leftOut } = dataset;
  const ms = Math.round(performance.now() - startedMs);
  logger.info({ dataset: path, answers, ms }, 'dataset read');
  if (leftOut > 0)
    logger.warn({ dataset: path, leftOut }, 'the dataset is too large; some answers are left out');
  return { dataset, lengths };
}

/**
 * Gives the dataset's answer to the conversation or to its last question, else an answer of about
 * the natural length.
 */
export function datasetModel(dataset: Dataset): TextModel {
  return {
    replies(prompts) {
      return Promise.resolve(prompts.map((prompt) => replyFrom(dataset, prompt)));
    },
    stopWatching() {},
  };
}

function replyFrom(dataset: Dataset, { said }: TextPrompt): Reply {
  const content = dataset.answerTo(said);
  if (content !== undefined) return { answers: () => ({ content }) };
  return { answers: ({ hash, tokens }) => ({ content: dataset.near(tokens, hash) }) };
}

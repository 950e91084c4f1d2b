import { type BatonConfig, modelFolderOf, type TextFiles, textFilesOf } from '@baton/config';
import { unreachable } from '@baton/kernel';
import type { Logger } from '@baton/telemetry';
import {
  type ChatTemplate,
  loadPatterns,
  loadTokenizer,
  type OutputLengthModel,
  type TemplateName,
  templateNamed,
  templateOfModel,
  type Tokenizer,
  type WordChoice,
} from '@baton/text';
import type { OnApplicationShutdown } from '@nestjs/common';
import { lengthModelOf, reasoningLengthModelOf } from './length-model';
import { datasetModel, openDataset, type OpenedDataset } from './text-models/dataset/open-dataset';
import { ECHO } from './text-models/echo';
import { templateOfFile, templateOfFolder, tokenizerOfFolder } from './model-folder';
import { openTokenizer } from './open-tokenizer';
import { RulesModel } from './text-models/rules/rules-model';
import type { TextModel } from './text-models/text-model';

/** The parts that count and write texts. */
export interface TextParts {
  readonly tokenizer: Tokenizer;
  readonly template: ChatTemplate;
  /** Natural length of answers, and of the reasoning before them. */
  readonly lengths: { readonly answer: OutputLengthModel; readonly reasoning: OutputLengthModel };
  readonly words: WordChoice;
}

interface Parts extends TextParts {
  /** Undefined when all answers are simulated. */
  readonly model: TextModel | undefined;
  /** Lengths of the answers of a dataset in tokens; undefined without a dataset. */
  readonly datasetTokens: Int32Array | undefined;
}

/**
 * The parts that count and write texts, and the source of answers; made once, before the first
 * request.
 */
export class TextSetup implements OnApplicationShutdown {
  private constructor(readonly parts: Parts) {}

  /** Throws a `UsageError` for an unknown name and an unusable file. */
  static async open(config: BatonConfig, logger: Logger): Promise<TextSetup> {
    const files = textFilesOf(config);
    loadPatterns();
    const tokenizer = await openTokenizerFor(config);
    const opened =
      files.dataset === undefined ? undefined : await openDataset(files.dataset, tokenizer, logger);
    return new TextSetup({
      ...(await textParts(config, tokenizer, opened?.lengths)),
      model: modelOf(config, { files, dataset: opened }, logger),
      datasetTokens: opened?.lengths,
    });
  }

  onApplicationShutdown(): void {
    this.parts.model?.stopWatching();
  }
}

/**
 * The same parts for a thread, without the answers.
 *
 * @param datasetTokens as the process has read them
 * @throws UsageError
 */
export async function openTextParts(
  config: BatonConfig,
  datasetTokens: Int32Array | undefined,
): Promise<TextParts> {
  return textParts(config, await openTokenizerFor(config), datasetTokens);
}

async function textParts(
  config: BatonConfig,
  tokenizer: Tokenizer,
  datasetTokens: Int32Array | undefined,
): Promise<TextParts> {
  return {
    tokenizer,
    template: await openTemplateFor(config),
    lengths: {
      answer: lengthModelOf(config, datasetTokens),
      reasoning: reasoningLengthModelOf(config),
    },
    words: config.textModel === 'random' ? 'random' : 'sentences',
  };
}

async function openTokenizerFor({ tokenizer, model }: BatonConfig): Promise<Tokenizer> {
  if (tokenizer !== undefined) return openTokenizer(tokenizer);
  const folder = modelFolderOf(model);
  const own = folder === undefined ? undefined : await tokenizerOfFolder(folder);
  return own ?? loadTokenizer('o200k');
}

async function openTemplateFor(config: BatonConfig): Promise<ChatTemplate> {
  const { chatTemplate, model } = config;
  const folder = modelFolderOf(model);
  const file = textFilesOf(config).chatTemplate;
  if (file !== undefined) return templateOfFile(file, folder);
  if (chatTemplate !== 'auto') return templateNamed(chatTemplate as TemplateName);
  const own = folder === undefined ? undefined : await templateOfFolder(folder);
  return own ?? templateOfModel(model);
}

interface Opened {
  readonly files: TextFiles;
  readonly dataset: OpenedDataset | undefined;
}

function modelOf(
  { textModel }: BatonConfig,
  { files, dataset }: Opened,
  logger: Logger,
): TextModel | undefined {
  switch (textModel) {
    case 'simulated':
    case 'random':
      return undefined;
    case 'echo':
      return ECHO;
    case 'dataset':
      return dataset && datasetModel(dataset.dataset);
    case 'rules':
      return RulesModel.open(files.rules!, logger);
    default:
      return unreachable(textModel);
  }
}

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, reasonOf } from '@baton/kernel';
import { UsageError } from '@baton/config';
import {
  type ChatTemplate,
  ChatTemplateError,
  familyOfJinja,
  JinjaTemplate,
  type Tokenizer,
} from '@baton/text';
import { readTokenizer } from './open-tokenizer';
import { strftime } from './strftime';

const TOKENIZER = 'tokenizer.json';
const CONFIG = 'tokenizer_config.json';
const TEMPLATE = 'chat_template.jinja';
/** A folder with one of these has a tokenizer in an unsupported form. */
const OTHER_FORMS = [CONFIG, 'tokenizer.model', 'tekken.json', 'vocab.json'];
const OTHER_TOKENIZER = "set tokenizer to o200k or to another model's tokenizer.json";

/**
 * Special tokens of tokenizer_config.json that templates name. A start and an end that it does not
 * mention are those of the template's family.
 */
const SPECIAL_TOKENS = ['bos_token', 'eos_token', 'pad_token', 'unk_token'];

type Fields = Readonly<Record<string, unknown>>;

/**
 * The tokenizer in the folder of a model; its tokenizer_config.json names the end of a text.
 * Undefined: the folder has no tokenizer file. Throws a `UsageError`.
 */
export async function tokenizerOfFolder(folder: string): Promise<Tokenizer | undefined> {
  const path = join(folder, TOKENIZER);
  if (existsSync(path)) return readTokenizer(path, await readEndToken(folder));
  const other = OTHER_FORMS.find((file) => existsSync(join(folder, file)));
  if (other === undefined) return undefined;
  throw new UsageError(
    `${path} does not exist, and ${other} alone is not read: save the tokenizer with ` +
      `transformers (AutoTokenizer, save_pretrained), or ${OTHER_TOKENIZER}.`,
  );
}

/**
 * The chat template in the folder of a model: that of chat_template.jinja, else of
 * tokenizer_config.json. Undefined: the folder has none. Throws a `UsageError`.
 */
export async function templateOfFolder(folder: string): Promise<ChatTemplate | undefined> {
  const path = join(folder, TEMPLATE);
  const config = await readConfig(folder);
  if (existsSync(path)) return templateOf({ source: await readText(path), place: path, config });
  const place = `${join(folder, CONFIG)}: chat_template`;
  const given = jinjaOf(config['chat_template'], place);
  return given === undefined ? undefined : templateOf({ ...given, place, config });
}

/**
 * The chat template in a file, with the special tokens of the model's folder, if there is one.
 * Throws a `UsageError`.
 */
export async function templateOfFile(
  path: string,
  folder: string | undefined,
): Promise<ChatTemplate> {
  const config = folder === undefined ? {} : await readConfig(folder);
  return templateOf({ source: await readText(path), place: path, config });
}

interface GivenTemplate {
  readonly source: string;
  readonly toolUse?: string | undefined;
  readonly place: string;
  readonly config: Fields;
}

function templateOf({ source, toolUse, place, config }: GivenTemplate): ChatTemplate {
  const family = familyOfJinja(source);
  const tokens: Fields = { bos_token: family.begin, eos_token: family.end, ...config };
  const specialTokens: Record<string, string> = {};
  for (const name of SPECIAL_TOKENS) {
    const token = tokenText(tokens[name]);
    if (token !== undefined) specialTokens[name] = token;
  }
  const strftimeNow = (format: string): string => strftime(new Date(), format);
  try {
    const jinja = new JinjaTemplate(source, { toolUse, specialTokens, strftimeNow });
    return { ...family, jinja };
  } catch (error) {
    if (!(error instanceof ChatTemplateError)) throw error;
    throw new UsageError(`${place} cannot be used: ${error.message}.`);
  }
}

/** One template, or several by name: `default`, and `tool_use` for conversations with tools. */
function jinjaOf(
  value: unknown,
  place: string,
): Pick<GivenTemplate, 'source' | 'toolUse'> | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return { source: value };
  const all = Array.isArray(value) ? (value as readonly (Fields | null)[]) : [];
  const named = (name: string): unknown => all.find((one) => one?.['name'] === name)?.['template'];
  const [source, toolUse] = [named('default'), named('tool_use')];
  if (typeof source === 'string') {
    return { source, toolUse: typeof toolUse === 'string' ? toolUse : undefined };
  }
  throw new UsageError(`${place} must be a text, or a list with a template named default.`);
}

/** A token as a text, or as an object with its text. */
function tokenText(value: unknown): string | undefined {
  const text = isObject(value) ? value['content'] : value;
  return typeof text === 'string' ? text : undefined;
}

async function readEndToken(folder: string): Promise<string | undefined> {
  const value = (await readConfig(folder))['eos_token'];
  if (value === undefined || value === null) return undefined;
  const end = tokenText(value);
  if (end !== undefined) return end;
  throw new UsageError(`${join(folder, CONFIG)}: eos_token must be a text.`);
}

async function readConfig(folder: string): Promise<Fields> {
  const path = join(folder, CONFIG);
  if (!existsSync(path)) return {};
  const text = await readText(path);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError(`${path} cannot be used: it is not JSON.`);
  }
  if (typeof value === 'object' && value !== null) return value as Fields;
  throw new UsageError(`${path} cannot be used: it must be a map.`);
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${reasonOf(error)}.`);
  }
}

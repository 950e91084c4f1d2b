import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reasonOf } from '@baton/kernel';
import { UsageError } from '@baton/config';
import { type ChatTemplate, KNOWN_MARKUP, templateOfJinja, type Tokenizer } from '@baton/text';
import { readTokenizer } from './open-tokenizer';

const TOKENIZER = 'tokenizer.json';
const CONFIG = 'tokenizer_config.json';
const TEMPLATE = 'chat_template.jinja';
/** A folder with one of these has a tokenizer in an unsupported form. */
const OTHER_FORMS = [CONFIG, 'tokenizer.model', 'tekken.json', 'vocab.json'];
const OTHER_TOKENIZER = "set tokenizer to o200k or to another model's tokenizer.json";

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
  if (existsSync(path)) return known(await readText(path), path);
  const place = `${join(folder, CONFIG)}: chat_template`;
  const jinja = jinjaOf((await readConfig(folder))['chat_template'], place);
  return jinja === undefined ? undefined : known(jinja, place);
}

function known(jinja: string, place: string): ChatTemplate {
  const template = templateOfJinja(jinja);
  if (template !== undefined) return template;
  throw new UsageError(
    `${place} writes none of ${KNOWN_MARKUP.join(', ')}: set chat_template to the family that ` +
      'is nearest, as chatml.',
  );
}

/** One template, or several by name, of which Baton uses `default`. */
function jinjaOf(value: unknown, place: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  const all = Array.isArray(value) ? (value as readonly (Fields | null)[]) : [];
  const text = all.find((one) => one?.['name'] === 'default')?.['template'];
  if (typeof text === 'string') return text;
  throw new UsageError(`${place} must be a text, or a list with a template named default.`);
}

async function readEndToken(folder: string): Promise<string | undefined> {
  const value = (await readConfig(folder))['eos_token'];
  if (value === undefined || value === null) return undefined;
  const end = typeof value === 'string' ? value : (value as Fields)['content'];
  if (typeof end === 'string') return end;
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

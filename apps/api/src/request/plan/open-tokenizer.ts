import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { UsageError } from '@baton/config';
import {
  loadTokenizer,
  readTokenizerJson,
  type Tokenizer,
  TOKENIZER_NAMES,
  TokenizerError,
  type TokenizerName,
} from '@baton/text';

const FILE = 'tokenizer.json';

/**
 * The tokenizer of this name, of this file, or of a folder with a tokenizer.json. Nothing is
 * downloaded. Throws a `UsageError`.
 */
export async function openTokenizer(wanted: string): Promise<Tokenizer> {
  if (isName(wanted)) return loadTokenizer(wanted);
  const path = await fileAt(wanted);
  if (path === undefined) {
    const names = TOKENIZER_NAMES.join(', ');
    throw new UsageError(
      `tokenizer '${wanted}' is not known: name one of ${names}, or the path of a ${FILE}.`,
    );
  }
  return readTokenizer(path);
}

/**
 * The tokenizer of a tokenizer.json. Throws a `UsageError`.
 *
 * @param end special token that ends a text; default: the first usual one that the file has
 */
export async function readTokenizer(path: string, end?: string): Promise<Tokenizer> {
  const name = basename(path) === FILE ? basename(dirname(path)) : basename(path, '.json');
  try {
    return await readTokenizerJson(await readFile(path, 'utf8'), name, end);
  } catch (error) {
    if (!(error instanceof TokenizerError)) throw error;
    throw new UsageError(`${path} cannot be used: ${error.message}.`);
  }
}

function isName(wanted: string): wanted is TokenizerName {
  return (TOKENIZER_NAMES as readonly string[]).includes(wanted);
}

async function fileAt(path: string): Promise<string | undefined> {
  for (const candidate of [path, join(path, FILE)]) {
    const found = await stat(candidate).catch(() => undefined);
    if (found?.isFile() === true) return candidate;
  }
  return undefined;
}

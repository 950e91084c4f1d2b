import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const FOLDER = dirname(fileURLToPath(import.meta.url));

/** The model with random weights, where none is named. */
export const DEFAULT_MODEL = join(FOLDER, '.baton', 'random-29m.gguf');

/** Values of `kv_transfer_params`: the blocks of a million tokens, and the other fields. */
const MOST_VALUES = 70_000;
const MOST_CHARACTERS = 65_536;

/**
 * What is wrong with the size of `kv_transfer_params`: the event loop copies and reads them.
 * Undefined: nothing.
 */
export function sizeFaultOfKvParams(params: object): { readonly message: string } | undefined {
  let values = 0;
  let characters = 0;
  const open: unknown[] = [params];
  while (open.length > 0 && values <= MOST_VALUES && characters <= MOST_CHARACTERS) {
    const value = open.pop();
    values += 1;
    if (typeof value === 'string') characters += value.length;
    if (typeof value !== 'object' || value === null) continue;
    const keys = Array.isArray(value) ? [] : Object.keys(value);
    for (const key of keys) characters += key.length;
    for (const inner of Object.values(value)) {
      // Most values are numbers of blocks.
      if (typeof inner === 'number') values += 1;
      else open.push(inner);
    }
  }
  if (values <= MOST_VALUES && characters <= MOST_CHARACTERS) return undefined;
  const message =
    `kv_transfer_params may have at most ${MOST_VALUES} values and ${MOST_CHARACTERS} characters ` +
    'of text.';
  return { message };
}

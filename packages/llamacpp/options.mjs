/** @throws with code USAGE */
export function wrongUsage(sentence) {
  throw Object.assign(new TypeError(sentence), { code: 'USAGE' });
}

/** A whole number of a flag. @throws with code USAGE */
export function wholeNumber(name, text, [min, max]) {
  const number = Number(text);
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  return wrongUsage(`--${name} takes a whole number from ${min} to ${max}.`);
}

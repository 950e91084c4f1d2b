const OPERATORS = {
  '>=': (order) => order >= 0,
  '>': (order) => order > 0,
  '<=': (order) => order <= 0,
  '<': (order) => order < 0,
  '=': (order) => order === 0,
  '': (order) => order === 0,
};

/**
 * True when a version is in a range of an advisory: `>=8.0.0 <8.17.1 || 7.0.0`, or `*` for all.
 *
 * @throws Error for a range of another form, so that none is overlooked
 */
export function isIn(version, range) {
  return range.split('||').some((all) => {
    const parts = all.trim().split(/\s+/);
    return parts.every((part) => part === '*' || holds(version, part));
  });
}

function holds(version, part) {
  const [, operator, bound] = /^(>=|<=|>|<|=|)v?(\d+\.\d+\.\d+\S*)$/.exec(part) ?? [];
  if (bound === undefined) throw new Error(`an advisory has a range of an unknown form: ${part}`);
  return OPERATORS[operator](compared(version, bound));
}

/** Negative: `a` comes first. A pre-release comes before its release. */
function compared(a, b) {
  const [one, other] = [a, b].map(parsed);
  for (const [i, number] of one.numbers.entries()) {
    if (number !== other.numbers[i]) return number - other.numbers[i];
  }
  if (one.early === other.early) return 0;
  if (one.early === '' || other.early === '') return one.early === '' ? 1 : -1;
  return one.early.localeCompare(other.early, 'en', { numeric: true });
}

function parsed(version) {
  const [, release, early = ''] = /^(\d+\.\d+\.\d+)(?:-([^+]+))?/.exec(version);
  return { numbers: release.split('.').map(Number), early };
}

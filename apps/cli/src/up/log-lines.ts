/** Levels of pino. */
const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const KNOWN_FIELDS = new Set(['level', 'time', 'pid', 'hostname', 'name', 'msg', 'context']);
const NAME_WIDTH = 12;

/**
 * One line of a child's output in the form of the terminal: its name, then the text or the parts of
 * a JSON log line.
 */
export function formatLine(name: string, line: string): string {
  return `${name.padEnd(NAME_WIDTH)} | ${line.startsWith('{') ? fromJson(line) : line}\n`;
}

function fromJson(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const level = LEVELS[Number(entry['level'])] ?? 'info';
  const rest = Object.entries(entry)
    .filter(([key]) => !KNOWN_FIELDS.has(key))
    .map(([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return `${level.padEnd(5)} ${String(entry['msg'] ?? '')}${rest.join('')}`;
}

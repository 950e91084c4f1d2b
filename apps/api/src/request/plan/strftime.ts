/** The local time in the notation of Python's `strftime`, as chat templates use it. */
export function strftime(time: Date, format: string): string {
  const named = (options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat('en-US', options).format(time);
  const padded = (value: number): string => String(value).padStart(2, '0');
  const fields: Readonly<Record<string, () => string>> = {
    Y: () => String(time.getFullYear()),
    y: () => padded(time.getFullYear() % 100),
    m: () => padded(time.getMonth() + 1),
    d: () => padded(time.getDate()),
    H: () => padded(time.getHours()),
    I: () => padded(time.getHours() % 12 || 12),
    M: () => padded(time.getMinutes()),
    S: () => padded(time.getSeconds()),
    p: () => (time.getHours() < 12 ? 'AM' : 'PM'),
    b: () => named({ month: 'short' }),
    B: () => named({ month: 'long' }),
    a: () => named({ weekday: 'short' }),
    A: () => named({ weekday: 'long' }),
    '%': () => '%',
  };
  return format.replace(/%(.)/g, (all, field: string) => fields[field]?.() ?? all);
}

export type PageTone =
  | 'queue'
  | 'prefill'
  | 'transfer'
  | 'decode'
  | 'hold'
  | 'bad'
  | 'wait'
  | 'text'
  | 'muted'
  | 'line'
  | 'panel'
  | 'focus';

/** A colour of the style sheet, for canvas and charts. */
export function colour(tone: PageTone): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${tone}`).trim();
}

/** Calls `listener` when the reader's colour scheme changes. */
export function onScheme(listener: () => void): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', listener);
}

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

/** The style sheet's colours for canvas and charts, which CSS cannot reach. */
export function colour(tone: PageTone): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${tone}`).trim();
}

/** Calls back when the reader's colour scheme changes. */
export function onScheme(listener: () => void): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', listener);
}

export type PageTone =
  | 'queue'
  | 'prefill'
  | 'transfer'
  | 'decode'
  | 'hold'
  | 'wait'
  | 'text'
  | 'muted'
  | 'line'
  | 'panel'
  | 'focus';

/** The colours that the style sheet has for what it cannot reach: canvas and charts. */
export function colour(tone: PageTone): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${tone}`).trim();
}

/** Calls back when the reader's colour scheme changes. */
export function onScheme(listener: () => void): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', listener);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for an element or a quoted attribute. */
export function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** JSON for a `<script>` element. No part of it can end the element. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'number' ? compact(each) : each,
  ).replaceAll('<', '\\u003c');
}

/** Six significant digits: more than a screen can show, and few enough for a small page. */
function compact(value: number): number {
  return Number(value.toPrecision(6));
}

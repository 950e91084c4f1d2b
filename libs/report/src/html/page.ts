import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ReportPage } from '../sections';
import { escapeText } from './escape';
import { isDrawn, renderAnswer, renderSection } from './render-section';
import { stylesheet } from './styles';

/** A page loads nothing, so that a report works from a disk, in a mail and without a network. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/** A report as one HTML page without external links. Equal pages give equal bytes. */
export function htmlReport({ title, subtitle, answer, sections }: ReportPage): string {
  const drawn = sections.filter(isDrawn);
  const hasCharts = drawn.some((section) => section.kind === 'lineChart');
  const scripts = [
    ...(hasCharts ? [asset('uplot/dist/uPlot.iife.min.js')] : []),
    ...(drawn.length > 0 ? [clientScript()] : []),
  ];
  const isVoid = answer?.verdict === 'void';
  const links = sections.map((section, index) => {
    const [short = ''] = section.title.split(':');
    return `<a href="#section-${index}">${escapeText(short)}</a>`;
  });
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    '<meta name="color-scheme" content="light dark">',
    `<title>${isVoid ? 'VOID: ' : ''}${escapeText(title)}</title>`,
    `<style>${hasCharts ? asset('uplot/dist/uPlot.min.css') : ''}${stylesheet()}</style>`,
    '</head>',
    isVoid ? '<body class="void">' : '<body>',
    `<header><h1>${escapeText(title)}</h1><p>${escapeText(subtitle)}</p>`,
    `<nav aria-label="Sections">${links.join('')}</nav></header>`,
    '<main>',
    ...(answer === undefined ? [] : [renderAnswer(answer)]),
    ...sections.map(renderSection),
    '</main>',
    ...scripts.map((script) => `<script>${script}</script>`),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function asset(name: string): string {
  return withoutSourceMap(readFileSync(createRequire(__filename).resolve(name), 'utf8'));
}

/** The script of the page. The build writes it into the folder of this file. */
function clientScript(): string {
  const path = join(dirname(__filename), 'client', 'report-client.js');
  return withoutSourceMap(readFileSync(path, 'utf8'));
}

function withoutSourceMap(text: string): string {
  return text.replace(/\/[/*]# sourceMappingURL=.*$/m, '').trim();
}

import { formatNumber } from '../format-number';
import type {
  BarsSection,
  CellValue,
  CommandsSection,
  GanttSection,
  HeatMapSection,
  KeyValuesSection,
  LineChartSection,
  NoteSection,
  ReportAnswer,
  ReportSection,
  ReportVerdict,
  TableSection,
  TornadoSection,
} from '../sections';
import { escapeText, scriptJson } from './escape';

const MOST_ROWS = 1_024;

/**
 * One section as HTML. For charts and timelines it contains the values, and the page's script draws
 * them.
 */
export function renderSection(section: ReportSection, index: number): string {
  const id = `section-${index}`;
  const note = section.note === undefined ? '' : `<p>${escapeText(section.note)}</p>`;
  const width = section.width ?? 'full';
  const heading = `<h2 id="${id}-title">${escapeText(section.title)}</h2>`;
  const body = `${note}${renderBody(section, id)}`;
  return [
    `<section id="${id}" class="${width} ${section.kind}" aria-labelledby="${id}-title">`,
    section.isFolded === true
      ? `<details><summary>${heading}</summary>${body}</details>`
      : `${heading}${body}`,
    '</section>',
  ].join('\n');
}

/** Words and shapes, so that a verdict is readable without colours. */
const VERDICTS: Readonly<Record<ReportVerdict, string>> = {
  met: '✔ SLO met',
  missed: '✖ SLO missed',
  doubt: '? In doubt',
  void: '✖ VOID: do not use these figures',
  none: 'No SLO given',
};

/** The answer, above all sections. */
export function renderAnswer({ verdict, headline, sentence, figures }: ReportAnswer): string {
  const pairs = figures.map(([name, value, detail]) => {
    const small = detail === undefined ? '' : `<small>${escapeText(detail)}</small>`;
    return `<div><dt>${escapeText(name)}</dt><dd>${escapeText(value)}${small}</dd></div>`;
  });
  return [
    `<section class="full answer ${verdict}" aria-label="Answer">`,
    `<p class="verdict">${escapeText(headline ?? VERDICTS[verdict])}</p><p class="sentence">${escapeText(sentence)}</p>`,
    `<dl class="tiles">${pairs.join('')}</dl></section>`,
  ].join('\n');
}

/** Whether the page's script draws this section. */
export function isDrawn(section: ReportSection): boolean {
  if (section.kind === 'gantt') return section.rows.length > 0;
  return section.kind === 'lineChart' && section.xs.length > 0;
}

function renderBody(section: ReportSection, id: string): string {
  switch (section.kind) {
    case 'keyValues':
      return renderKeyValues(section);
    case 'table':
      return renderTable(section);
    case 'bars':
      return renderBars(section);
    case 'tornado':
      return renderTornado(section);
    case 'heatMap':
      return renderHeatMap(section);
    case 'note':
      return renderNote(section);
    case 'commands':
      return renderCommands(section);
    case 'lineChart':
    case 'gantt':
      return isDrawn(section) ? renderDrawn(section, id) : '<p>Nothing was measured.</p>';
  }
}

function renderKeyValues({ look, entries }: KeyValuesSection): string {
  const pairs = entries.map(([key, value, detail]) => {
    const small = detail === undefined ? '' : `<small>${escapeText(detail)}</small>`;
    return `<div><dt>${escapeText(key)}</dt><dd>${escapeText(value)}${small}</dd></div>`;
  });
  return `<dl class="${look === 'changed' ? 'list changed' : look}">${pairs.join('\n')}</dl>`;
}

function renderTable({ title, columns, rows }: TableSection): string {
  const classOf = (column: number): string => columns[column]?.align ?? 'left';
  const head = columns.map(({ name }, i) => {
    return `<th scope="col" class="${classOf(i)}">${escapeText(name)}</th>`;
  });
  const body = rows.slice(0, MOST_ROWS).map((row) => {
    const cells = row.map((cell, i) => {
      const text = escapeText(cellText(cell));
      return i === 0
        ? `<th scope="row" class="${classOf(i)}">${text}</th>`
        : `<td class="${classOf(i)}">${text}</td>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  const rest = rows.length - MOST_ROWS;
  const more = rest > 0 ? `<p>… and ${formatNumber(rest)} more rows.</p>` : '';
  return scrollable(
    title,
    `<table><thead><tr>${head.join('')}</tr></thead>` +
      `<tbody>${body.join('\n')}</tbody></table>${more}`,
  );
}

function cellText(cell: CellValue): string {
  return typeof cell === 'string' ? cell : formatNumber(cell);
}

function renderBars({ title, bars, full }: BarsSection): string {
  const largest = bars.reduce((most, { value }) => Math.max(most, value ?? 0), 0);
  const whole = full ?? largest;
  const rows = bars.map(({ label, value, text, tone }) => {
    const percent = whole === 0 ? 0 : Math.min(100, ((value ?? 0) / whole) * 100);
    const bar = `<i class="tone-${tone}" style="width:${percent.toFixed(2)}%"></i>`;
    return (
      `<tr><th scope="row">${escapeText(label)}</th><td class="track">${bar}</td><td ` +
      `class="right">${escapeText(text)}</td></tr>`
    );
  });
  return scrollable(title, `<table><tbody>${rows.join('\n')}</tbody></table>`);
}

/** The bar of an effect is red below the base and green above it. */
function renderTornado({ bars, base }: TornadoSection): string {
  const least = bars.reduce((low, bar) => Math.min(low, bar.low.value), base);
  const most = bars.reduce((high, bar) => Math.max(high, bar.high.value), base);
  const percent = (value: number): number => {
    return most === least ? 50 : (100 * (value - least)) / (most - least);
  };
  const span = (tone: 'bad' | 'good', from: number, to: number): string => {
    const [left, right] = [percent(from), percent(to)];
    const style = `left:${left.toFixed(2)}%;width:${(right - left).toFixed(2)}%`;
    return `<i class="tone-${tone}" style="${style}"></i>`;
  };
  const end = (side: 'low' | 'high', { text, detail }: TornadoSection['bars'][number]['low']) => {
    return `<span class="${side}">${escapeText(text)}<small>${escapeText(detail)}</small></span>`;
  };
  const rows = bars.map(({ label, low, high }) => {
    const spans = `${span('bad', low.value, base)}${span('good', base, high.value)}`;
    const middle = `<b style="left:${percent(base).toFixed(2)}%"></b>`;
    return (
      `<div role="listitem"><strong>${escapeText(label)}</strong>${end('low', low)}` +
      `<span class="range">${spans}${middle}</span>${end('high', high)}</div>`
    );
  });
  return `<div class="effects" role="list">${rows.join('\n')}</div>`;
}

function renderHeatMap(section: HeatMapSection): string {
  const { values, rows, columns, decimals, best } = section;
  const known = values.flat().filter((value) => value !== null);
  const low = Math.min(...known);
  const span = Math.max(...known) - low;
  const head = columns.map((name) => `<th scope="col">${escapeText(name)}</th>`);
  const body = rows.map((name, row) => {
    const cells = columns.map((_column, column) => {
      const value = values[row]?.[column] ?? null;
      if (value === null) return '<td class="none">–</td>';
      const heat = span === 0 ? 1 : (value - low) / span;
      const isBest = best?.[0] === row && best[1] === column;
      const look = `${heat > 0.5 ? 'hot' : 'cool'}${isBest ? ' best' : ''}`;
      return (
        `<td class="${look}" ` + `style="--heat:${heat.toFixed(3)}">${value.toFixed(decimals)}</td>`
      );
    });
    return `<tr><th scope="row">${escapeText(name)}</th>${cells.join('')}</tr>`;
  });
  const corner = `${escapeText(section.rowsAre)} ↓ ${escapeText(section.columnsAre)} →`;
  const table =
    `<table><thead><tr><th>${corner}</th>${head.join('')}</tr></thead>` +
    `<tbody>${body.join('\n')}</tbody></table>`;
  return scrollable(section.title, table);
}

function renderNote({ text }: NoteSection): string {
  const paragraphs = text.split(/\n{2,}/).map((each) => `<p>${escapeText(each)}</p>`);
  return paragraphs.join('\n');
}

/** A browser breaks lines after hyphens, also between `--rate-` and `scale`; a span stays whole. */
function renderCommands({ commands }: CommandsSection): string {
  const whole = (command: string): string =>
    command
      .split(' ')
      .map((word) => `<span>${escapeText(word)}</span>`)
      .join(' ');
  return commands.map((command) => `<pre><code>${whole(command)}</code></pre>`).join('\n');
}

function renderDrawn(section: LineChartSection | GanttSection, id: string): string {
  return `<div class="drawn" data-kind="${section.kind}" data-from="${id}-data"></div>
<script type="application/json" id="${id}-data">${scriptJson(section)}</script>`;
}

/** A wide table that scrolls inside its section, also by keyboard. */
function scrollable(title: string, table: string): string {
  return (
    '<div class="scroll" tabindex="0" role="region" ' +
    `aria-label="${escapeText(title)}">${table}</div>`
  );
}

import { type ConfigKey, optionOf, SECTIONS } from './config';
import { fileName } from './names';
import type { OptionValue } from './option';
import { expectation } from './read-value';

const INTRODUCTION = `# Configuration

<!-- Written by \`npm run docs\` from the table of options in libs/config/src/tables; do not edit. -->

Every option has one name in three spellings: \`--max-model-len\` as a flag of \`baton up\`, \`BATON_MAX_MODEL_LEN\` in the environment,
\`max_model_len\` in a YAML file given by \`--config FILE\` (or \`BATON_CONFIG_FILE\`). A flag wins over the environment, that over the file,
that over the default. Unknown names are refused with the nearest known one, in a file with line and column.
Editors can check a file against [baton.schema.json](baton.schema.json):

\`\`\`yaml
# yaml-language-server: $schema=docs/baton.schema.json
topology: 2P3D
model: llama-3.1-8b
gpu: h100
speedup: 4
\`\`\`

A toggle is switched on by \`--enable-prefix-caching\` and off by \`--no-enable-prefix-caching\`. Times marked *simulated* shrink with
\`speedup\`; the others are wall time.
`;

/** docs/configuration.md, one table per section. */
export function configurationPage(): string {
  const sections = SECTIONS.map(({ title, keys }) => {
    const rows = keys.filter((key) => !optionOf(key).hidden).map(row);
    if (rows.length === 0) return '';
    return (
      `\n## ${title}\n\n| Option | Takes | Default | Meaning |\n| --- | --- | --- | --- ` +
      `|\n${rows.join('')}`
    );
  });
  return `${INTRODUCTION}${sections.join('')}`;
}

function shown(value: OptionValue): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function row(key: ConfigKey): string {
  const { form, unit, default: fallback, unset, help, alsoEnv } = optionOf(key);
  const takes = `${expectation(form)}${unit === undefined ? '' : ` (${unit})`}`;
  const standard = fallback === undefined ? `unset: ${unset ?? ''}` : `\`${shown(fallback)}\``;
  const further = alsoEnv === undefined ? '' : ` Also read from ${alsoEnv.join(', ')}.`;
  const cells = [`\`${fileName(key)}\``, takes, standard, `${help}${further}`];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
}

import { type ConfigKey, optionOf, SECTIONS } from './config';
import { fileName } from './names';
import type { OptionValue } from './option';
import { expectation } from './read-value';

const INTRODUCTION = `# Configuration

<!-- Written by \`npm run docs\` from the table of options in libs/config/src/tables; do not edit. -->

For users who look up an option. Every option has one name in three spellings:
\`--max-model-len\` as a flag of \`baton up\`, \`BATON_MAX_MODEL_LEN\` in the environment, and
\`max_model_len\` in a YAML file that \`--config FILE\` (or \`BATON_CONFIG_FILE\`) names. A flag takes
precedence over the environment, the environment over the file, and the file over the default. An
unknown name is refused, with the nearest known name, and in a file with its line and column.
\`baton up --help=max-model-len\` shows one option, and \`baton up --help=engine\` one section. Editors
can check a file against [baton.schema.json](baton.schema.json):

\`\`\`yaml
# yaml-language-server: $schema=docs/baton.schema.json
topology: 2P3D
model: llama-3.1-8b
gpu: h100
speedup: 4
\`\`\`

A toggle has a flag for on, as in \`--enable-prefix-caching\`, and one for off, as in
\`--no-enable-prefix-caching\`. \`speedup\` divides the times that are marked *simulated*; the others
are wall time.
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
  const { form, unit, default: fallback, unset, help, alsoEnv, alsoFlag } = optionOf(key);
  const takes = `${expectation(form)}${unit === undefined ? '' : ` (${unit})`}`;
  const standard = fallback === undefined ? `unset: ${unset ?? ''}` : `\`${shown(fallback)}\``;
  const further = alsoEnv === undefined ? '' : ` Also read from ${alsoEnv.join(', ')}.`;
  const second = alsoFlag === undefined ? '' : ` Also the flag \`${alsoFlag}\`.`;
  const cells = [`\`${fileName(key)}\``, takes, standard, `${help}${further}${second}`];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
}

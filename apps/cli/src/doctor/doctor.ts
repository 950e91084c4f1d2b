import { type BatonConfig, resolveConfig } from '@baton/config';
import { GPUS, LINKS, MODELS } from '@baton/hardware';
import { detectBroker } from '@baton/transport';
import { CONSOLE_WIDTH, wrapWords } from '@baton/report';
import { SHIPPED_TRACES } from '@baton/replay';
import { brokerOptions } from '../up/broker';
import { type DoctorFinding, machineFindings, programFindings } from './findings';

const LABEL_WIDTH = 15;
const KNOWN: readonly (readonly [what: string, names: readonly string[]])[] = [
  ['models', namesOf(MODELS)],
  ['gpus', namesOf(GPUS)],
  ['links', namesOf(LINKS)],
  ['traces', namesOf(SHIPPED_TRACES)],
];

/**
 * `baton doctor`: prints the installed programs, what `baton up` uses, and the names it accepts; as
 * one document with `json`. It starts and changes nothing.
 */
export async function doctor({ json = false }: { readonly json?: boolean }): Promise<void> {
  const { config } = resolveConfig({ env: process.env, file: process.env['BATON_CONFIG_FILE'] });
  const broker = await detectBroker(brokerOptions(config));
  const installed = [...machineFindings(), ...(await programFindings())];
  const used = usedBy(config, broker.line);
  if (json) {
    const known = Object.fromEntries(KNOWN.map(([what, names]) => [what, names]));
    const findings = { installed: Object.fromEntries(installed), used: Object.fromEntries(used) };
    process.stdout.write(`${JSON.stringify({ ...findings, known }, null, 2)}\n`);
    return;
  }
  print('Installed', installed);
  print('baton up uses', used);
  print(
    'Known names',
    KNOWN.map(([what, names]) => [what, names.join(', ')]),
  );
}

function usedBy(config: BatonConfig, broker: string): DoctorFinding[] {
  const { pipelineParallelSize } = config;
  const stages = pipelineParallelSize > 1 ? `, pipeline parallel ${pipelineParallelSize}` : '';
  return [
    ['broker', broker],
    ['topology', config.topology],
    ['model', `${config.model}, tensor parallel ${config.tensorParallelSize}${stages}`],
    ['gpu', config.gpu],
    ['link', config.link],
    ['address', `${config.host}:${config.port}`],
  ];
}

function namesOf(catalogue: readonly { readonly name: string }[]): string[] {
  return catalogue.map((entry) => entry.name);
}

function print(title: string, findings: readonly DoctorFinding[]): void {
  const indent = LABEL_WIDTH + 3;
  const lines = findings.map(([what, found]) => {
    const text = wrapWords(found, CONSOLE_WIDTH - indent);
    const further = text.trimEnd().replaceAll('\n', `\n${' '.repeat(indent)}`);
    return `  ${what.padEnd(LABEL_WIDTH)} ${further}\n`;
  });
  process.stdout.write(`${title}\n${lines.join('')}\n`);
}

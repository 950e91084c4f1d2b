import { resolveConfig } from '@baton/config';
import { GPUS, LINKS, MODELS } from '@baton/hardware';
import { detectBroker } from '@baton/transport';
import { SHIPPED_TRACES } from '@baton/workload-source';
import { brokerOptions } from '../up/broker';
import { type DoctorFinding, machineFindings, programFindings } from './findings';

const LABEL_WIDTH = 15;

/**
 * `baton doctor`: prints the installed programs, what `baton up` would use, and the names it
 * accepts. Starts and changes nothing.
 */
export async function doctor(): Promise<void> {
  const { config } = resolveConfig({ env: process.env, file: process.env['BATON_CONFIG_FILE'] });
  const { pipelineParallelSize } = config;
  const stages = pipelineParallelSize > 1 ? `, pipeline parallel ${pipelineParallelSize}` : '';
  const broker = await detectBroker(brokerOptions(config));
  print('Installed', [...machineFindings(), ...(await programFindings())]);
  print('baton up would use', [
    ['broker', broker.line],
    ['topology', config.topology],
    ['model', `${config.model}, tensor parallel ${config.tensorParallelSize}${stages}`],
    ['gpu', config.gpu],
    ['link', config.link],
    ['address', `${config.host}:${config.port}`],
  ]);
  print('Known names', [
    ['models', namesOf(MODELS)],
    ['gpus', namesOf(GPUS)],
    ['links', namesOf(LINKS)],
    ['traces', namesOf(SHIPPED_TRACES)],
  ]);
}

function namesOf(catalogue: readonly { readonly name: string }[]): string {
  return catalogue.map((entry) => entry.name).join(', ');
}

function print(title: string, findings: readonly DoctorFinding[]): void {
  const lines = findings.map(([what, found]) => `  ${what.padEnd(LABEL_WIDTH)} ${found}\n`);
  process.stdout.write(`${title}\n${lines.join('')}\n`);
}

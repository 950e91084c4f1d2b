import { type FaultRule, type FaultSettings, readRules } from '@baton/contract';
import type { Settings } from './live-settings';

/** The fault rules of the settings. */
export function faultSettings({ config, sinceUs }: Settings): FaultSettings {
  return {
    rules: parseRules(config.faults),
    failureInjectionRate: config.failureInjectionRate,
    failureTypes: config.failureTypes,
    sinceUs: sinceUs('faults'),
  };
}

/** @param text rules that were checked when the option was read, as JSON */
function parseRules(text: string | undefined): readonly FaultRule[] {
  const read = readRules(text === undefined ? [] : JSON.parse(text));
  return read.kind === 'rules' ? read.rules : [];
}

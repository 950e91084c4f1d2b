// The kernel state that an engine leaves when it ends: its bridge docker0 and its chains of
// iptables. Only state that was not there before is removed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { execute } from './shell.mjs';

const TABLES = ['filter', 'nat'];
const BRIDGE = 'docker0';
const FORWARDING = '/proc/sys/net/ipv4/ip_forward';

export async function rulesNow(env) {
  const rules = {};
  for (const table of TABLES) rules[table] = await listed(table, env);
  const hasBridge = existsSync(`/sys/class/net/${BRIDGE}`);
  return { rules, hasBridge, forwarding: readFileSync(FORWARDING, 'utf8') };
}

export async function leaveNoRules(before, env) {
  for (const table of TABLES) await restore(table, before.rules[table], env);
  if (!before.hasBridge) await execute(['ip', 'link', 'delete', BRIDGE], { env });
  writeFileSync(FORWARDING, before.forwarding);
}

/** Policies first, rules before the chains that they name. */
async function restore(table, before, env) {
  const iptables = (...words) => execute(['iptables', '-t', table, ...words], { env });
  const isNew = (line) => !before.includes(line);
  const now = (await listed(table, env)).filter(isNew).map((line) => line.split(' '));
  for (const [kind, ...words] of now) if (kind === '-A') await iptables('-D', ...words);
  for (const [kind, chain] of now) if (kind === '-N') await iptables('-X', chain);
  for (const line of before.filter((each) => each.startsWith('-P'))) {
    await iptables(...line.split(' '));
  }
}

async function listed(table, env) {
  const { stdout } = await execute(['iptables', '-t', table, '-S'], { env });
  return stdout.split('\n').filter((line) => line !== '');
}

// Network namespaces of one test: a hub, and others that each reach only the hub.
import { demand, execute } from '../compose/shell.mjs';

/** A range for tests of networks (RFC 2544). The networks of this machine stay as they are. */
const ADDRESSES = '198.18';

/** @returns why namespaces cannot be made here; undefined when they can */
export async function whyNot() {
  const name = `baton-${process.pid}-probe`;
  const { code, stderr } = await execute(['ip', 'netns', 'add', name]);
  if (code === 127) return 'there is no `ip` on the PATH; install iproute2';
  if (code !== 0) return `network namespaces are not permitted: ${stderr.trim()}`;
  const linked = await execute(['ip', '-n', name, 'link', 'add', 'probe', 'type', 'veth']);
  await execute(['ip', 'netns', 'delete', name]);
  if (linked.code === 0) return undefined;
  return `virtual network devices are not permitted: ${linked.stderr.trim()}`;
}

export class Networks {
  made = [];

  /** @returns the name of the hub */
  async hub() {
    return this.make('hub');
  }

  /** A namespace with one link, to the hub. */
  async spoke(hub, number) {
    const name = await this.make(`planner-${number}`);
    const [near, far] = [1, 2].map((end) => `${ADDRESSES}.${number}.${end}`);
    const [nearLink, farLink] = [`to-${number}`, 'hub'];
    const pair = ['type', 'veth', 'peer', 'name', farLink, 'netns', name];
    await demand(['ip', '-n', hub, 'link', 'add', nearLink, ...pair]);
    await raise(hub, nearLink, near);
    await raise(name, farLink, far);
    return { name, hubAddress: near, address: far };
  }

  async close() {
    for (const name of this.made.splice(0).reverse()) {
      await execute(['ip', 'netns', 'delete', name]);
    }
  }

  async make(part) {
    const name = `baton-${process.pid}-${part}`;
    await demand(['ip', 'netns', 'add', name]);
    this.made.push(name);
    await demand(['ip', '-n', name, 'link', 'set', 'lo', 'up']);
    return name;
  }
}

async function raise(namespace, link, address) {
  await demand(['ip', '-n', namespace, 'address', 'add', `${address}/30`, 'dev', link]);
  await demand(['ip', '-n', namespace, 'link', 'set', link, 'up']);
}

/** The command in the namespace. `ip netns exec` becomes the command, with the same pid. */
export function inside(namespace, command) {
  return ['ip', 'netns', 'exec', namespace, ...command];
}

import { closeSync, openSync, readSync } from 'node:fs';

/** `TCP_LISTEN` in include/net/tcp_states.h, as /proc/net/tcp writes it. */
const LISTENING = '0A';
/** The kernel fills one page at a time (fs/seq_file.c). */
const PAGE_BYTES = 4_096;

/**
 * Number of connections that the kernel has completed and this process has not accepted yet, over
 * all listening sockets of these ports. For a listening socket the receive queue in /proc/net/tcp
 * is the length of its accept queue (`get_tcp4_sock` in net/ipv4/tcp_ipv4.c). Undefined where there
 * is no /proc.
 */
export function acceptQueueOf(ports: ReadonlySet<number>): number | undefined {
  try {
    const lines = ['tcp', 'tcp6'].flatMap((table) => listeningLines(`/proc/self/net/${table}`));
    return lines.reduce((sum, line) => sum + waitingIn(line, ports), 0);
  } catch {
    return undefined;
  }
}

/** Listening sockets come first in the table: the thousands of connections below stay unread. */
function listeningLines(path: string): string[] {
  const file = openSync(path, 'r');
  try {
    const page = Buffer.allocUnsafe(PAGE_BYTES);
    let text = '';
    for (;;) {
      const bytes = readSync(file, page);
      text += page.toString('latin1', 0, bytes);
      const lines = text.split('\n').slice(1, -1);
      const listening = lines.filter((line) => columnsOf(line)[3] === LISTENING);
      if (bytes === 0 || listening.length < lines.length) return listening;
    }
  } finally {
    closeSync(file);
  }
}

function waitingIn(line: string, ports: ReadonlySet<number>): number {
  const [, local = '', , , queues = ''] = columnsOf(line);
  const [, port = ''] = local.split(':');
  const [, received = ''] = queues.split(':');
  return ports.has(parseInt(port, 16)) ? parseInt(received, 16) : 0;
}

/** Number, local and remote address, state, `sent:received` in bytes. */
function columnsOf(line: string): string[] {
  return line.trim().split(/\s+/, 5);
}

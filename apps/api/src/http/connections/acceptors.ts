import { type AddressInfo, createServer, type Server } from 'node:net';

/** Sockets that accept for one port, the server's own included. */
const ACCEPTORS = 16;

/**
 * Whether several sockets of a process can listen on one port: `reusePort` of Node 22.12 and later,
 * on Linux.
 */
export const CAN_SHARE_PORTS = process.platform === 'linux' && nodeVersion() >= 22.12;

/** Major and minor version; Node's minor versions have at most two digits. */
function nodeVersion(): number {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major + minor / 100;
}

/**
 * Accepts several connections of a server in each turn of the event loop. libuv accepts one per
 * turn and listening socket, so that new connections wait for seconds beside a thousand streams,
 * whose turns are long.
 *
 * @param server listens with `reusePort`
 */
export function addAcceptors(server: Server, allowHalfOpen: boolean): void {
  const { port, address: host } = server.address() as AddressInfo;
  const acceptors = Array.from({ length: ACCEPTORS - 1 }, () =>
    createServer({ noDelay: true, allowHalfOpen }, (connection) =>
      server.emit('connection', connection),
    ),
  );
  for (const acceptor of acceptors) {
    // The server's own socket accepts in any case.
    acceptor.on('error', () => undefined);
    acceptor.listen({ port, host, reusePort: true });
  }
  server.once('close', () => {
    for (const acceptor of acceptors) acceptor.close();
  });
}

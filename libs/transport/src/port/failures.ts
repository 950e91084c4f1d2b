export class TransportUnavailable extends Error {
  constructor(what: string) {
    super(`The message broker is not reachable (${what}).`);
    this.name = 'TransportUnavailable';
  }
}

/** The broker answers and cannot be used as it is; the message is one line with the remedy. */
export class TransportRefused extends TransportUnavailable {
  constructor(message: string) {
    super(message);
    this.name = 'TransportRefused';
    this.message = message;
  }
}

/** Keys under the prefix belong to another program, so nothing can be stored there. */
export class TransportForeign extends TransportRefused {
  constructor(prefix: string, what: string) {
    super(
      `The prefix '${prefix}' of this Redis is used by something else (${what}): clear it, or ` +
        'name another with --redis-prefix.',
    );
    this.name = 'TransportForeign';
  }
}

/** The broker's memory limit is reached; the request was not stored. */
export class TransportOutOfMemory extends Error {
  constructor() {
    super('The message broker is out of memory.');
    this.name = 'TransportOutOfMemory';
  }
}

interface Message {
  readonly kind: string;
}

/** One method for each kind of message. */
export type Handlers<M extends Message> = {
  readonly [K in M['kind']]: (message: Extract<M, { readonly kind: K }>) => void;
};

/** Calls the method for the message. */
export function deliver<M extends Message>(message: M, to: Handlers<M>): void {
  (to as Readonly<Record<string, (message: never) => void>>)[message.kind]!(message as never);
}

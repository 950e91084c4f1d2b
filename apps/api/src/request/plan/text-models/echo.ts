import { lastOfUser, type TextModel } from './text-model';

/** Answers with the last user message, or the prompt of a completion. */
export const ECHO: TextModel = {
  reply({ said }) {
    const answer = { content: lastOfUser(said) };
    return { answers: () => answer };
  },
  close() {},
};

// An admission policy: it admits a request while fewer than 64 wait for the stage, or while its
// first token is predicted within 5 s.
//
//   baton replay --trace mooncake-conversation --admission ./examples/policies/short-queues.mjs

const FREE_REQUESTS = 64;
const MOST_TTFT_US = 5_000_000;

export default {
  create() {
    return {
      admit: ({ waitingRequests, predictedTtftUs }) =>
        waitingRequests < FREE_REQUESTS || predictedTtftUs() <= MOST_TTFT_US,
      retryAfterUs: ({ predictedTtftUs }) => predictedTtftUs() - MOST_TTFT_US,
    };
  },
};

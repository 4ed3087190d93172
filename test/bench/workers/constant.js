// Floor (a): a Worker that does nothing but answer. What it answers is what the service answers, to the header.
export default {
  fetch: (_request, { ANSWER: { status, headers, body } }) => new Response(body, { status, headers }),
};

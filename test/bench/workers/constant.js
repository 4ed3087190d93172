// Floor (a): a Worker that only returns the service's response, with the same headers.
export default {
  fetch: (_request, { ANSWER: { status, headers, body } }) => new Response(body, { status, headers }),
};

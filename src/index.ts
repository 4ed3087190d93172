// The Worker's entry.
import { createApp } from './app.ts';
import { purgeAll } from './db/purge.ts';
import type { Bindings } from './env.ts';

const app = createApp(() => new Date(), console);

export default {
  fetch: app.fetch,
  scheduled: ({ scheduledTime }, bindings) => purgeAll(bindings, new Date(scheduledTime), console),
} satisfies ExportedHandler<Bindings>;

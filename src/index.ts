// The Worker's entry.
import { drizzle } from 'drizzle-orm/d1';
import { createApp } from './app.ts';
import { purge } from './db/purge.ts';
import type { Bindings } from './env.ts';

const app = createApp(() => new Date(), console);

export default {
  fetch: app.fetch,
  scheduled: ({ scheduledTime }, { DB }) => purge(drizzle(DB), new Date(scheduledTime)),
} satisfies ExportedHandler<Bindings>;

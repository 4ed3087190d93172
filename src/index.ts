// The Worker's entry.
import { drizzle } from 'drizzle-orm/d1';
import { createApp } from './app.ts';
import type { Bindings } from './env.ts';
import { purge } from './purge.ts';

const app = createApp(() => new Date(), console.log);

export default {
  fetch: app.fetch,
  scheduled: ({ scheduledTime }, { DB }) => purge(drizzle(DB), new Date(scheduledTime)),
} satisfies ExportedHandler<Bindings>;

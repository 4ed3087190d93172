// A database's first row of each kind gets an id in the database's range.
// @module-tag slow
import { applyD1Migrations } from 'cloudflare:test';
import { drizzle } from 'drizzle-orm/d1';
import { beforeEach, expect, test } from 'vitest';
import { databaseOfId } from '../../src/core/database.ts';
import { createBusiness, createKey } from '../ask.ts';
import { NEW_BUSINESS } from '../routes.ts';
import { env, NOW, resetDatabases } from '../support.ts';

const home = (number: number) => ({ number, db: drizzle(env.ONE) });
const fields = { ...NEW_BUSINESS, user_id: 1 };

beforeEach(async () => {
  await resetDatabases();
  await applyD1Migrations(env.ONE, env.MIGRATIONS);
});

test.each([0, 1, 2, 61])('the first business in database %i has an id in the database’s range', async (number) => {
  const { id } = await createBusiness(home(number), fields, NOW);
  expect(databaseOfId(id)).toBe(number);
});

test.each([0, 1, 2, 61])('the first API key in database %i has an id in the database’s range', async (number) => {
  const { id } = await createKey(home(number), { user_id: 1, name: 'k' }, NOW);
  expect(databaseOfId(id)).toBe(number);
});

test.each([0, 1, 2, 61])('the first site in database %i has an id in the database’s range', async (number) => {
  const business = await createBusiness(home(number), fields, NOW);
  const insert = `insert into access (business_id, site, created_at, updated_at) values (?, 'https://a.example', '', '') returning id`;
  const id = await env.ONE.prepare(insert).bind(business.id).first<number>('id');
  expect(databaseOfId(id ?? 0)).toBe(number);
});

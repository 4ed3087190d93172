// The businesses of a session in the console: the list, and the search.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { MANY_BUSINESSES, openConsole, signIn } from './console.ts';
import { stepsOn } from './steps.ts';

const closing: (() => unknown)[] = [];
let world: Awaited<ReturnType<typeof openConsole>>;
let page: Page;
beforeAll(async () => {
  world = await openConsole(closing);
});
afterEach(() => world.leave());
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});
const { button } = stepsOn(() => page);

describe('the businesses', () => {
  test('come in pages, and back and forward find them again', async () => {
    page = await world.visit();
    await signIn(page, world.keys.many);
    const names = () => page.locator('.row b').allInnerTexts();
    await page.getByRole('link', { name: 'Next →' }).click();
    await page.getByRole('link', { name: 'Shop number 21 ' }).waitFor();
    await page.getByRole('link', { name: 'Next →' }).click();
    await page.getByRole('link', { name: 'Shop number 45 ' }).waitFor();
    expect(await names()).toHaveLength(5);
    expect(await page.getByRole('link', { name: 'Next →' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Shop number 45 ' }).click();
    await page.getByRole('heading', { name: 'Shop number 45', level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: '← Previous' }).click();
    await page.getByRole('link', { name: 'Shop number 1 shop-1.example' }).waitFor();
    expect(await names()).toHaveLength(20);
  });

  test('are searched over all pages', async () => {
    page = await world.visit();
    await signIn(page, world.keys.many);
    await page.getByRole('searchbox').fill('NUMBER 4');
    await page.getByText(`7 of ${MANY_BUSINESSES} businesses.`).waitFor();
    await page.getByRole('searchbox').fill('shop-44.example');
    await page.getByText(`1 of ${MANY_BUSINESSES} businesses.`).waitFor();
    await page.getByRole('searchbox').fill('');
    await page.getByRole('link', { name: 'Next →' }).waitFor();
  });

  test('keep the search and the scroll position after a visit to one of them', async () => {
    page = await world.visit();
    await signIn(page, world.keys.many);
    const search = page.getByRole('searchbox');
    const opened = async (name: string) => {
      await page.getByRole('link', { name }).click();
      await page.getByRole('heading', { name: name.trim(), level: 1 }).waitFor();
    };
    await page.getByRole('link', { name: 'Next →' }).click();
    await page.getByRole('link', { name: 'Shop number 21 ' }).waitFor();
    await search.pressSequentially('number 4 &/?');
    for (let key = 0; key < ' &/?'.length; key++) await page.keyboard.press('Backspace');
    await page.getByText(`7 of ${MANY_BUSINESSES} businesses.`).waitFor();
    await opened('Shop number 44 ');
    await page.goBack();
    await page.getByText(`7 of ${MANY_BUSINESSES} businesses.`).waitFor();
    expect(await search.inputValue()).toBe('number 4');

    await search.fill('');
    const last = page.getByRole('link', { name: 'Shop number 40 ' });
    await last.scrollIntoViewIfNeeded();
    const top = await page.evaluate('scrollY');
    expect(top).toBeGreaterThan(0);
    await opened('Shop number 40 ');
    await page.goBack();
    await last.waitFor();
    await vi.waitFor(async () => expect(await page.evaluate('scrollY')).toBe(top), 5000);

    // Whoever signs in next starts at the top.
    const list = await page.evaluate('location.hash');
    await opened('Shop number 40 ');
    await button('Sign out').click();
    await signIn(page, world.keys.many);
    await page.evaluate(`location.hash = ${JSON.stringify(list)}`);
    await last.waitFor();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(await page.evaluate('scrollY')).toBe(0);

    await page.getByRole('link', { name: 'Business Usage and Access' }).click();
    await page.getByRole('link', { name: 'Shop number 1 shop-1.example' }).waitFor();
    expect(await search.inputValue()).toBe('');
  });
});

// The chart's layout, and its numbers, days and words in each language.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { addDays } from '../../src/core/time.ts';
import { TABLES } from '../../src/page/languages.ts';
import type { Bar, Day, Unit } from '../../src/page/scale.ts';
import { loadWords, type Words, wordsIn } from '../../src/page/words.ts';

/** Stubs the parts of an SVG element that the chart uses. */
class Shape {
  readonly name: string;
  readonly attributes: Record<string, string> = {};
  readonly children: (Shape | string)[] = [];
  readonly classList = { toggle: () => {} };
  constructor(name: string) {
    this.name = name;
  }
  setAttribute(name: string, value: string): void {
    this.attributes[name] = value;
  }
  append(...children: (Shape | string)[]): void {
    this.children.push(...children);
  }
}

type Subject = {
  before: readonly Day[];
  by: Unit;
  limit: { count: number; label: string };
  rightToLeft: boolean;
};
type Drawn = {
  image: Shape;
  unit: Unit;
  bars: readonly Bar[];
  indexAt: (x: number) => number;
  mark: (index: number) => { x: number; y: number };
};
let plot: (subject: object, words: Words) => Drawn;

const SERVICE = 'https://service.example';
const NOWHERE = 'https://nowhere.example';
beforeAll(async () => {
  vi.stubGlobal('document', { createElementNS: (_: string, name: string) => new Shape(name) });
  // Serves the words as src/tools/build.ts writes them.
  vi.stubGlobal('fetch', async (url: string) => {
    if (url.startsWith(NOWHERE)) throw new TypeError('Failed to fetch');
    const [, language = ''] = /\/v1\/words\/(\w+)\.json$/.exec(url) ?? [];
    return Response.json(TABLES[language as keyof typeof TABLES]);
  });
  // A computed path hides the module from the compiler: it needs the DOM types, which the tests do not have.
  ({ plot } = await import(['../../src/page', 'plot.ts'].join('/')));
});
afterAll(() => {
  vi.unstubAllGlobals();
});

/** Assumes 8 px per letter, more than any letter in the chart takes in any language. */
const textWidth = (text: string) => text.length * 8;
const HEIGHT = 220;
const BASE = HEIGHT - 26;
const TOP = 10;
const none = () => null;
const english = wordsIn('en', none);
const daysFrom = (first: string, counts: number[]) =>
  counts.map((count, index) => ({ date: addDays(first, index), count }));
const year = Array.from({ length: 366 }, (_, index) => 100 + (index % 70));

function draw(used: readonly Day[], width: number, more: Partial<Subject> = {}, words = english) {
  const subject = {
    used,
    before: [],
    today: '2030-01-01',
    by: 'day' as const,
    width,
    height: HEIGHT,
    rightToLeft: false,
    textWidth,
    ...more,
  };
  const drawn = plot(subject, words);
  const parts = drawn.image.children.filter((child): child is Shape => child instanceof Shape);
  const labels = (anchor: string) =>
    parts
      .filter(({ name, attributes }) => name === 'text' && attributes['text-anchor'] === anchor)
      .map(({ attributes, children }) => {
        const text = `${children}`;
        return { text, x: Number(attributes.x), y: Number(attributes.y), width: textWidth(text) };
      });
  const line = parts.find(({ attributes }) => attributes.class === 'before')?.attributes.d ?? '';
  return { ...drawn, counts: labels('end').toSorted((a, b) => b.y - a.y), names: labels('middle'), line };
}
const heights = ({ bars, mark }: Drawn) => bars.map((_, index) => BASE - mark(index).y);
const middles = ({ bars, mark }: Drawn) => bars.map((_, index) => mark(index).x);

describe('a bar', () => {
  test.each([
    [1920, 'day', 366],
    [1280, 'week', 53],
    [320, 'week', 53],
    [200, 'month', 13],
  ])('in a chart of a year at %i px spans one %s', (width, unit, count) => {
    const drawn = draw(daysFrom('2025-01-01', year), width);
    expect([drawn.unit, drawn.bars.length]).toEqual([unit, count]);
  });

  test('has a height in proportion to its count, on a scale that includes the compared counts', () => {
    const used = daysFrom('2026-03-01', [0, 15, 30]);
    const [nothing, half = 0, all = 0] = heights(draw(used, 600));
    expect([nothing, all / half]).toEqual([0, 2]);
    const compared = draw(used, 600, { before: daysFrom('2026-02-01', [0, 0, 900]) });
    expect(heights(compared)[2]).toBeLessThan(all / 10);
    const highest = Math.min(...Array.from(compared.line.matchAll(/ ([\d.]+)/g), ([, y]) => Number(y)));
    expect(highest).toBeGreaterThanOrEqual(TOP);
    expect(highest).toBeLessThan(BASE / 2);
  });

  test('is at least one pixel high if its count is above 0', () => {
    const { image } = draw(daysFrom('2026-03-01', [0, 1, 1_000_000]), 600);
    const bars = image.children.filter((child) => (child as Shape).attributes.class === 'bar') as Shape[];
    // Each side of a bar is a line and a rounded corner.
    const heights = bars.map(({ attributes: { d = '' } }) => {
      const [, line, corner] = /v([\d.]+)q0 -?([\d.]+)/.exec(d) ?? [];
      return Number(line ?? 0) + Number(corner ?? 0); // 0 draws nothing
    });
    expect(heights.slice(0, 2)).toEqual([0, 1]);
  });

  test.each([false, true])('is centered in the column that marks it (right to left: %s)', (rightToLeft) => {
    const { image, mark } = draw(daysFrom('2026-03-01', [1, 2, 3]), 600, { rightToLeft });
    const column = image.children.find((child) => (child as Shape).attributes.class === 'cursor') as Shape;
    for (const index of [0, 2]) {
      const { x } = mark(index);
      expect(Number(column.attributes.x) + Number(column.attributes.width) / 2).toBeCloseTo(x);
    }
  });

  test('is mirrored together with its label in right-to-left languages', () => {
    const used = daysFrom('2026-03-01', year.slice(0, 31));
    const [one, other] = [draw(used, 600), draw(used, 600, { rightToLeft: true })];
    expect(middles(other)).toEqual(middles(one).map((x) => 600 - x));
    expect(other.names.map(({ x }) => x)).toEqual(one.names.map(({ x }) => 600 - x));
  });

  test.each([false, true])(
    'is found by its x position, and the nearest bar by a position outside all bars (right to left: %s)',
    (rightToLeft) => {
      const drawn = draw(daysFrom('2026-03-01', [1, 2, 3]), 600, { rightToLeft });
      expect([-50, ...middles(drawn), 650].map(drawn.indexAt)).toEqual(rightToLeft ? [2, 0, 1, 2, 0] : [0, 0, 1, 2, 2]);
    },
  );
});

test('a chart has bars of at least the chosen unit, and a line for a daily limit by day unless it is far above all bars', () => {
  const used = daysFrom('2026-03-01', Array(28).fill(10));
  const limitOf = (count: number, by: Unit) => {
    const { image, unit, counts } = draw(used, 600, { by, limit: { count, label: 'Daily limit' } });
    const lines = image.children.filter((child) => (child as Shape).attributes.class === 'limit');
    expect(counts.filter(({ text }) => text === 'Daily limit')).toHaveLength(lines.length);
    return [unit, lines.length];
  };
  expect([limitOf(20, 'day'), limitOf(21, 'day'), limitOf(15, 'week')]).toEqual([
    ['day', 1],
    ['day', 0],
    ['week', 0],
  ]);
});

const RANGES: [name: string, used: Day[]][] = [
  ['one day', daysFrom('2026-03-20', [20])],
  ['a month', daysFrom('2026-03-01', year.slice(0, 31))],
  ['a year', daysFrom('2025-04-01', year)],
  ['trillions', daysFrom('2026-03-01', Array(28).fill(1_234_567_890_123))],
  ['days without uses', daysFrom('2026-03-01', Array(30).fill(0))],
];

describe.each(['en', ...Object.keys(TABLES)])('the chart in the language %s', (language) => {
  test.each(RANGES)('draws labels for %s that neither overlap nor exceed the image', async (_, used) => {
    await loadWords(language, SERVICE);
    const words = wordsIn(language, none);
    const faults: string[] = [];
    for (let width = 160; width <= 1920; width += 110) {
      const { names, counts, ...drawn } = draw(used, width, {}, words);
      if (names.length === 0) faults.push(`nothing at ${width}`);
      for (const [index, { text, x, width: ink }] of names.entries()) {
        const next = names[index - 1]; // the last day is first in the list
        const end = next ? next.x - next.width / 2 : width;
        const isCut = names.length > 1 && x - ink / 2 < 0;
        if (!(x + ink / 2 <= end) || isCut) faults.push(`${text} at ${width}`);
      }
      const left = Math.min(...middles(drawn));
      for (const [index, { text, x, y, width: ink }] of counts.entries()) {
        const below = counts[index - 1]?.y ?? Number.POSITIVE_INFINITY;
        if (!(x - ink >= 0 && x < left && below - y >= 20)) faults.push(`${text} at ${width}`);
      }
    }
    expect(faults).toEqual([]);
  });
});

describe('the words of the chart', () => {
  test('use plural forms in Unicode’s order, and the last form by default', () => {
    const unit = (language: string, forms: string) =>
      wordsIn(language, (name) => (name === 'unit' ? forms : null)).unit;
    expect([0, 1, 2].map(unit('en', 'order|orders'))).toEqual(['orders', 'order', 'orders']);
    expect([1, 2, 5].map(unit('pl', 'a|b|c'))).toEqual(['a', 'b', 'c']);
    expect([1, 2].map(unit('ja', 'a'))).toEqual(['a', 'a']);
    for (const language of ['fr', 'es', 'pl', 'ru'])
      expect([1, 12].map(unit(language, 'order|orders'))).toEqual(['order', 'orders']);
  });

  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const codes = letters.flatMap((a) => letters.flatMap((b) => [a + b, ...letters.map((c) => a + b + c)]));
  const known = Intl.DateTimeFormat.supportedLocalesOf(codes);

  test('have the plurals of their own language: those that are English have English ones in every language', {
    tags: 'slow',
  }, () => {
    expect(known.length).toBeGreaterThan(60);
    for (const language of known.filter((one) => !(one in TABLES))) {
      const words = wordsIn(language, none);
      const shown = [0, 1, 2, 5, 21, 1542].map((count) => words.counted(count).replace(words.number(count), ''));
      expect({ language, shown }).toEqual({ language, shown: [' uses', ' use', ...Array(4).fill(' uses')] });
      expect(words.now, language).toBe('today'); // followed by “so far”
    }
    for (const language of ['ja', 'ko', 'th', 'vi', 'id', 'zh']) {
      const { counted } = wordsIn(language, (name) => (name === 'unit' ? 'call|calls' : null));
      expect([counted(1), counted(5)]).toEqual(['1 call', '5 calls']);
    }
    expect(wordsIn('ja', (name) => (name === 'unit' ? '回' : null)).counted(5)).toBe('5回');
    expect(wordsIn('ru', (name) => (name === 'unit' ? 'визит|визита|визитов' : null)).counted(21)).toBe('21 визит');
  });

  test('name the months of the bars, which are Gregorian, in every language', { tags: 'slow' }, () => {
    const days = Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2026, month)));
    const namesIn = (language: string) =>
      days.map(new Intl.DateTimeFormat(`${language}-u-ca-gregory`, { month: 'short', timeZone: 'UTC' }).format);
    for (const language of known) {
      const names = namesIn(language);
      const { month } = wordsIn(language, none);
      expect({ language, months: days.map((day) => month(day.toISOString().slice(0, 10))) }).toEqual({
        language,
        months: names.some((name) => /M\d/.test(name)) ? namesIn('en') : names,
      });
    }
    expect(wordsIn('en-u-ca-hebrew', none).month('2026-10-01')).toBe('Oct');
  });

  test('are English if the language is untranslated or invalid, or if its words cannot be loaded', async () => {
    vi.resetModules(); // forgets the words that other tests loaded
    const fresh = await import('../../src/page/words.ts');
    for (const [language, base] of [
      ['sv', SERVICE],
      ['not a language', SERVICE],
      ['he', NOWHERE],
    ] as const) {
      await fresh.loadWords(language, base);
      expect(fresh.wordsIn(language, none).word('empty')).toBe('Nothing in this period.');
    }
    const march = (language: string) => wordsIn(language, none).range('2026-03-01', '2026-03-31').replace(/\s/g, ' ');
    expect([march('sv'), march('not a language')]).toEqual(['1–31 mars 2026', 'Mar 1 – 31, 2026']);
  });

  test('do not depend on the region of the language, which also decides the direction', async () => {
    await loadWords('FR-ca', SERVICE);
    expect(wordsIn('FR-ca', none).word('empty')).toBe(TABLES.fr.empty);
    const languages = ['he', 'ar-EG', 'en', 'de'];
    expect(languages.filter((language) => wordsIn(language, none).rightToLeft)).toEqual(['he', 'ar-EG']);
  });
});

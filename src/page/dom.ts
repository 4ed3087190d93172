// The few things that both parts of the page do with its elements.

/** The element of an id, which index.html has. */
export function element<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`index.html has no #${id}`);
  return found as T;
}

/** Gives a chart the days that are typed into the fields `prefix`-from and `prefix`-to. */
export function showDays(chart: HTMLElement, prefix: string): void {
  for (const name of ['from', 'to']) {
    const day = typedInto(`${prefix}-${name}`);
    if (day === '') chart.removeAttribute(name);
    else chart.setAttribute(name, day);
  }
}

/** What is typed into the field of an id. */
export const typedInto = (id: string): string => element<HTMLInputElement>(id).value.trim();

// Creates the chart's elements.
const SVG = 'http://www.w3.org/2000/svg';

type Attributes = Record<string, string | number>;
type Children = (Node | string)[];

function fill<E extends Element>(element: E, attributes: Attributes, children: Children): E {
  for (const key in attributes) element.setAttribute(key, `${attributes[key]}`);
  element.append(...children);
  return element;
}

export const svg = (name: string, attributes: Attributes, ...children: Children) =>
  fill(document.createElementNS(SVG, name), attributes, children);
export const html = <K extends keyof HTMLElementTagNameMap>(name: K, attributes: Attributes, ...children: Children) =>
  fill(document.createElement(name), attributes, children);
export const span = (name: string, ...children: Children) => html('span', { class: name }, ...children);
export const box = (name: string, ...children: Children) => html('div', { class: name, part: name }, ...children);

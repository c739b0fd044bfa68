// Elements from plain calls. Text only ever becomes text nodes, so nothing from the chain is read as markup.

import { clip } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";

/** Letters of an address that are shown. */
const MAX_LINK = 200;

/** An HTML element. Children are nodes, texts, numbers, lists of those; null and false are left out. */
export function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** An SVG element; otherwise as `h`. */
export function s(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) set(element, name, value);
  append(element, children);
  return element;
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) {
    if (typeof value !== "function") throw new TypeError(`${name} takes a function`);
    element.addEventListener(name.slice(2).toLowerCase(), value);
  } else if (name === "style") {
    // Through the object model: the policy forbids style attributes, and a value here cannot open a second declaration.
    for (const [property, text] of Object.entries(value)) element.style.setProperty(property, String(text));
  } else if (name === "dataset") {
    Object.assign(element.dataset, value);
  } else if (name === "value") {
    element.value = value;
  } else {
    if (name === "href" && !staysHere(value)) throw new TypeError("links lead to this host only");
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** Whether a link leads to this host. Browsers read `\` as `/`, and leave out tabs and line breaks. */
export function staysHere(link) {
  return /^(#|\/[^/\\\t\r\n])/.test(link);
}

function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child instanceof Node) element.append(child);
    else if (child !== null && child !== undefined && child !== false) element.append(document.createTextNode(String(child)));
  }
}

/** A link to another host, which learns nothing about this page, and its address as a browser reads it. Only HTTP; null for anything else. */
export function externalLink(url) {
  let target;
  try {
    target = new URL(url);
  } catch {
    return null;
  }
  if (!["http:", "https:"].includes(target.protocol) || target.username || target.password) return null;
  const link = h("a", { class: "external", target: "_blank", rel: "noopener noreferrer" }, clip(target.href.replace(/^https?:\/\/|\/$/g, ""), MAX_LINK));
  link.href = target.href;
  return link;
}

/** Puts children, as `h` takes them, in place of what an element holds. The focus stays on what is there again, and so does how far boxes are scrolled. */
export function replace(element, ...children) {
  const giveBack = [keptFocus(element), keptScroll(element)];
  element.replaceChildren();
  append(element, children);
  for (const restore of giveBack) restore?.();
}

/** Puts the focus back on the control that leads to the same place, or has the same name: new rows move it. */
function keptFocus(element) {
  const focused = document.activeElement;
  if (!focused || focused === element || !element.contains(focused)) return null;
  const name = (one) => `${one.tagName} ${one.getAttribute("href") ?? one.getAttribute("aria-label") ?? one.textContent}`;
  const wanted = name(focused);
  const alike = () => [...element.querySelectorAll(focused.tagName)].filter((one) => name(one) === wanted);
  const place = alike().indexOf(focused);
  return () => {
    const found = alike();
    (found[place] ?? found.at(-1))?.focus({ preventScroll: true });
  };
}

function keptScroll(element) {
  const boxes = () => [...element.querySelectorAll(".scroll, .code, .block-of-text, .picture, .commands")];
  const places = boxes().map((box) => [box.scrollLeft, box.scrollTop]);
  if (places.every(([left, top]) => left === 0 && top === 0)) return null;
  return () =>
    boxes().forEach((box, at) => {
      if (places[at]) [box.scrollLeft, box.scrollTop] = places[at];
    });
}

/** A text for screen readers alone. */
export function hidden(text) {
  return h("span", { class: "hidden" }, text);
}

/* dom.js - elements from calls.  Text stays text: nothing that came out of a trace is ever parsed as HTML. */

/**
 * An element.  Attributes: `class`, `on<event>` (a listener), `style` (an object of CSS properties), `data` (an
 * object), any other by its name; true is an empty attribute; null, undefined and false leave it out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Object<string, any>} [attributes]
 * @param {...(Node|string|number|null|undefined|false|Array)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
        else if (name === 'style') setStyle(element, value);
        else if (name === 'data') Object.assign(element.dataset, value);
        else element.setAttribute(name, value === true ? '' : String(value));
    }
    add(element, children);
    return element;
}

/** Sets CSS properties through the object model, which a strict Content-Security-Policy allows. */
export function setStyle(element, properties) {
    for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, String(value));
}

function add(element, children) {
    for (const child of children) {
        if (Array.isArray(child)) add(element, child);
        else if (child !== null && child !== undefined && child !== false)
            element.append(child instanceof Node ? child : String(child));
    }
}

/** Replaces all children. */
export function fill(element, ...children) {
    element.replaceChildren();
    add(element, children);
    return element;
}

const FOCUSABLE = 'a[href], button, input, select, [tabindex]';

/** Replaces all children by ones of the same make: what had the focus has it again. */
export function refill(element, ...children) {
    const at = [...element.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
    fill(element, ...children);
    if (at >= 0) /** @type {HTMLElement} */ (element.querySelectorAll(FOCUSABLE)[at])?.focus({ preventScroll: true });
    return element;
}

const SVG = 'http://www.w3.org/2000/svg';

/** Line icons on a 16-px grid, each one path. */
const ICONS = {
    folder: 'M1.5 4.5v8h13v-7h-6l-1.5-2h-5.5z',
    file: 'M3.5 1.5v13h9v-9.5l-3.5-3.5zM9 1.5v3.5h3.5',
    up: 'M8 13.5v-11M3.5 7l4.5-4.5 4.5 4.5',
    plus: 'M8 2.5v11M2.5 8h11',
    more: 'M3 8h.01M8 8h.01M13 8h.01',
    close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
    refresh: 'M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 1.5v3h-3',
    trash: 'M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9',
    edit: 'M2.5 13.5l.7-3 7.3-7.5 2.5 2.5-7.5 7.3z',
    copy: 'M5.5 5.5h8v8h-8zM3 10.5h-.5v-8h8v.5',
    theme: 'M8 1.5a6.5 6.5 0 1 0 0 13zM8 1.5a6.5 6.5 0 0 1 0 13',
    help: 'M5.5 6a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M8 12.8v.01',
    check: 'M3 8.5l3.3 3.3 6.7-7.5',
    columns: 'M2.5 2.5h11v11h-11zM6 2.5v11M10 2.5v11',
    open: 'M6 3.5l4.5 4.5L6 12.5',
    trace: 'M2 4h9M4.5 8h9.5M3 12h6',
};

/**
 * @typedef {keyof typeof ICONS} IconName
 * @param {IconName} name
 */
export function icon(name) {
    const svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('viewBox', '0 0 16 16');
    svg.setAttribute('class', 'icon');
    svg.setAttribute('aria-hidden', 'true');
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', ICONS[name]);
    svg.append(path);
    return svg;
}

/**
 * What draws on a canvas; a canvas never asked for another kind always has it.
 * @param {HTMLCanvasElement} canvas
 * @param {CanvasRenderingContext2DSettings} [options]
 */
export function penOf(canvas, options) {
    return /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', options));
}

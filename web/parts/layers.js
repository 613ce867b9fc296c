/* layers.js - how a preset's layers look everywhere: a colour each, in the preset's order, and hatching for POSIX layers,
 * so that print and colour-blind readers can tell them. */

import { h, setStyle } from '../dom.js';

const HUES = 12;
const NEUTRALS = 3;

/**
 * @typedef {Object} Layer
 * @property {string} name
 * @property {string|null} parent
 * @property {string} color  a CSS colour, which follows light and dark
 * @property {boolean} hatched
 * @property {number} depth  0 for a root
 * @property {boolean} leaf
 */

/**
 * Describes layers in tree order: children follow their parent, siblings keep the preset's order.
 * @param {{name: string, parent?: string|null}[]} layers
 * @param {string|null} [compute]  the layer that the preset takes for useful work
 * @returns {Layer[]}
 */
export function layerTree(layers, compute = null) {
    const parents = new Map(layers.map((layer) => [layer.name, layer.parent ?? null]));
    const enclosing = compute ? pathTo(parents.get(compute) ?? null, parents) : layers.filter((one) => !one.parent && !isLeaf(one, layers)).map((one) => one.name);
    let hue = 0, neutral = 0;
    const described = layers.map((layer) => ({
        name: layer.name,
        parent: parents.get(layer.name),
        color: enclosing.includes(layer.name) ? `var(--neutral-${neutral++ % NEUTRALS + 1})` : `var(--layer-${hue++ % HUES + 1})`,
        hatched: /posix|stdio/.test(layer.name),
        depth: 0,
        leaf: isLeaf(layer, layers),
    }));
    return inTreeOrder(described);
}

/** From a root down to @name. */
export function pathTo(name, parents) {
    const path = [];
    for (let at = name; at; at = parents.get(at) ?? null) path.unshift(at);
    return path;
}

function isLeaf(layer, layers) {
    return !layers.some((other) => other.parent === layer.name);
}

function inTreeOrder(layers) {
    const tree = [];
    const visit = (parent, depth) => {
        for (const layer of layers.filter((one) => one.parent === parent)) {
            layer.depth = depth;
            tree.push(layer);
            visit(layer.name, depth + 1);
        }
    };
    visit(null, 0);
    return tree;
}

/** A small square in the layer's colour. */
export function swatch(layer) {
    const element = h('span', { class: 'swatch' + (layer.hatched ? ' hatched' : ''), 'aria-hidden': 'true' });
    setStyle(element, { '--color': layer.color });
    return element;
}

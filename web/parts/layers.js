/* layers.js - how a preset's layers look everywhere: the colour that the preset gives, fitted to light and dark, and
 * hatching for POSIX layers, so that print and colour-blind readers can tell them. */

import { h, setStyle } from '../dom.js';

const HUES = 12;

/**
 * @typedef {Object} Layer
 * @property {string} name
 * @property {string} label  in words
 * @property {string|null} parent
 * @property {string} color  a CSS colour, which follows light and dark
 * @property {boolean} hatched
 * @property {number} depth  0 for a root
 */

/**
 * Describes layers in tree order: children follow their parent, siblings keep the preset's order.
 * @param {{name: string, parent?: string|null}[]} rows  as the summary has them
 * @param {{layers?: {name: string, label?: string, color?: string, parent?: string|null}[]}} preset
 * @returns {Layer[]}
 */
export function layerTree(rows, preset) {
    const given = new Map((preset.layers ?? []).map((layer) => [layer.name, layer]));
    return inTreeOrder(
        rows.map((row, index) => ({
            name: row.name,
            label: given.get(row.name)?.label ?? row.name,
            parent: row.parent ?? given.get(row.name)?.parent ?? null,
            color: fitted(given.get(row.name)?.color) ?? `var(--layer-${(index % HUES) + 1})`,
            hatched: /posix|stdio/.test(row.name),
            depth: 0,
        })),
    );
}

/**
 * Lighter in the dark, in the same order of lightness and as far apart; darker where it would be too pale on white.
 * The colours of the presets differ in both for any kind of colour vision, which a test computes.
 */
function fitted(color) {
    if (!/^#[0-9a-f]{6}$/i.test(color ?? '')) return null;
    return `light-dark(oklch(from ${color} min(l, 0.78) c h), oklch(from ${color} clamp(0.42, 0.14 + l, 0.92) c h))`;
}

/** Whether anything of a layer lies in what is shown: also of an event that began before it. */
export function isPresent(row) {
    return row?.count > 0 || row?.time > 0;
}

/**
 * Which events are a layer's, as an expression: empty for all, undefined where nobody knows.  Layers that were made of
 * categories have their names, with _ for every other sign, and what lies in them behind a dot (presets.md).
 */
export function conditionOf(preset, name) {
    if (!preset.layers_from_categories) return preset.layers?.find((layer) => layer.name === name)?.condition;
    return name === 'app'
        ? ''
        : `cat.str.match("${name.replace(/^app_cat$/, 'app').replaceAll('_', '[^a-z0-9]')}([.]|$)")`;
}

/** From a root down to @name. */
export function pathTo(name, parents) {
    const path = [];
    for (let at = name; at; at = parents.get(at) ?? null) path.unshift(at);
    return path;
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

/* tile.js - one figure with its name: what a reader looks for first. */

import { fill, h } from '../dom.js';
import { value } from '../format.js';

/**
 * @param {{label: string, number?: number|null, unit?: string, note?: any, title?: string}} figure
 */
export function tile({ label, number, unit = 'count', note, title }) {
    return h(
        'div',
        { class: 'tile', title },
        h('dt', {}, label),
        h('dd', {}, h('span', { class: 'figure' }, value(number, unit)), note && h('small', {}, note)),
    );
}

/** Tiles in a row that wraps. */
export function tiles(figures) {
    return fill(h('dl', { class: 'tiles', style: { '--tiles': figures.length } }), figures.map(tile));
}

/* legend.js - what each colour of a chart means; a click shows or hides it. */

import { h, setStyle } from '../dom.js';
import { swatch } from './layers.js';

/**
 * @param {import('./layers.js').Layer[]} layers  or whatever else has a name and a colour
 * @param {Set<string>} shown
 * @param {(name: string, alone: boolean) => void} onToggle  alone: only this one (an Alt-click)
 * @param {string} [label]
 */
export function legend(layers, shown, onToggle, label = 'Layers shown') {
    return h(
        'div',
        { class: 'legend', role: 'group', 'aria-label': label },
        layers.map((layer) => {
            const button = h(
                'button',
                {
                    type: 'button',
                    class: 'legend-item',
                    'aria-pressed': String(shown.has(layer.name)),
                    title: 'Click: show or hide. Alt-click: only this one.',
                    data: { layer: layer.name },
                    onclick: (event) => onToggle(layer.name, event.altKey),
                },
                swatch(layer),
                layer.name,
            );
            setStyle(button, { '--color': layer.color });
            return button;
        }),
    );
}

/** What is shown after a click: one more or one less, or this one alone. */
export function toggled(shown, name, alone) {
    const next = alone ? new Set([name]) : new Set(shown);
    if (!alone && !next.delete(name)) next.add(name);
    return next;
}

/* flame.js - which call was inside which, of the whole trace or of a part of it. */

import { h, refill } from '../dom.js';
import { callsPanel, CALL_TABS } from '../parts/calls_panel.js';
import { field } from '../parts/control_bar.js';
import { segmented } from '../parts/segmented.js';
import { tracePage } from '../parts/trace_page.js';
import { go } from '../state.js';

export const title = 'Flame graph';

/** @type {[string, string][]} */
const LABELS = [
    ['name', 'Name'],
    ['layer', 'Layer'],
    ['category', 'Category'],
];

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    return tracePage(host, place, flamePicture, { without: ['granularity', 'semantics', 'filters'] });
}

function flamePicture(trace) {
    const panel = callsPanel(trace),
        tools = h('div', { class: 'tl-bar' });
    const card = h('section', { class: 'card', 'aria-label': 'Calls' }, tools, panel.element);

    function update(place) {
        const tab = CALL_TABS.some(([key]) => key === place.panel) ? place.panel : 'flame',
            label = LABELS.some(([key]) => key === place.label) ? place.label : 'name';
        refill(
            tools,
            h(
                'div',
                {},
                segmented('What to show', CALL_TABS, tab, (key) => go({ panel: key === 'flame' ? null : key })),
            ),
            field(
                'Merge by',
                h(
                    'select',
                    {
                        id: 'label',
                        onchange: (event) =>
                            go({
                                label: event.target.value === 'name' ? null : event.target.value,
                                root: null,
                                name: null,
                            }),
                    },
                    LABELS.map(([key, words]) => h('option', { value: key, selected: key === label }, words)),
                ),
            ),
        );
        panel.update({
            place,
            tab,
            parameters: {
                preset: place.preset ?? trace.preset?.name,
                filter: place.filter,
                from: place.from,
                to: place.to,
                lanes: place.lanes,
                label,
            },
        });
    }

    return { boxes: [card], update, close: panel.close };
}

/* columns.js - which columns a wide table shows: a list to search and tick, kept in the URL. */

import { fill, h, icon } from '../dom.js';
import { grouped } from '../format.js';
import { placeBelow } from './menu.js';

const MOST = 200;

/**
 * A button that opens the list.
 * @param {{label: string, onChoose: (names: string[]|null) => void}} options  null: the usual ones again
 */
export function columnChooser({ label, onChoose }) {
    let all = [],
        chosen = [];
    const search = h('input', {
        type: 'search',
        placeholder: 'Search',
        'aria-label': `Search ${label.toLowerCase()}`,
        oninput: () => list(),
    });
    const box = h('div', { class: 'picker-list', role: 'group', 'aria-label': label });
    const panel = h(
        'div',
        { class: 'picker', popover: 'auto', role: 'dialog', 'aria-label': label },
        search,
        box,
        h(
            'button',
            {
                type: 'button',
                class: 'button small',
                onclick: () => {
                    panel.hidePopover();
                    onChoose(null);
                },
            },
            'The usual ones',
        ),
    );
    const button = h(
        'button',
        {
            type: 'button',
            class: 'button small',
            'aria-haspopup': 'dialog',
            'aria-expanded': 'false',
            onclick: () => panel.togglePopover(),
        },
        icon('columns'),
        label,
    );

    panel.addEventListener('toggle', (event) => {
        button.setAttribute('aria-expanded', String(event.newState === 'open'));
        if (event.newState !== 'open') return;
        list();
        placeBelow(panel, button);
        search.focus();
    });

    function list() {
        const words = search.value.trim().toLowerCase().split(/\s+/);
        const found = all.filter(({ name, label: text }) =>
            words.every((word) => `${name} ${text}`.toLowerCase().includes(word)),
        );
        fill(
            box,
            found.slice(0, MOST).map(({ name, label: text, title }) =>
                h(
                    'label',
                    { class: 'picker-entry', title },
                    h('input', {
                        type: 'checkbox',
                        checked: chosen.includes(name),
                        onchange: (event) => choose(name, event.target.checked),
                    }),
                    text,
                ),
            ),
            found.length > MOST && h('p', { class: 'hint' }, `${grouped(found.length - MOST)} more; search for them.`),
            found.length === 0 && h('p', { class: 'hint' }, 'None has such a name.'),
        );
    }

    /** Columns keep the order of the list. */
    function choose(name, yes) {
        const next = new Set(chosen);
        if (yes) next.add(name);
        else next.delete(name);
        chosen = all.map((one) => one.name).filter((one) => next.has(one));
        if (chosen.length > 0) onChoose(chosen);
    }

    return {
        element: h('span', { class: 'menu-anchor' }, button, panel),
        /**
         * @param {{name: string, label: string, title?: string}[]} offered
         * @param {string[]} shown
         */
        update(offered, shown) {
            all = offered;
            chosen = shown;
        },
    };
}

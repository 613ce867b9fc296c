/* upset.js - which sets were active together, and for how long: an UpSet plot.
 *
 * A row is one combination of sets: dots say which, the bar says how long exactly these were active and no other. It
 * is a table, so that everybody can read it, and needs no drawing. */

import { h, setStyle } from '../dom.js';
import { text, value } from '../format.js';
import { swatch } from './layers.js';
import { scrolling } from './table.js';

/**
 * @param {{sets: string[], time: number}[]} groups
 * @param {import('./layers.js').Layer[]} sets
 * @param {{span: number, idle: number}} whole  seconds, summed over the units
 */
export function upset(groups, sets, { span, idle }) {
    const rows = [...groups].sort((a, b) => b.time - a.time);
    if (idle > 0) rows.push({ sets: [], time: idle });
    const longest = Math.max(...rows.map(({ time }) => time), 0);
    return scrolling(
        'Combinations of sets',
        h(
            'table',
            { class: 'table upset' },
            h('caption', { class: 'visually-hidden' }, 'How long each combination of sets was active'),
            h(
                'thead',
                {},
                h(
                    'tr',
                    {},
                    sets.map((set) =>
                        h(
                            'th',
                            { scope: 'col', class: 'upset-set' },
                            h(
                                'span',
                                { title: set.name },
                                swatch(set),
                                h('span', { class: 'upset-name' }, ` ${set.name}`),
                            ),
                        ),
                    ),
                    h('th', { scope: 'col', class: 'bar-cell' }, 'exactly these active for'),
                    h('th', { scope: 'col', class: 'number' }, 'Time'),
                    h('th', { scope: 'col', class: 'number' }, 'Share'),
                ),
            ),
            h(
                'tbody',
                {},
                rows.map((row) => rowOf(row, sets, longest, span)),
            ),
        ),
    );
}

function rowOf({ sets: active, time }, sets, longest, span) {
    const places = sets.map((set, index) => (active.includes(set.name) ? index : -1)).filter((index) => index >= 0);
    const between = (index) => places.length > 1 && index >= places[0] && index <= places[places.length - 1];
    const shown = h('span', { class: 'bar-shown' });
    const bar = h('span', { class: 'bar', role: 'img', 'aria-label': text(time, 's') }, shown);
    const only = active.length === 1 && sets.find((set) => set.name === active[0]);
    setStyle(bar, {
        '--share': longest > 0 ? time / longest : 0,
        '--hidden': 0,
        '--color': only ? only.color : active.length === 0 ? 'var(--line-strong)' : 'var(--ink-2)',
    });
    return h(
        'tr',
        {},
        sets.map((set, index) =>
            h(
                'td',
                {
                    class: `upset-cell${between(index) ? ' joined' : ''}${index === places[0] ? ' from' : ''}${index === places[places.length - 1] ? ' until' : ''}`,
                },
                h(
                    'span',
                    {
                        class: `dot${active.includes(set.name) ? ' on' : ''}`,
                        title: active.includes(set.name) ? set.name : `not ${set.name}`,
                    },
                    h('span', { class: 'visually-hidden' }, active.includes(set.name) ? 'active' : 'not active'),
                ),
            ),
        ),
        h(
            'td',
            { class: 'bar-cell' },
            active.length === 0 ? h('div', { class: 'bar-with-figure' }, bar, h('small', {}, 'none of them')) : bar,
        ),
        h('td', { class: 'number' }, value(time, 's')),
        h('td', { class: 'number' }, value(span > 0 ? time / span : null, 'share')),
    );
}

/* processes.js - which hosts and processes the events come from: a list to choose from, each choice a condition of the
 * filter. */

import { get } from '../api.js';
import { fill, h } from '../dom.js';
import { grouped } from '../format.js';
import { here } from '../state.js';
import { placeBelow } from './menu.js';
import { conjuncts, equals, literal, toggle } from './narrow.js';
import { failure } from './notice.js';

const MOST = 500;

/**
 * The conditions that choose a process, in the order of its keys.
 * @param {{host_name: string|null, pid: number, tid?: number}} one
 */
export function processConditions({ host_name: host, pid, tid }) {
    return [equals('host_name', host), equals('pid', pid), ...(tid === undefined ? [] : [equals('tid', tid)])];
}

const CHOSEN = /^(?:host_name|pid|tid)(?: == (.+)|\.isna\(\))$/;

/** What the filter says about hosts and processes, in words; null: nothing. */
function chosenWords(filter) {
    const found = conjuncts(filter)
        .map((part) => CHOSEN.exec(part))
        .filter((one) => one !== null);
    return found.length === 0
        ? null
        : found.map(([part, value]) => value?.replace(/^"|"$/g, '') ?? part).join(' \u00b7 ');
}

/**
 * A button that says which are chosen and opens the list.
 * @param {() => {id: string, processes: number, hosts: number}} trace
 */
export function processPicker(trace) {
    const search = h('input', {
        type: 'search',
        placeholder: 'Host or process',
        'aria-label': 'Search hosts and processes',
        oninput: () => load(),
    });
    const list = h('div', { class: 'picker-list' });
    const panel = h(
        'div',
        { class: 'picker', popover: 'auto', role: 'dialog', 'aria-label': 'Hosts and processes' },
        search,
        list,
    );
    const button = h('button', {
        id: 'processes',
        class: 'button',
        type: 'button',
        'aria-haspopup': 'dialog',
        'aria-expanded': 'false',
        onclick: () => panel.togglePopover(),
    });
    let asking = null;

    panel.addEventListener('toggle', (event) => {
        const open = event.newState === 'open';
        button.setAttribute('aria-expanded', String(open));
        if (!open) return;
        load();
        placeBelow(panel, button);
        search.focus();
    });

    async function load() {
        asking?.abort();
        const control = (asking = new AbortController());
        const words = search.value.trim();
        const request = {
            group_by: 'host_name,pid',
            aggregate: 'events:count()',
            limit: MOST,
            filter:
                words &&
                `host_name.str.contains(${literal(words)}, regex=false, case=false) or str(pid).str.startswith(${literal(words)})`,
        };
        try {
            const answer = await get(`traces/${trace().id}/query`, request, control.signal);
            fill(list, entries(answer));
        } catch (problem) {
            if (problem.name !== 'AbortError') fill(list, failure(problem, load));
        }
    }

    function entries({ data, row_count: count }) {
        const chosen = new Set(conjuncts(here().filter ?? ''));
        const hosts = Map.groupBy(data, ([host]) => host);
        return [
            data.length === 0 && h('p', { class: 'hint' }, 'None has such a name.'),
            [...hosts].map(([host, rows]) => [
                entry(host ?? 'no host', null, [equals('host_name', host)], chosen, 'host'),
                rows.map(([, pid, events]) =>
                    entry(String(pid), events, processConditions({ host_name: host, pid }), chosen, 'process'),
                ),
            ]),
            count > data.length && h('p', { class: 'hint' }, `${grouped(count - data.length)} more; search for them.`),
        ];
    }

    function entry(words, events, conditions, chosen, kind) {
        return h(
            'button',
            {
                type: 'button',
                class: `picker-entry ${kind}`,
                'aria-pressed': String(conditions.every((one) => chosen.has(one))),
                onclick: () => {
                    panel.hidePopover();
                    toggle(...conditions);
                },
            },
            h('span', { class: 'name' }, words),
            events !== null && h('small', {}, `${grouped(events)} events`),
        );
    }

    return {
        element: h('span', { class: 'menu-anchor' }, button, panel),
        update(place) {
            const words = chosenWords(place.filter ?? '');
            button.classList.toggle('chosen', words !== null);
            fill(button, words ?? `all ${grouped(trace().processes)}`);
        },
    };
}

/* timeline_card.js - what the pointer is over, beside it. */

import { fill, h, setStyle } from '../dom.js';
import { at, grouped, text } from '../format.js';
import { laneWords } from './timeline_words.js';

const BESIDE = 16; /* px */

export function hoverCard() {
    const element = h('div', { class: 'chart-bubble tl-card', hidden: true });

    /** Stays inside of `bounds`.
     *
     *  @param {{x: number, y: number}} place  @param {any} content
     *  @param {{left: number, width: number, height: number}} bounds */
    function show(place, content, bounds) {
        element.hidden = false;
        fill(element, h('div', { class: 'chart-tip' }, content));
        const { offsetWidth: width, offsetHeight: height } = element;
        const x = place.x + BESIDE + width > bounds.width ? Math.max(0, place.x - BESIDE - width) : place.x + BESIDE,
            y = place.y + BESIDE + height > bounds.height ? Math.max(0, place.y - BESIDE - height) : place.y + BESIDE;
        setStyle(element, { transform: `translate(${Math.round(x + bounds.left)}px, ${Math.round(y)}px)` });
    }
    return {
        element,
        show,
        hide() {
            element.hidden = true;
        },
    };
}

/** @param {Object} box */
export function boxWords({ name, layer, category, start, dur, count, covered, lane }) {
    return [
        h('strong', { class: 'name' }, name),
        count > 1 && ` and others: ${grouped(count)} events`,
        h('p', {}, [layer, category].filter(Boolean).join(' \u00b7 ')),
        h(
            'table',
            {},
            row('From', at(start)),
            row(count > 1 ? 'Together' : 'Duration', text(dur, 's')),
            count > 1 && row('Of it running', text(covered, 's')),
            row('Lane', laneWords(lane)),
        ),
    ];
}

/** @param {{lane: {id: string, threads: number}, labels: {label: string|null, threads: number}[]}} density */
export function densityWords({ lane, labels }) {
    return [
        h('strong', {}, laneWords(lane.id)),
        h(
            'p',
            {},
            labels.length === 0 ? 'Nothing runs here.' : `Of ${grouped(lane.threads)} threads run, on average:`,
        ),
        labels.length > 0 &&
            h(
                'table',
                {},
                labels
                    .sort((a, b) => b.threads - a.threads)
                    .slice(0, 8)
                    .map(({ label, threads }) =>
                        row(label ?? 'no layer', threads >= 0.005 ? threads.toFixed(2) : '< 0.01'),
                    ),
            ),
    ];
}

function row(label, content) {
    return h('tr', {}, h('th', {}, label), h('td', {}, content));
}

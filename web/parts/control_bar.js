/* control_bar.js - what every trace page is asked with: preset, its filters, granularity, semantics, filter, time range. */

import { fill, h, icon } from '../dom.js';
import { text } from '../format.js';
import { go } from '../state.js';
import { niceGranularity } from './series.js';

const STEPS = [0.1, 1, 10];

/** The parameters of layered calls that the place names. */
export function questionOf(place) {
    return { preset: place.preset, filters: place.filters, filter: place.filter, from: place.from, to: place.to };
}

export function controlBar() {
    const controls = h('div', { class: 'controls' });
    const filter = filterBox();
    const element = h('form', { class: 'control-bar', 'aria-label': 'What to show', onsubmit: (event) => event.preventDefault() }, controls, filter.element);

    /**
     * @param {{trace: Object, presets: {name: string}[], place: Object, granularity: number, span: number}} view
     */
    function update({ trace, presets, place, granularity, span }) {
        fill(controls,
            field('Preset', h('select', { id: 'preset', onchange: (event) => go({ preset: event.target.value, layers: null }) },
                presets.map(({ name }) => h('option', { value: name === trace.preset?.name ? '' : name, selected: name === (place.preset ?? trace.preset?.name) }, name)))),
            field('Granularity', granularitySelect(place, granularity, span)),
            field('Dropping filters', h('select', { id: 'filters', title: "The preset's filters leave out files and functions that say nothing about the job", onchange: (event) => go({ filters: event.target.value }) },
                h('option', { value: '', selected: place.filters !== 'off' }, 'on'), h('option', { value: 'off', selected: place.filters === 'off' }, 'off'))),
            h('div', { class: 'field' }, h('span', {}, 'Semantics'),
                h('span', { class: 'chip', title: 'Every number comes from the events themselves: unions of intervals, each event counted once, its time given to each bin it covers' }, 'exact')),
            h('div', { class: 'field' }, h('span', {}, 'Time range'), rangeChip(place)));
        filter.update(place.filter ?? '');
    }
    return { element, update, mark: filter.mark, clear: filter.clear };
}

function field(label, control) {
    return h('div', { class: 'field' }, h('label', { for: control.id }, label), control);
}

function granularitySelect(place, granularity, span) {
    const usual = niceGranularity(span);
    const chosen = place.granularity ? granularity : null;
    const steps = [...new Set([...STEPS.map((factor) => Number((usual * factor).toPrecision(3))), ...(chosen ? [chosen] : [])])].sort((a, b) => a - b);
    return h('select', { id: 'granularity', title: 'Width of a time bin', onchange: (event) => go({ granularity: event.target.value }) },
        h('option', { value: '', selected: chosen === null }, `auto (${text(usual, 's')})`),
        steps.filter((step) => step >= 1e-6).map((step) => h('option', { value: step, selected: step === chosen }, text(step, 's'))));
}

function rangeChip(place) {
    if (place.from === undefined && place.to === undefined) return h('span', { class: 'chip plain', title: 'Drag over the chart to choose a range' }, 'whole job');
    const words = `${place.from === undefined ? 'start' : text(Number(place.from), 's')} \u2013 ${place.to === undefined ? 'end' : text(Number(place.to), 's')}`;
    return h('button', { class: 'chip accent', type: 'button', title: 'Show the whole job (Esc)', onclick: clearRange }, words, icon('close'));
}

export function clearRange() {
    go({ from: null, to: null });
}

/** The filter expression: applied by Enter; the server's complaint stands under it, with a mark at its position. */
function filterBox() {
    const input = /** @type {HTMLInputElement} */ (h('input', { id: 'filter', type: 'text', placeholder: 'Filter events, such as cat == "posix" and size > 4096', autocomplete: 'off', spellcheck: 'false',
        'aria-describedby': 'filter-problem', onchange: () => go({ filter: input.value.trim() }) }));
    const complaint = h('p', { id: 'filter-problem', class: 'filter-problem', role: 'alert' });
    const element = h('div', { class: 'filter' }, h('label', { class: 'visually-hidden', for: 'filter' }, 'Filter'), input,
        h('kbd', { class: 'filter-key', 'aria-hidden': 'true' }, '/'), complaint);
    return {
        element,
        update: (words) => { if (document.activeElement !== input || words !== input.value.trim()) input.value = words; },
        mark(problem) {
            input.setAttribute('aria-invalid', 'true');
            const at = problem.position;
            fill(complaint, Number.isInteger(at) && h('span', { class: 'caret' }, input.value.slice(0, at).replace(/./g, '\u2007'), '^ '), problem.message);
        },
        clear() {
            input.removeAttribute('aria-invalid');
            fill(complaint);
        },
    };
}

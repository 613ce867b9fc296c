/* control_bar.js - what every trace page is asked with: preset, its filters, granularity, semantics, processes, time
 * range, filter. */

import { h, refill } from '../dom.js';
import { text } from '../format.js';
import { go } from '../state.js';
import { exampleOf } from './completion.js';
import { expressionBox } from './expression_box.js';
import { placeBelow } from './menu.js';
import { processPicker } from './processes.js';
import { rangeControl } from './range_control.js';
import { segmented } from './segmented.js';
import { niceGranularity } from './time.js';

const STEPS = [0.1, 1, 10];

const SEMANTICS = [
    {
        key: 'exact',
        label: 'exact',
        words: 'Exact: every event counts once, each bin gets its part of it, and overlap comes from the intervals themselves.',
    },
    {
        key: 'compatible',
        label: 'as DFAnalyzer',
        words: 'As DFAnalyzer: an event counts in the bin it starts in, and overlap comes from sums per bin.',
    },
];

/** Whether the place asks for the numbers of DFAnalyzer. */
export function isCompatible(place) {
    return place.semantics === 'compatible';
}

/** The parameters of layered calls that the place names. */
export function parametersOf(place) {
    const numbers = isCompatible(place)
        ? { semantics: 'compatible', granularity: place.granularity ?? usualGranularity(place, 0) }
        : {};
    return {
        preset: place.preset,
        filters: place.filters,
        filter: place.filter,
        from: place.from,
        to: place.to,
        ...numbers,
    };
}

/**
 * The bin width where none was chosen: for DFAnalyzer, whose numbers depend on it, its own.
 * @param {Object} place
 * @param {number} span  seconds that are shown
 */
export function usualGranularity(place, span) {
    return isCompatible(place) ? 1 : niceGranularity(span);
}

/**
 * @param {{without?: ('granularity'|'semantics'|'filters')[]}} [options]  controls that the page has no use for
 */
export function controlBar({ without = [] } = {}) {
    let about = null;
    const controls = h('div', { class: 'controls' });
    const processes = processPicker(() => about.trace);
    const filter = expressionBox({
        id: 'filter',
        label: 'Filter',
        key: '/',
        placeholder: 'Filter events',
        onApply: (words) => go({ filter: words }),
        trace: () =>
            about && {
                id: about.trace.id,
                answers: about.trace.answers,
                seenWith: about.place.preset ?? about.trace.preset?.name,
            },
    });
    const meaning = h('p', { class: 'meaning' });
    const panel = h('div', { class: 'panel', popover: 'auto', id: 'view-panel' });
    const button = h(
        'button',
        { type: 'button', class: 'button', 'aria-expanded': 'false', onclick: () => panel.togglePopover() },
        'View',
    );
    panel.addEventListener('toggle', (event) => {
        const open = /** @type {ToggleEvent} */ (event).newState === 'open';
        button.setAttribute('aria-expanded', String(open));
        if (open) placeBelow(panel, button);
    });
    const view = h('div', { class: 'field' }, h('span', {}, 'How'), button, panel);
    const element = h(
        'form',
        { class: 'control-bar', 'aria-label': 'What to show', onsubmit: (event) => event.preventDefault() },
        controls,
        without.length < 3 && view,
        filter.element,
    );

    /**
     * @param {{trace: Object, presets: {name: string}[], place: Object, granularity: number, span: number}} view
     */
    function update(view) {
        const { trace, presets, place, granularity, span } = (about = view);
        const semantics = SEMANTICS.find(({ key }) => key === place.semantics) ?? SEMANTICS[0];
        const has = (control) => !without.includes(control);
        processes.update(place);
        refill(
            controls,
            field(
                'Preset',
                h(
                    'select',
                    {
                        id: 'preset',
                        onchange: (event) => go({ preset: event.target.value, layers: null, layer: null }),
                    },
                    presets.map(({ name }) =>
                        h(
                            'option',
                            {
                                value: name === trace.preset?.name ? '' : name,
                                selected: name === (place.preset ?? trace.preset?.name),
                            },
                            name,
                        ),
                    ),
                ),
            ),
            h('div', { class: 'field' }, h('label', { for: 'processes' }, 'Processes'), processes.element),
            h('div', { class: 'field' }, h('span', {}, 'Time range'), rangeControl(place, trace.job_time)),
        );
        refill(
            panel,
            has('granularity') && field('Granularity', granularitySelect(place, granularity, span)),
            has('filters') && filtersField(place),
            has('semantics') &&
                h(
                    'div',
                    { class: 'field' },
                    h('span', {}, 'Counting'),
                    segmented(
                        'Counting',
                        SEMANTICS.map(({ key, label, words }) => [key, label, words]),
                        semantics.key,
                        (key) => go({ semantics: key === 'exact' ? null : key, by: null, sort: null, columns: null }),
                    ),
                ),
            has('semantics') && meaning,
        );
        button.textContent = viewWords(place, granularity, has);
        meaning.textContent = has('semantics') ? semantics.words : '';
        filter.update(place.filter ?? '');
        exampleOf(trace).then((words) => {
            filter.setPlaceholder(words);
        });
    }
    return { element, update, mark: filter.mark, clear: filter.clear, close: filter.close };
}

/** What differs from the usual, so that nobody need open the menu to see it. */
function viewWords(place, granularity, has) {
    const chosen = [
        has('granularity') && place.granularity && text(granularity, 's'),
        has('filters') && place.filters === 'off' && 'filters off',
        has('semantics') && isCompatible(place) && 'as DFAnalyzer',
    ].filter(Boolean);
    return ['View', ...chosen].join(' \u00b7 ');
}

/** A control with its name above. */
export function field(label, control) {
    return h('div', { class: 'field' }, h('label', { for: control.id }, label), control);
}

/** Whether the preset's filters hold: the key `filters` of the address. */
export function filtersField(place) {
    const control = h(
        'select',
        {
            id: 'filters',
            title: "The preset's filters leave out files and functions that say nothing about the job",
            onchange: (event) => go({ filters: event.target.value }),
        },
        h('option', { value: '', selected: place.filters !== 'off' }, 'on'),
        h('option', { value: 'off', selected: place.filters === 'off' }, 'off'),
    );
    return field('Preset filters', control);
}

function granularitySelect(place, granularity, span) {
    const usual = usualGranularity(place, span);
    const chosen = place.granularity ? granularity : null;
    const steps = [
        ...new Set([...STEPS.map((factor) => Number((usual * factor).toPrecision(3))), ...(chosen ? [chosen] : [])]),
    ].sort((a, b) => a - b);
    return h(
        'select',
        {
            id: 'granularity',
            title: 'Width of a time bin',
            onchange: (event) => go({ granularity: event.target.value }),
        },
        h('option', { value: '', selected: chosen === null }, `auto (${text(usual, 's')})`),
        steps
            .filter((step) => step >= 1e-6)
            .map((step) => h('option', { value: step, selected: step === chosen }, text(step, 's'))),
    );
}

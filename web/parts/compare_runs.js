/* compare_runs.js - which runs are compared, and which of them is the baseline. */

import { h, icon, setStyle } from '../dom.js';
import { moment, text } from '../format.js';
import { go, link } from '../state.js';

const COLORS = [
    'var(--layer-6)',
    'var(--layer-2)',
    'var(--layer-1)',
    'var(--layer-3)',
    'var(--layer-7)',
    'var(--layer-4)',
    'var(--layer-5)',
    'var(--layer-11)',
];

/**
 * A trace that is compared.
 * @typedef {Object} Run
 * @property {Object} trace
 * @property {string} id
 * @property {string} name  unlike that of any other run
 * @property {string} color
 * @property {boolean} baseline
 */

/**
 * The runs that a place names, the baseline first.
 * @param {Object} place
 * @param {Object[]} traces
 * @returns {Run[]}
 */
export function runsOf(place, traces) {
    const ids = [...new Set((place.traces ?? '').split(','))].filter((id) =>
        traces.some((trace) => trace.id === id && isReady(trace)),
    );
    const baseline = ids.includes(place.baseline) ? place.baseline : ids[0];
    const ordered = [baseline, ...ids.filter((id) => id !== baseline)].filter(Boolean);
    const found = ordered.map((id) => traces.find((trace) => trace.id === id));
    return found.map((trace, at) => ({
        trace,
        id: trace.id,
        color: COLORS[at % COLORS.length],
        baseline: at === 0,
        name:
            found.filter(({ name }) => name === trace.name).length > 1
                ? `${trace.name} (${trace.id.slice(0, 6)})`
                : trace.name,
    }));
}

/** How much of its name and how many of its tags a trace has in common with another. */
function likeness(trace, other) {
    const alike = [...trace.name].findIndex((sign, at) => sign !== other.name[at]);
    const stem = (alike < 0 ? trace.name.length : alike) / Math.max(trace.name.length, other.name.length);
    return stem + (trace.tags ?? []).filter((tag) => other.tags?.includes(tag)).length;
}

/** Traces that are most like one first: whoever looks for a baseline finds earlier runs of the same job on top. */
function likeFirst(traces, one) {
    return one ? [...traces].sort((a, b) => likeness(b, one) - likeness(a, one)) : traces;
}

/** Whether there is anything to compare in a trace. */
export function isReady(trace) {
    return trace.job_time !== null && trace.job_time !== undefined;
}

export function runSwatch(run) {
    const element = h('span', { class: 'swatch', 'aria-hidden': 'true' });
    setStyle(element, { '--color': run.color });
    return element;
}

/**
 * @param {Run[]} runs
 * @param {Object[]} traces
 */
export function runsBar(runs, traces) {
    const ids = runs.map(({ id }) => id),
        others = traces.filter((trace) => isReady(trace) && !ids.includes(trace.id));
    return h(
        'div',
        { class: 'runs', role: 'group', 'aria-label': 'Runs' },
        runs.map((run) => runChip(run, ids)),
        others.length > 0 &&
            h(
                'select',
                {
                    'aria-label': 'Add a run',
                    onchange: (event) => go({ traces: [...ids, event.target.value].join(',') }),
                },
                h('option', { value: '', selected: true }, runs.length === 0 ? 'Choose a run' : 'Add a run'),
                likeFirst(others, runs[0]?.trace).map((trace) =>
                    h(
                        'option',
                        { value: trace.id },
                        `${trace.name} (${text(trace.job_time, 's')}, ${moment(trace.start)})`,
                    ),
                ),
            ),
    );
}

function runChip(run, ids) {
    const { id, name, trace } = run;
    return h(
        'span',
        { class: 'run' },
        runSwatch(run),
        h(
            'a',
            {
                href: link({ page: 'overview', trace: id }, {}),
                title: `${trace.path}, started ${moment(trace.start)}`,
            },
            name,
        ),
        run.baseline
            ? h('span', { class: 'badge' }, 'baseline')
            : h(
                  'button',
                  {
                      type: 'button',
                      class: 'button small',
                      title: 'Compare the others to this run',
                      onclick: () => go({ baseline: id }),
                  },
                  'Make baseline',
              ),
        h(
            'button',
            {
                type: 'button',
                class: 'button small icon-only',
                'aria-label': `Leave out ${name}`,
                title: 'Leave out',
                onclick: () =>
                    go({ traces: ids.filter((one) => one !== id).join(','), ...(run.baseline && { baseline: null }) }),
            },
            icon('close'),
        ),
    );
}

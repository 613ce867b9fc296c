/* tasks.js - a Dask computation: which function, which task, which worker holds it back. */

import { get } from '../api.js';
import { fill, h } from '../dom.js';
import { grouped, text } from '../format.js';
import { contradiction, estimatedOffsets } from '../parts/clocks.js';
import { empty, loading } from '../parts/notice.js';
import { balanceCard, functionsCard, gpuCard, graphCard, memoryCard, workersCard } from '../parts/task_charts.js';
import { chainCard, transfersCard } from '../parts/task_tables.js';
import { tracePage } from '../parts/trace_page.js';
import { recordsOf } from '../parts/table.js';
import { go } from '../state.js';

export const title = 'Tasks';

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    return tracePage(host, place, tasksPicture, { without: ['semantics'] });
}

function tasksPicture(trace) {
    if (trace.kind !== 'dasf')
        return {
            boxes: [
                empty('No tasks here', h('p', {}, 'This page is for traces of Dask computations, recorded by DASF.')),
            ],
            update() {},
            close() {},
        };
    const top = h('div', { class: 'stack' });
    const cards = [
        functionsCard(),
        chainCard(),
        graphCard(),
        balanceCard(),
        workersCard(),
        gpuCard(),
        memoryCard(),
        transfersCard(),
    ];
    let work = null;

    function update(place, granularity) {
        const parameters = { filter: place.filter, from: place.from, to: place.to, offset: place.offset };
        work?.abort();
        work = loading(top, {
            what: 'Following the tasks',
            path: `traces/${trace.id}/dasf/critical_path`,
            height: 96,
            load: (signal) => ask(trace, parameters, granularity, signal),
            show: (answers) => fill(top, verdict(answers), clocks(answers[2], place)),
            retry: () => update(place, granularity),
        });
        for (const card of cards) card.update({ trace, place, granularity, parameters });
    }
    return {
        boxes: [top, ...cards.map((card) => card.element)],
        update,
        close() {
            work?.abort();
            for (const card of cards) card.close();
        },
    };
}

function ask(trace, parameters, granularity, signal) {
    const table = (name, more = {}) => get(`traces/${trace.id}/dasf/${name}`, { ...parameters, ...more }, signal);
    return Promise.all([
        table('critical_path', { limit: 100000 }),
        table('as_it_ran', { limit: 100000 }),
        table('clocks'),
        table('parallelism', { granularity, limit: 100000 }),
    ]);
}

/** What the longest chain says, and what the chain that ended last waited for. */
function verdict([longest, ran, , parallelism]) {
    const path = recordsOf(longest),
        chain = recordsOf(ran),
        last = chain[chain.length - 1];
    if (path.length === 0)
        return empty('No tasks here', h('p', {}, 'No Compute record in this time range passes the filter.'));
    const span = last.start + last.duration,
        total = path[path.length - 1].total,
        busy = recordsOf(parallelism).reduce((sum, bin) => sum + bin.busy, 0);
    const sum = (key) => chain.reduce((all, step) => all + step[key], 0);
    return h(
        'section',
        { class: 'card', 'aria-label': 'What held it back' },
        h(
            'header',
            { class: 'card-head' },
            h('h2', {}, 'What held it back'),
            h('small', {}, `${grouped(longest.tasks)} tasks, ${grouped(longest.compute)} runs of them`),
        ),
        h(
            'p',
            { class: 'answer' },
            'It took ',
            h('strong', {}, text(span, 's')),
            '; its longest chain of tasks takes ',
            h('strong', {}, text(total, 's')),
            ` (${text(total / span, 'share')} of that): no number of workers makes it shorter. On average `,
            h('strong', {}, text(busy / span, 'number')),
            ' workers were busy.',
        ),
        h(
            'p',
            { class: 'hint' },
            `The chain that ended last ran tasks for ${text(sum('duration'), 's')} and waited for ${text(sum('wait'), 's')}: ${text(sum('worker_busy'), 's')} while its worker ran others, ${text(sum('idle'), 's')} while it had nothing to run.`,
        ),
    );
}

/** Hosts whose clocks contradict the order of tasks. */
function clocks(answer, place) {
    const hosts = recordsOf(answer),
        wrong = contradiction(hosts),
        offsets = estimatedOffsets(hosts);
    if (!wrong && !place.offset) return null;
    return h(
        'p',
        { class: 'notice warn' },
        wrong ?? `Clocks are set: ${place.offset}. `,
        wrong &&
            offsets &&
            h(
                'button',
                { class: 'button small', onclick: () => go({ offset: offsets }) },
                'Use the estimated offsets',
            ),
        ' ',
        place.offset &&
            h('button', { class: 'button small', onclick: () => go({ offset: null }) }, 'Clocks as recorded'),
    );
}
